//! The launcher's standard input is read by the rank for which it is meant, with any permutation of
//! ranks.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::time::Duration;

use treepie_tests::hosts::Hosts;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const RANKS: usize = 4;

/// Words that run a command with two numbers on its standard input.
const FILE: [&str; 3] = [
    "sh",
    "-c",
    "printf '20\\n22\\n' >in; \"$0\" \"$@\" <in; status=$?; rm in; exit $status",
];
const PIPE: [&str; 3] = ["sh", "-c", "printf '20\\n22\\n' | \"$0\" \"$@\""];
/// Words that provide them when ranks have waited for some time.
const LATE: [&str; 3] = ["sh", "-c", "(sleep 2; printf '20\\n22\\n') | \"$0\" \"$@\""];
const HERE: [&str; 3] = ["sh", "-c", "\"$0\" \"$@\" <<END\n20\n22\nEND"];

fn permuted() -> Library {
    Library::Permuted(vec![3, 2, 1, 0])
}

/// Each rank's process, if all got both numbers.
fn processes(outcome: &Outcome) -> Vec<usize> {
    let line = |(rank, line): (usize, &str)| {
        let process = line.strip_prefix(&format!("rank {rank} is process "))?;
        process.strip_suffix(": 20 22")?.parse().ok()
    };
    let found: Option<Vec<usize>> = outcome.stdout.lines().enumerate().map(line).collect();
    found.unwrap_or_else(|| panic!("{}", outcome.told()))
}

fn c_reads_before_and_after_the_start_of_mpi(mpi: Mpi) {
    for how in ["read", "scanf", "before", "halves"] {
        let ways: &[[&str; 3]] = match how {
            "scanf" => &[PIPE, LATE, HERE],
            _ => &[FILE],
        };
        for way in ways {
            let job = Job::new(mpi, RANKS, "reads_input").argument(how);
            let outcome = job.with(permuted()).under(way).run().succeeded();
            // Of the others, those that did not have to move are where the placement puts them.
            assert_eq!(processes(&outcome), [0, 2, 1, 3], "{how} {way:?}");
        }
    }
}

fn fortran_and_python_read(mpi: Mpi) {
    let jobs = [
        Job::new(mpi, RANKS, "reads_input.f90"),
        Job::python(mpi, RANKS, "reads_input"),
    ];
    for job in jobs {
        for way in [FILE, LATE] {
            let outcome = job.clone().with(permuted()).under(way).run().succeeded();
            assert_eq!(outcome.stdout, "sum 168\n", "{}", outcome.told());
        }
    }
}

fn without_input_ranks_are_where_they_were_asked_to_be(mpi: Mpi) {
    let job = Job::new(mpi, RANKS, "reads_input").argument("before");
    let where_they_are = |under: &[&str], stdin: &str| {
        let job = job.clone().under(under).variable("TREEPIE_STDIN", stdin);
        let outcome = job.with(permuted()).run().succeeded().silent();
        let process = |line: &str| {
            let mut words = line.split(' ');
            words.nth(4)?.trim_end_matches(':').parse().ok()
        };
        let found: Option<Vec<usize>> = outcome.stdout.lines().map(process).collect();
        found.unwrap_or_else(|| panic!("{}", outcome.told()))
    };
    let empty = ["sh", "-c", ": >empty; \"$0\" \"$@\" <empty; rm empty"];
    let terminal = [
        "sh",
        "-c",
        "echo \"$0 $*\" >line; script -qec 'sh line' /dev/null </dev/null; rm line",
    ];
    for under in [&[][..], &empty, &terminal] {
        assert_eq!(where_they_are(under, "auto"), [3, 2, 1, 0], "{under:?}");
    }
    assert_eq!(where_they_are(&FILE, "ignore"), [3, 2, 1, 0]);
}

