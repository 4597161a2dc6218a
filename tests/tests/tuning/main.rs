//! The MPI's own algorithms: the files of `treepie tune` are read by the MPI, which then uses the
//! given algorithms, with the library (`TREEPIE_TUNING`) and without it.

mod measured;
mod selection;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use treepie_collective::Operation;
use treepie_native::knobs::{Knob, Library as Version};
#[cfg(feature = "all-mpis")]
use treepie_tests::hosts::Hosts;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, run_watched, under_each_mpi};

use measured::*;
use selection::*;

const LIMIT: Duration = Duration::from_secs(120);

/// Rows of a tuning for four ranks: operation, least number of bytes, algorithm.
type Rows<'a> = &'a [(&'a str, u64, &'a str)];

const OPEN_MPI: Rows = &[
    ("bcast", 8, "chain"),
    ("bcast", 1024, "knomial"),
    ("scan", 8, "recursive_doubling"),
    ("allgather", 4096, "ring"),
    ("scatter", 8, "basic_linear"),
];

const MPICH: Rows = &[
    ("bcast", 8, "binomial"),
    ("allgather", 8, "ring"),
    ("scan", 8, "recursive_doubling"),
];

/// The algorithms of `tuned.c` on four ranks with those rows, as printed by `native_algorithms.c`.
const CHOSEN: [&str; 5] = [
    "algorithm bcast_intra_chain 1",
    "algorithm bcast_intra_knomial 1",
    "algorithm scan_intra_recursivedoubling 1",
    "algorithm allgather_intra_ring 1",
    "algorithm scatter_intra_basic_linear 1",
];

/// The number of the third of [`MPICH`]'s rows.
fn ring(mpi: Mpi) -> i32 {
    if mpi == Mpi::Mpich { 4 } else { 5 }
}

/// Variables of MPICH that `tuned.c` prints.
const CONTROLS: [&str; 4] = [
    "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
    "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE",
    "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM",
    "MPIR_CVAR_SCAN_INTRA_ALGORITHM",
];

/// Version of its series: tables and measurements apply to all versions of it.
fn version_of(mpi: Mpi) -> &'static str {
    match mpi {
        Mpi::OpenMpi => "open-mpi 4.1.4",
        Mpi::OpenMpi5 => "open-mpi 5.0.0",
        Mpi::OpenMpi6 | Mpi::OpenMpi6Abi => "open-mpi 6.0.0",
        Mpi::Mpich => "mpich 4.0.2",
        _ => "mpich 5.0.0",
    }
}

fn rows_of(mpi: Mpi) -> Rows<'static> {
    if mpi.is_open_mpi() { OPEN_MPI } else { MPICH }
}

fn text(version: &str, rows: Rows) -> String {
    let mut text =
        format!("treepie: tuning\nversion: 1\nmpi: {version}\nranks: 4\nhosts: 1\nrows:\n");
    for (operation, bytes, algorithm) in rows {
        text += &format!(
            "- operation: {operation}\n  ranks: 4\n  from_bytes: {bytes}\n  algorithm: \
             {algorithm}\n  us: 1\n  native_us: 2\n"
        );
    }
    text
}

fn written(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("a.tuning.yaml");
    std::fs::write(&path, text).expect("a file can be written");
    path
}

/// Four ranks of `tuned.c` that print Open MPI's algorithms.
fn job(mpi: Mpi, ranks: usize) -> Job {
    let job = Job::new(mpi, ranks, "tuned");
    match mpi.is_open_mpi() {
        true => job,
        false => CONTROLS.iter().fold(job, |job, name| job.argument(*name)),
    }
}

fn preloads(mpi: Mpi, with_library: bool) -> String {
    let library = with_library.then(artifacts::library);
    let spy = mpi
        .is_open_mpi()
        .then(|| artifacts::job(mpi, "native_algorithms.so"));
    // The library that lets ranks share cores stays.
    let yielding = mpi.preload().filter(|_| with_library);
    let all = library.into_iter().chain(spy).chain(yielding);
    all.map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(":")
}

