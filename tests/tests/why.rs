//! Reports on jobs that hang, and no reports on jobs that only take long. All kinds run
//! simultaneously: each waits more than it works.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use treepie_tests::hosts::{Hosts, write_remote_shell};
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const RANKS: usize = 3;

/// The program of a kind of job, and its arguments: `python ring`, `fortran ring`, or in C.
fn program(mpi: Mpi, kind: &str) -> String {
    match kind.split_once(' ') {
        Some(("fortran", mode)) => {
            format!("{} {mode}", artifacts::job(mpi, "hangs.f90").display())
        }
        Some(("python", mode)) => {
            let source = artifacts::repository().join("tests/jobs/hangs.py");
            let python = artifacts::python(mpi);
            format!("{} {} {mode}", python.display(), source.display())
        }
        _ => format!("{} {kind}", artifacts::job(mpi, "hangs").display()),
    }
}

/// A job of this kind under `treepie WORDS --`, as a line of a shell script. Its output and its
/// status go to files with its name.
fn line(mpi: Mpi, desk: &Path, words: &str, kind: &str) -> String {
    let name = name(kind);
    let launch = mpi.launch(RANKS, &[]).into_iter();
    let launch: Vec<_> = launch
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let preload = mpi
        .preload()
        .map(|library| format!("LD_PRELOAD={}", library.display()));
    let (desk, treepie) = (desk.display(), artifacts::command());
    format!(
        "(env {} TREEPIE_PAGES={desk}/{name}-pages {} {words} -o {desk}/{name}.yaml -- {} {} \
         >{desk}/{name}.out 2>{desk}/{name}.err; echo $? >{desk}/{name}.status)",
        preload.unwrap_or_default(),
        treepie.display(),
        launch.join(" "),
        program(mpi, kind),
    )
}

/// The first word of a kind, by which its files are named.
fn name(kind: &str) -> &str {
    kind.split(' ').next().unwrap_or(kind)
}

fn desk() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"))
}

/// Runs these lines simultaneously.
#[track_caller]
fn run(lines: &[String], what: &str) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{} &\nwait", lines.join(" &\n"))]);
    run_watched(command, Duration::from_secs(100), what)
}