/// Whole hosts are swapped: ranks 0 and 1 belong on the other host than process 0.
fn between_hosts_the_others_keep_their_neighbours(mpi: Mpi) {
    let hosts = Hosts {
        name: "in",
        count: 2,
        ranks_each: 2,
    };
    for (input, how) in [("in", "scanf"), ("in", "before"), ("/dev/null", "before")] {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let desk = folder.path();
        fs::write(desk.join("in"), "20\n22\n").expect("a file");
        let from = format!("exec \"$0\" \"$@\" <{}", desk.join(input).display());
        let mut words: Vec<OsString> = ["sh", "-c", &from].map(Into::into).to_vec();
        words.push(artifacts::command().into());
        words.extend(["replay", "--permutation", "3,2,1,0", "--"].map(Into::into));
        words.extend(hosts.launcher(mpi, RANKS));
        words.push(artifacts::job(mpi, "reads_input").into());
        words.push(how.into());
        let outcome = hosts.run(desk, words).succeeded();
        match input {
            "in" => assert_eq!(processes(&outcome), [0, 1, 3, 2], "{how}"),
            _ => {
                let moved = outcome.stdout.starts_with("rank 0 is process 3: ");
                assert!(moved, "{}", outcome.told());
            }
        }
    }
}

fn the_commands_pass_input_on_and_each_run_of_prove_gets_it(mpi: Mpi) {
    let treepie = artifacts::command();
    let treepie = treepie.to_string_lossy();
    let job = Job::new(mpi, RANKS, "reads_input").argument("scanf");
    let store = tempfile::tempdir().expect("a temporary directory");
    let store = store.path().to_string_lossy();
    for (words, expected) in [
        (
            &["replay", "--permutation", "3,2,1,0", "--"][..],
            [0, 2, 1, 3],
        ),
        (&["run", "--store", &store, "--"], [0, 1, 2, 3]),
    ] {
        let command = FILE
            .iter()
            .copied()
            .chain([&*treepie])
            .chain(words.iter().copied());
        let outcome = job.clone().under(command).run().succeeded();
        assert_eq!(processes(&outcome), expected, "{words:?}");
    }
    // It fails without input.
    let job = Job::new(mpi, RANKS, "reads_input.f90");
    for way in [FILE, LATE] {
        let prove = ["prove", "--permutation", "3,2,1,0", "--runs", "2", "--"];
        let command = way.into_iter().chain([&*treepie]).chain(prove);
        let outcome = job.clone().under(command).run().succeeded();
        assert!(!outcome.stdout.contains("failed"), "{}", outcome.told());
    }
}

/// A rank in a read is reported, and reads the later input: it was not a hang.
fn a_rank_that_waits_for_input_is_told_and_not_ended(mpi: Mpi) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let script = format!(
        "(for try in $(seq 300); do grep -q descriptor told && break; sleep 0.1; done; \
         printf '20\\n22\\n') | {} profile --hang 1:kill -o p.yaml -- \"$0\" \"$@\" 2>told; \
         status=$?; cat told; exit $status",
        artifacts::command().display()
    );
    let job = Job::new(mpi, 2, "reads_input").argument("read");
    let job = job.directory(folder.path()).under(["sh", "-c", &script]);
    let outcome = job.run().succeeded();
    let told =
        "rank 1 waits for rank 0 (waiting for standard input (read on descriptor 0) outside MPI";
    assert!(outcome.stdout.contains(told), "{}", outcome.told());
    assert!(
        outcome.stdout.contains("rank 1 is process 1: 20 22"),
        "{}",
        outcome.told()
    );
}

under_each_mpi!(
    c_reads_before_and_after_the_start_of_mpi,
    fortran_and_python_read,
    without_input_ranks_are_where_they_were_asked_to_be,
    between_hosts_the_others_keep_their_neighbours,
    the_commands_pass_input_on_and_each_run_of_prove_gets_it,
    a_rank_that_waits_for_input_is_told_and_not_ended,
);

/// Open MPI passes its input to another process if requested: that one keeps its rank.
#[test]
fn input_for_another_process_stays_with_that() {
    let mpi = Mpi::OpenMpi;
    for (choice, expected) in [("1", [3, 1, 2, 0]), ("none", [3, 2, 1, 0])] {
        let mut launch = mpi.launch(RANKS, &permuted().variables());
        launch.extend(["--stdin", choice].map(OsString::from));
        launch.push(artifacts::job(mpi, "reads_input").into());
        launch.push(if choice == "none" { "before" } else { "1" }.into());
        let mut command = Command::new(FILE[0]);
        command.args(&FILE[1..]).args(launch);
        let outcome = run_watched(command, Duration::from_secs(60), choice).succeeded();
        for (rank, process) in expected.into_iter().enumerate() {
            let line = format!("rank {rank} is process {process}: ");
            assert!(outcome.stdout.contains(&line), "{}", outcome.told());
        }
    }
}