fn with_tuning(mpi: Mpi, ranks: usize, path: &Path) -> Job {
    job(mpi, ranks)
        .variable("LD_PRELOAD", preloads(mpi, true))
        .variable("TREEPIE_TUNING", path.display())
}

/// The algorithms that ran, and other messages.
fn parts(outcome: &Outcome) -> (Vec<&str>, Vec<&str>) {
    outcome
        .stderr
        .lines()
        .partition(|line| line.starts_with("algorithm "))
}

#[track_caller]
fn assert_chosen(outcome: &Outcome) {
    assert!(outcome.stdout.ends_with("0 wrong\n"), "{}", outcome.told());
    let (ran, said) = parts(outcome);
    assert_eq!(said, Vec::<&str>::new(), "{}", outcome.told());
    for line in CHOSEN {
        assert!(ran.contains(&line), "{line}: {}", outcome.told());
    }
}

#[track_caller]
fn assert_controls(outcome: &Outcome, values: [i32; 4]) {
    let mut expected = String::new();
    for (name, value) in CONTROLS.iter().zip(values) {
        expected += &format!("{name}={value}\n");
    }
    assert_eq!(outcome.stdout, expected + "0 wrong\n", "{}", outcome.told());
}

#[track_caller]
fn convert(input: &Path, output: &Path) {
    let mut command = Command::new(artifacts::command());
    command.arg("convert").arg(input).arg("-o").arg(output);
    run_watched(command, LIMIT, "treepie convert").succeeded();
}

#[test]
fn open_mpi_reads_the_rules_and_runs_the_algorithms_that_they_name() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let tuning = written(directory.path(), &text("open-mpi 4.1.4", OPEN_MPI));
    let rules = directory.path().join("a.rules");
    convert(&tuning, &rules);
    let run = |ranks: usize, with_rules: bool| {
        let job = job(Mpi::OpenMpi, ranks).variable("LD_PRELOAD", preloads(Mpi::OpenMpi, false));
        let job = match with_rules {
            true => job
                .variable("OMPI_MCA_coll_tuned_use_dynamic_rules", 1)
                .variable(
                    "OMPI_MCA_coll_tuned_dynamic_rules_filename",
                    rules.display(),
                ),
            false => job,
        };
        job.run().succeeded()
    };
    assert_chosen(&run(4, true));
    // Unmeasured cases, communicators of three and five ranks, do not change.
    for ranks in [3, 5] {
        assert_eq!(parts(&run(ranks, true)).0, parts(&run(ranks, false)).0);
    }
    assert_ne!(parts(&run(4, true)).0, parts(&run(4, false)).0);
}

#[test]
fn mpich_reads_the_variables_and_sets_the_algorithms_that_they_name() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let tuning = written(directory.path(), &text("mpich 4.0.2", MPICH));
    let variables = directory.path().join("a.env");
    convert(&tuning, &variables);
    let lines = std::fs::read_to_string(variables).expect("the variables");
    let pairs = lines.lines().filter_map(|line| line.split_once('='));
    // A forced algorithm that is not available is an error.
    let job = job(Mpi::Mpich, 4).variable("MPIR_CVAR_COLLECTIVE_FALLBACK", "error");
    let with = |job: Job| {
        let pairs = pairs.clone();
        pairs.fold(job, |job, (name, value)| job.variable(name, value))
    };
    assert_controls(&with(job).run().succeeded().silent(), [1, 0, 4, 3]);
    // This algorithm is the one that runs.
    let calls = Job::new(Mpi::Mpich, 4, "collective_calls").argument("allgather:100");
    assert!(is_ring(with(calls.clone()), 4) && !is_ring(calls, 4));
}