#[track_caller]
fn read(desk: &Path, file: &str) -> String {
    fs::read_to_string(desk.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The first line of the report on each hang, and a text somewhere below.
const HANGS: [(&str, &str, &str); 13] = [
    (
        "ring",
        "Deadlock: ranks 0-2 wait for each other.",
        "cycle: 0 -> 2 -> 1 -> 0",
    ),
    (
        "tag",
        "Deadlock: ranks 0 and 1 wait for each other; rank 2 waits for them.",
        "sent and not received: 1 message from rank 0 to rank 1 (tag 5); rank 1 waits for tag 6",
    ),
    (
        "left",
        "Deadlock: rank 2 is in MPI_Finalize, and ranks 0 and 1 wait for it.",
        "rank 2: in MPI_Finalize",
    ),
    (
        "finalize",
        "All ranks are in MPI_Finalize, which does not return.",
        "\n  started and never completed: MPI_Issend to rank 1 (tag 5, MPI_COMM_WORLD), by rank 0\n  rank",
    ),
    (
        "operations",
        "Deadlock: ranks 0-2 do not agree on collective 2 on MPI_COMM_WORLD.",
        "in MPI_Reduce with root 0",
    ),
    (
        "roots",
        "do not agree on collective 2 on MPI_COMM_WORLD.",
        "in MPI_Bcast with root 1",
    ),
    (
        "waitall",
        "Deadlock: ranks 1 and 2 wait for each other; rank 0 waits for them.",
        "rank 1: in MPI_Waitall from rank 0 (tag 3, MPI_COMM_WORLD) and from rank 2",
    ),
    (
        "large",
        "Deadlock: ranks 0 and 1 wait for each other; rank 2 waits for them.",
        "rank 0: in MPI_Send 8 388 608 elements to rank 1",
    ),
    (
        "knot",
        "Deadlock: ranks 0-2 wait for each other, each for any of the others.",
        "in MPI_Recv from any rank (tag 2, MPI_COMM_WORLD)",
    ),
    (
        "split",
        "Deadlock: ranks 0 and 2 wait for each other; rank 1 waits for them.",
        "from rank 2 (tag 2, the communicator of ranks 0 and 2)",
    ),
    (
        "polling",
        "Probably a deadlock (who polls may still do something else): ranks 0 and 1 wait",
        "rank 0: polling with MPI_Test from rank 1 (tag 4, MPI_COMM_WORLD)",
    ),
    (
        "fortran ring",
        "Deadlock: ranks 0-2 wait for each other.",
        "in MPI_Recv from rank 1 (tag 2, MPI_COMM_WORLD)",
    ),
    (
        "python ring",
        "Deadlock: ranks 0-2 wait for each other.",
        "in MPI_Mprobe from rank 1 (tag 2, MPI_COMM_WORLD)",
    ),
];

fn each_kind_of_hang_is_named_and_ended(mpi: Mpi) {
    let desk = desk();
    let desk = desk.path();
    let lines = HANGS.map(|(mode, ..)| line(mpi, desk, "profile --hang 1:kill", mode));
    run(&lines, "jobs that hang").succeeded();
    for (mode, first, below) in HANGS {
        let said = read(desk, &format!("{}.err", name(mode)));
        let found = said.contains(first) && said.contains(below);
        assert!(
            found,
            "{mode} under {mpi}: expected\n{first}\n{below}\nfound\n{said}"
        );
        let status = read(desk, &format!("{}.status", name(mode)));
        assert_ne!(status.trim(), "0", "{mode}");
    }
    assert_no_pages(desk);
}

/// Queries the only job, and then simultaneously by all names of a job. The first observations may
/// be before it has begun. The launcher is above the ranks, below the process that started it.
const ASKED_IN_ALL_WAYS: &str = r#"
why="$treepie why --pages asleep-pages"
for try in $(seq 12); do
    sleep 1
    $why >why 2>&1
    grep -q sleeping why && break
done
run=$(ls asleep-pages)
rank=$($why --look | grep -o '"process":[0-9][0-9]*' | head -n1 | cut -d: -f2)
launcher=$rank
for above in 1 2 3; do
    grep -q -E '^(mpi|orte|prte)' /proc/$launcher/comm && break
    launcher=$(awk '/^PPid:/ { print $2 }' /proc/$launcher/status)
done
$why --between 0 $launcher >by-launcher 2>&1 &
$why --between 0 $rank >by-rank 2>&1 &
$why --between 0 $run >by-run 2>&1 &
$why --between 0 ${run%????????} >by-beginning 2>&1 &
$treepie why --between 0 ./asleep-pages/$run >by-directory 2>&1 &
$why --json -o why.svg >json
wait"#;

/// The second observation is when the job has ended.
const ASKED_AS_IT_ENDS: &str = "
for try in $(seq 30); do
    sleep 0.5
    $treepie why --pages small-pages --between 12 >as-it-ends 2>&1
    grep -q 'while it was looked at' as-it-ends && break
done";

fn jobs_that_only_take_long_are_left_alone_and_told_on_request_and_killed_ones_at_the_end(
    mpi: Mpi,
) {
    let desk = desk();
    let desk = desk.path();
    let long = [
        "small 4",
        "computes 4",
        "waits 4",
        "pipeline 4",
        "asleep 15",
        "fortran waits 4",
        "python waits 4",
    ];
    let quiet = long.map(|mode| line(mpi, desk, "profile -q --hang 1", mode));
    let mut lines = quiet.to_vec();
    lines.push(line(mpi, desk, "profile --hang 60", "killed"));
    for script in [ASKED_IN_ALL_WAYS, ASKED_AS_IT_ENDS] {
        let treepie = artifacts::command();
        let said = format!(
            "(cd {}; treepie={}; {script})",
            desk.display(),
            treepie.display()
        );
        lines.push(said);
    }
    run(&lines, "jobs that take long").succeeded();
    for mode in long {
        let name = name(mode);
        let said = ["err", "out", "status"].map(|file| read(desk, &format!("{name}.{file}")));
        assert_eq!(said, ["", "ended well\n", "0\n"], "{mode} under {mpi}");
    }
    let said = read(desk, "why");
    let first =
        "No deadlock: ranks 0 and 2 wait for rank 1 (sleeping outside MPI since MPI_Barrier";
    assert!(said.starts_with(first), "under {mpi}:\n{said}");
    for way in ["launcher", "rank", "run", "beginning", "directory"] {
        let said = read(desk, &format!("by-{way}"));
        assert!(said.starts_with(first), "by {way} under {mpi}:\n{said}");
    }
    let ended = read(desk, "as-it-ends");
    let told = ended.contains("ended while it was looked at; it did not hang");
    assert!(told && !ended.contains("eadlock"), "under {mpi}:\n{ended}");
    let json = read(desk, "json");
    let json: serde_json::Value =
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(json["verdict"]["kind"], "waits");
    assert_eq!(json["verdict"]["roots"], serde_json::json!([1]));
    assert!(read(desk, "why.svg").contains("<svg"));
    let said = read(desk, "killed.err");
    let gone = said.contains("Rank 1 is gone: process") && said.contains("was killed or crashed");
    // MPICH's launcher kills all together: the rank that ended first may be unknown, the one they
    // wait for is not.
    let waited = said.contains("they don't say. No deadlock: ranks 0 and 2 wait for rank 1 (");
    assert!(gone || mpi == Mpi::Mpich && waited, "under {mpi}:\n{said}");
    assert_no_pages(desk);
}

/// Four hosts of four ranks each.
const HOSTS: Hosts = Hosts {
    name: "w",
    count: 4,
    ranks_each: 4,
};

/// Starts the job of its arguments after the first two, the command and the directory, and queries
/// from the first host until it hangs.
const ASKED: &str = "\
treepie=$1; cd \"$2\" || exit 9; shift 2
\"$@\" >said 2>told &
for try in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    ./own_memory $treepie why >alone 2>alone.err
    ./own_memory $treepie why --hosts w1,w2,w3,w9 --remote-shell ./remote --json >json 2>json.err
    grep -q '\"kind\":\"deadlock\"' json && break
done
./own_memory $treepie why --hosts w1,w2,w3,w9 --remote-shell ./remote >why 2>why.err
kill $!
wait $!
exit 0
";

fn a_hang_on_four_hosts_is_told_by_asking_them_and_by_the_launchers_watch(mpi: Mpi) {
    let desk = desk();
    let desk = desk.path();
    write_remote_shell(desk);
    let command: OsString = artifacts::command().into();
    let ring = [artifacts::job(mpi, "hangs").into(), "ring".into()];
    // Pages in the memory of each host, which are read there.
    let mut words: Vec<OsString> = ["bash", "-c", ASKED, "bash"].map(OsString::from).into();
    words.extend([command.clone(), desk.into()]);
    words.extend(["env", "TREEPIE_PAGES=true"].map(OsString::from));
    words.push(command.clone());
    words.extend(["profile", "-q", "-o", "p.yaml", "--"].map(OsString::from));
    words.extend(HOSTS.launcher(mpi, 16));
    words.push(desk.join("own_memory").into());
    words.extend(ring.clone());
    let outcome = HOSTS.run(desk, words).succeeded();
    let said = ["why", "why.err", "told"].map(|file| read(desk, file));
    let first = "Deadlock: ranks 0-15 wait for each other.";
    assert!(said[0].starts_with(first), "{said:#?}\n{}", outcome.told());
    assert!(said[0].contains("rank 15: in MPI_Recv from rank 14"));
    assert!(said[1].contains("w9: could not be asked"), "{said:#?}");
    let alone = ["alone", "alone.err"].map(|file| read(desk, file));
    assert!(!alone[0].contains("ranks 0-15 wait"), "{alone:#?}");
    // Pages shared by all hosts, read by the command that started the job.
    let pages = format!("TREEPIE_PAGES={}/pages", desk.display());
    let mut words: Vec<OsString> = vec!["env".into(), pages.into(), command];
    words.extend(["profile", "-q", "--hang", "1:kill", "-o"].map(OsString::from));
    words.extend([desk.join("q.yaml").into(), "--".into()]);
    words.extend(HOSTS.launcher(mpi, 16));
    words.extend(ring);
    let outcome = HOSTS.run(desk, words);
    assert!(!outcome.status.success(), "{}", outcome.told());
    assert!(outcome.stderr.contains(first), "{}", outcome.told());
}

/// The pages of a job are removed with it.
#[track_caller]
fn assert_no_pages(desk: &Path) {
    for entry in fs::read_dir(desk).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with("-pages") {
            let left = fs::read_dir(entry.path()).map_or(0, Iterator::count);
            assert_eq!(left, 0, "{}: pages are left", entry.path().display());
        }
    }
}

under_each_mpi!(
    each_kind_of_hang_is_named_and_ended,
    jobs_that_only_take_long_are_left_alone_and_told_on_request_and_killed_ones_at_the_end,
    a_hang_on_four_hosts_is_told_by_asking_them_and_by_the_launchers_watch,
);