/// A tuning's MPICH names are numbers in the tool interface: those of the table.
#[track_caller]
fn assert_numbers(mpi: Mpi) {
    let library: Version = version_of(mpi).parse().expect("a known version");
    let all: Vec<Vec<Knob>> = Operation::all().map(|one| library.knobs(one)).collect();
    for place in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
        let (mut job, mut expected) = (Job::new(mpi, 1, "tuned"), String::new());
        for knob in all.iter().filter_map(|knobs| knobs.get(place)) {
            let (name, word) = library.settings(knob).pop().expect("its own variable");
            job = job.variable(&name, word).argument(&name);
            expected += &format!("{name}={}\n", knob.number);
        }
        let outcome = job.run().succeeded();
        assert_eq!(outcome.stdout, expected + "0 wrong\n", "{}", outcome.told());
    }
}

#[test]
fn numbers_of_the_table_are_those_of_mpich() {
    assert_numbers(Mpi::Mpich);
}

fn the_library_tells_the_mpi_before_it_starts(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = written(directory.path(), &text(version_of(mpi), rows_of(mpi)));
    let outcome = with_tuning(mpi, 4, &path).run().succeeded();
    match mpi.is_open_mpi() {
        true => assert_chosen(&outcome),
        // It has files instead, which no variable shows.
        false => {
            assert_controls(&outcome.silent(), [0, 1, 0, 0]);
            the_library_gives_files_to_its_process(mpi);
        }
    }
}

fn what_the_user_has_set_wins_and_is_said_once(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (name, value) = match mpi.is_open_mpi() {
        true => ("OMPI_MCA_coll_tuned_bcast_algorithm", "6"),
        false => ("MPIR_CVAR_BCAST_INTRA_ALGORITHM", "nb"),
    };
    let path = written(directory.path(), &text(version_of(mpi), rows_of(mpi)));
    let outcome = with_tuning(mpi, 4, &path)
        .variable(name, value)
        .run()
        .succeeded();
    let (ran, said) = parts(&outcome);
    let expected = format!("treepie: tuning: {name} is set, and wins over what was measured");
    assert_eq!(said, [expected], "{}", outcome.told());
    if !mpi.is_open_mpi() {
        return assert_controls(&outcome, [2, 1, 0, 0]);
    }
    for line in ["algorithm bcast_intra_binomial 2", CHOSEN[2]] {
        assert!(ran.contains(&line), "{line}: {}", outcome.told());
    }
}

/// Named one by one, without measurements.
fn algorithms_that_are_named_run_and_what_the_mpi_has_not_is_said(mpi: Mpi) {
    let (bcast, own, value) = match mpi.is_open_mpi() {
        true => ("chain", "OMPI_MCA_coll_tuned_scan_algorithm", "1"),
        false => ("binomial", "MPIR_CVAR_SCAN_INTRA_ALGORITHM", "nb"),
    };
    let named = format!(
        "bcast=native:{bcast},allgather=native:ring,alltoall=native:rhombus,scan=native:linear"
    );
    let named = job(mpi, 4)
        .variable("LD_PRELOAD", preloads(mpi, true))
        .variable("TREEPIE_COLLECTIVES", named)
        .variable(own, value);
    // Other settings of a tuning are not decisions of the user.
    let directory = tempfile::tempdir().expect("a temporary directory");
    let rows = [("gather", 8, "binomial"), ("bcast", 8, "nb")];
    let rows = &rows[..if mpi.is_open_mpi() { 1 } else { 2 }];
    let path = written(directory.path(), &text(version_of(mpi), rows));
    let tuned = named.clone().variable("TREEPIE_TUNING", path.display());
    for outcome in [named.run(), tuned.run()] {
        assert_named_ones_ran(mpi, own, &outcome.succeeded());
    }
}

#[track_caller]
fn assert_named_ones_ran(mpi: Mpi, own: &str, outcome: &Outcome) {
    let (ran, said) = parts(outcome);
    let starts = [
        "treepie: collectives: ".to_owned(),
        format!("treepie: collectives: {own} is set, and wins over scan=native:linear"),
    ];
    assert_eq!(said.len(), 2, "{}", outcome.told());
    assert!(said[0].starts_with(&starts[0]), "{}", outcome.told());
    assert!(said[0].contains("has no algorithm `rhombus` for alltoall; write default or one of"));
    assert!(
        said[0].ends_with("; its default stays"),
        "{}",
        outcome.told()
    );
    assert_eq!(said[1], starts[1]);
    if !mpi.is_open_mpi() {
        return assert_controls(outcome, [1, 0, ring(mpi), 1]);
    }
    for start in [
        "algorithm bcast_intra_chain 2",
        "algorithm allgather_intra_ring ",
    ] {
        let runs = ran.iter().any(|line| line.starts_with(start));
        assert!(runs, "{start}: {}", outcome.told());
    }
}

fn a_tuning_that_cannot_be_used_leaves_the_defaults_and_one_line(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let good = text(version_of(mpi), &[("bcast", 8, "nb")]);
    let other = match mpi {
        Mpi::OpenMpi => "mpich 4.0.2",
        _ => "open-mpi 4.1.4",
    };
    for (problem, text) in [
        ("it was measured with", text(other, &[])),
        ("no algorithm `rhombus`", good.replace("nb", "rhombus")),
        (
            "written by a newer treepie",
            good.replace("version: 1", "version: 9"),
        ),
        (
            "not valid YAML",
            good[..good.len() / 2].replace("rows:", "rows: ["),
        ),
    ] {
        let path = written(directory.path(), &text);
        let outcome = with_tuning(mpi, 2, &path).run().succeeded();
        let (_, said) = parts(&outcome);
        assert_eq!(said.len(), 1, "{}", outcome.told());
        assert!(said[0].contains(problem), "{problem}: {}", outcome.told());
        assert!(
            said[0].ends_with("; the MPI's defaults stay"),
            "{}",
            outcome.told()
        );
        assert!(outcome.stdout.ends_with("0 wrong\n"), "{}", outcome.told());
    }
}

/// They would wait for each other for ever in a collective.
fn ranks_with_other_tunings_end_the_job_before_it_starts(mpi: Mpi) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = written(directory.path(), &text(version_of(mpi), rows_of(mpi)));
    let program = artifacts::job(mpi, "tuned");
    let script = format!(
        "[ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 2 ] && export TREEPIE_TUNING={}/none\n\
         exec {}",
        directory.path().display(),
        program.display()
    );
    let outcome = Job::of(mpi, 4, "/bin/sh")
        .argument("-c")
        .argument(script)
        .with(Library::Set(vec![(
            "TREEPIE_TUNING",
            path.display().to_string(),
        )]))
        .run();
    assert!(!outcome.stdout.contains("wrong"), "{}", outcome.told());
    let message = "tuning: rank 2 has another tuning than rank 0";
    assert!(outcome.stderr.contains(message), "{}", outcome.told());
}

/// The table's data on the order of operands is right: an algorithm offered for all operations
/// gives right results for those that are not commutative.
#[test]
fn algorithms_that_keep_the_order_of_operands_do_so_in_open_mpi() {
    let library: Version = "open-mpi 4.1.4".parse().expect("a known version");
    let keeping = |operation| -> Vec<Knob> {
        let knobs = library.knobs(operation).into_iter();
        knobs.filter(|knob| !knob.reorders()).collect()
    };
    let operations: Vec<Operation> = Operation::all().filter(|one| one.reduces()).collect();
    let most = operations.iter().map(|one| keeping(*one).len()).max();
    for round in 0..most.expect("there are reductions") {
        let mut job = Job::new(Mpi::OpenMpi, 3 + round % 2, "native_order");
        for operation in &operations {
            let knobs = keeping(*operation);
            for (name, value) in library.settings(&knobs[round % knobs.len()]) {
                job = job.variable(&name, value);
            }
        }
        let outcome = job.run().succeeded();
        assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
    }
}

/// HAN does collectives over several hosts since Open MPI 5, except those that its rules leave to
/// `tuned`: here the short broadcast.
#[test]
#[cfg(feature = "all-mpis")]
fn over_several_hosts_open_mpi_runs_what_is_named_and_han_does_the_rest() {
    over_several_hosts(Mpi::OpenMpi5);
    over_several_hosts(Mpi::OpenMpi6);
}

#[cfg(feature = "all-mpis")]
#[track_caller]
fn over_several_hosts(mpi: Mpi) {
    const HOSTS: Hosts = Hosts {
        name: "h",
        count: 2,
        ranks_each: 2,
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let rows = &[("bcast", 8, "chain"), ("bcast", 1024, "default")];
    let text = text(version_of(mpi), rows).replace("hosts: 1", "hosts: 2");
    let tuning = written(directory.path(), &text);
    let job = artifacts::job(mpi, "tuned");
    let run = |tuning: &str| {
        let mut words = HOSTS.launcher(mpi, 4);
        let preload = format!("LD_PRELOAD={}:$LD_PRELOAD", preloads(mpi, true));
        let script = format!("{preload} {tuning} exec {}", job.display());
        words.extend(["sh".into(), "-c".into(), script.into()]);
        let outcome = HOSTS.run(directory.path(), words).succeeded();
        assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
        let lines = outcome.stderr.lines().map(str::to_owned);
        lines
            .filter(|line| line.starts_with("algorithm "))
            .collect::<Vec<_>>()
    };
    let by_han = run("");
    assert!(
        !by_han.iter().any(|line| line.contains("bcast_intra_chain")),
        "{by_han:?}"
    );
    let told = run(&format!("TREEPIE_TUNING={}", tuning.display()));
    assert!(
        told.contains(&"algorithm bcast_intra_chain 1".to_owned()),
        "{told:?}"
    );
    // The long one is done by levels as before, and one fewer short one.
    let rest = |lines: &[String]| -> Vec<String> {
        let others = lines.iter().filter(|line| !line.contains("bcast"));
        others.cloned().collect()
    };
    assert_eq!(rest(&told), rest(&by_han));
}

#[test]
#[cfg(feature = "all-mpis")]
fn newer_mpis_are_told_and_measured_too() {
    let all = [
        Mpi::OpenMpi5,
        Mpi::OpenMpi6,
        Mpi::OpenMpi6Abi,
        Mpi::Mpich5,
        Mpi::StandardAbi,
    ];
    for mpi in all {
        the_library_tells_the_mpi_before_it_starts(mpi);
        what_the_user_has_set_wins_and_is_said_once(mpi);
        algorithms_that_are_named_run_and_what_the_mpi_has_not_is_said(mpi);
        // Programs in Rust are built for MPIs with their own interfaces.
        if !matches!(mpi, Mpi::StandardAbi | Mpi::OpenMpi6Abi) {
            tune_measures_each_algorithm_and_writes_what_the_mpi_reads(mpi);
        }
        if !mpi.is_open_mpi() {
            assert_numbers(mpi);
            files_with_each_algorithm_are_read_and_give_right_results(mpi);
        }
    }
}

under_each_mpi!(
    what_a_profile_has_is_measured,
    the_library_tells_the_mpi_before_it_starts,
    what_the_user_has_set_wins_and_is_said_once,
    algorithms_that_are_named_run_and_what_the_mpi_has_not_is_said,
    a_tuning_that_cannot_be_used_leaves_the_defaults_and_one_line,
    ranks_with_other_tunings_end_the_job_before_it_starts,
    tune_measures_each_algorithm_and_writes_what_the_mpi_reads,
);
