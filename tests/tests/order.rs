//! The order of receives: recorded, and replayed by other runs of the same program, with any
//! delays, placements and MPIs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use treepie_tests::hosts::{WITH_OWN_MOUNTS, WITH_OWN_PROCESSES};
use treepie_tests::{Job, Mpi, Outcome, artifacts, under_each_mpi};

const RANKS: usize = 4;

/// A directory for the orders of a test.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}")))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Runs a job under `treepie WORDS --`.
    fn job(&self, job: Job, words: &str) -> Outcome {
        let command = artifacts::command().display().to_string();
        let mut words: Vec<&str> = words.split_whitespace().collect();
        words.insert(0, &command);
        let profile = self.text("p.yaml");
        if words[1] == "profile" {
            words.extend(["-o", &profile]);
        }
        words.push("--");
        job.under(words)
            .directory(self.0.path())
            .limit(Duration::from_secs(60))
            .run()
    }

    /// Records a run into an order with this name.
    fn record(&self, job: Job, name: &str, words: &str) -> Outcome {
        self.job(job, &format!("profile --order {} {words}", self.text(name)))
    }

    /// Runs a job with the order with this name.
    fn replay(&self, job: Job, name: &str, words: &str) -> Outcome {
        self.job(job, &format!("replay --order {} {words}", self.text(name)))
    }

    /// The output of the command for these files.
    fn ask(&self, words: &[&str]) -> Outcome {
        let mut command = std::process::Command::new(artifacts::command());
        command.args(words).current_dir(self.0.path());
        treepie_tests::run_watched(command, Duration::from_secs(30), &words.join(" "))
    }
}

/// The job ended with `status`. MPICH's launcher returns 9 if several ranks end simultaneously.
#[track_caller]
fn assert_ended_with(mpi: Mpi, outcome: &Outcome, status: i32) {
    let code = outcome.status.code();
    assert!(
        code == Some(status) || mpi == Mpi::Mpich && code == Some(9),
        "{}",
        outcome.told()
    );
}

fn racy(mpi: Mpi, rounds: u32, way: &str) -> Job {
    let job = Job::new(mpi, RANKS, "racy");
    job.argument(rounds.to_string()).argument(way)
}

fn replays_print_what_was_recorded_under_delays_and_in_other_placements_and_free_runs_do_not(
    mpi: Mpi,
) {
    let desk = Desk::new();
    let recorded = desk
        .record(racy(mpi, 6, "all"), "a.order", "-q --delays --seed 1")
        .succeeded();
    assert_eq!(
        recorded.stdout.lines().count(),
        RANKS,
        "{}",
        recorded.told()
    );
    for (seed, permutation) in [
        (2, ""),
        (3, "--permutation 2,0,3,1"),
        (4, ""),
        (5, "--permutation 3,2,1,0"),
    ] {
        let words = format!("--delays --seed {seed} {permutation}");
        let again = desk
            .replay(racy(mpi, 6, "all"), "a.order", &words)
            .succeeded()
            .silent();
        assert_eq!(
            again.stdout,
            recorded.stdout,
            "seed {seed}: {}",
            again.told()
        );
    }
    // The control: runs without an order differ, or the runs above prove nothing.
    let free = desk
        .record(racy(mpi, 6, "all"), "b.order", "-q --delays --seed 1")
        .succeeded();
    assert_ne!(free.stdout, recorded.stdout);
    let [first, second] = ["a.order", "b.order"].map(|name| desk.text(name));
    let compared = desk.ask(&["compare", &first, &second]).succeeded();
    assert!(
        compared.stdout.contains("The runs part on"),
        "{}",
        compared.told()
    );
    // It is random which of them comes first on a rank.
    let names = ["receive ", "outcome "];
    let is_named = names.iter().any(|name| compared.stdout.contains(name));
    assert!(is_named, "{}", compared.told());
    let same = desk.ask(&["compare", &first, &first]).succeeded();
    assert!(
        same.stdout.contains("alike on all 4 ranks"),
        "{}",
        same.told()
    );
    let shown = desk.ask(&["show", &first, "--json"]).succeeded();
    let shown: serde_json::Value =
        serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}"));
    assert!(shown["total"]["matches"].as_u64() > Some(100), "{shown}");
    assert_eq!(shown["ended_early"], serde_json::json!([]));
    assert!(!desk.path("a.order.parts").exists());
}

#[test]
fn an_order_of_two_and_of_eight_ranks_is_taken_by_either_mpi() {
    let desk = Desk::new();
    for (ranks, from, into) in [(2, Mpi::OpenMpi, Mpi::Mpich), (8, Mpi::Mpich, Mpi::OpenMpi)] {
        let racy = |mpi| Job::new(mpi, ranks, "racy").argument("2");
        let recorded = desk
            .record(racy(from), "a.order", "-q --delays --seed 1")
            .succeeded();
        assert_eq!(recorded.stdout.lines().count(), ranks);
        for (mpi, seed) in [(from, 2), (into, 3)] {
            let words = format!("--delays --seed {seed}");
            let again = desk
                .replay(racy(mpi), "a.order", &words)
                .succeeded()
                .silent();
            assert_eq!(again.stdout, recorded.stdout, "{}", again.told());
        }
    }
}

#[test]
fn an_order_of_one_mpi_is_replayed_under_the_other() {
    let desk = Desk::new();
    for (from, into) in [(Mpi::OpenMpi, Mpi::Mpich), (Mpi::Mpich, Mpi::OpenMpi)] {
        let recorded = desk
            .record(racy(from, 4, "all"), "a.order", "-q")
            .succeeded();
        let again = desk
            .replay(racy(into, 4, "all"), "a.order", "")
            .succeeded()
            .silent();
        assert_eq!(again.stdout, recorded.stdout, "{from} to {into}");
    }
}

fn a_job_that_dies_or_aborts_leaves_its_order_which_is_taken_as_far_as_it_goes(mpi: Mpi) {
    let desk = Desk::new();
    for way in ["aborts", "dies"] {
        let died = desk.record(racy(mpi, 4, way), "a.order", "-q");
        assert!(!died.status.success(), "{}", died.told());
        let told = "did not reach MPI_Finalize on 4 ranks";
        assert!(died.stderr.contains(told), "{}", died.told());
        assert!(!desk.path("a.order.parts").exists());
    }
    let free = desk.replay(racy(mpi, 4, "all"), "a.order", "").succeeded();
    assert!(
        free.stderr.contains("ended before MPI_Finalize (rank 0)"),
        "{}",
        free.told()
    );
    let stopped = desk.replay(racy(mpi, 4, "all"), "a.order", "--after-end stop");
    assert_ended_with(mpi, &stopped, 77);
    assert!(
        stopped.stderr.contains("the recorded run had ended here"),
        "{}",
        stopped.told()
    );
}

/// Runs the words after its first two, `treepie` and an order, until ranks have recorded something
/// and record nothing more; then all processes are killed together, including `treepie` and the
/// launcher.
const KILLED: &str = "treepie=$1 order=$2 before=
shift 2
\"$@\" &
while :; do
    sleep 1
    now=$(\"$treepie\" show \"$order.parts\" 2>/dev/null)
    case $now in
    '' | *' 0 receives with'*) ;;
    \"$before\") break ;;
    esac
    before=$now
done
exit 9";

fn a_job_that_is_killed_with_its_launcher_leaves_two_files_which_are_replayed(mpi: Mpi) {
    let desk = Desk::new();
    let command = artifacts::command().display().to_string();
    let order = desk.text("a.order");
    // One rank polls for a message that is never sent.
    let hangs = racy(mpi, 2, "hangs")
        .under(WITH_OWN_PROCESSES)
        .under([KILLED, "sh", &command, &order]);
    let killed = desk.record(hangs, "a.order", "-q");
    assert!(!killed.status.success(), "{}", killed.told());
    assert!(!desk.path("a.order").exists());
    let parts = desk.path("a.order.parts");
    let files = std::fs::read_dir(&parts).map(Iterator::count);
    assert_eq!(files.ok(), Some(2), "{}", killed.told());
    let shown = desk.ask(&["show", &parts.display().to_string(), "--json"]);
    let shown: serde_json::Value =
        serde_json::from_str(&shown.succeeded().stdout).unwrap_or_else(|error| panic!("{error}"));
    // The others have reached MPI_Finalize, and wait there.
    assert_eq!(shown["ended_early"], serde_json::json!([0]));
    assert!(shown["total"]["matches"].as_u64() > Some(20), "{shown}");
    let words = "--order-timeout 5 --after-end stop";
    let stopped = desk.replay(racy(mpi, 2, "hangs"), "a.order.parts", words);
    assert_ended_with(mpi, &stopped, 77);
    let told = "the recorded run had ended here";
    assert!(stopped.stderr.contains(told), "{}", stopped.told());
}

fn a_program_that_takes_another_way_is_ended_with_both_orders_and_never_hangs(mpi: Mpi) {
    let desk = Desk::new();
    desk.record(racy(mpi, 4, "all"), "a.order", "-q")
        .succeeded();
    for (rounds, way) in [(4, "other"), (3, "all"), (5, "all")] {
        let other = desk.replay(racy(mpi, rounds, way), "a.order", "--order-timeout 2");
        assert_ended_with(mpi, &other, 76);
        for words in [
            "the program has taken another way",
            "recorded: ",
            "now: ",
            "before: ",
        ] {
            assert!(other.stderr.contains(words), "{words}: {}", other.told());
        }
    }
}

fn orders_that_do_not_fit_are_refused_in_one_line(mpi: Mpi) {
    let desk = Desk::new();
    desk.record(racy(mpi, 2, "all"), "a.order", "-q")
        .succeeded();
    let refused = |outcome: Outcome, status: i32, words: &str| {
        assert_eq!(outcome.status.code(), Some(status), "{}", outcome.told());
        assert!(outcome.messages().len() == 1, "{}", outcome.told());
        assert!(
            outcome.stderr.contains(words),
            "{words}: {}",
            outcome.told()
        );
    };
    let fewer = Job::new(mpi, 2, "racy");
    refused(
        desk.replay(fewer, "a.order", ""),
        125,
        "is the order of 4 ranks, and the job has 2",
    );
    let other = || Job::new(mpi, RANKS, "ring");
    let outcome = desk.replay(other(), "a.order", "");
    refused(outcome, 0, "a run of racy, and this is ring");
    let outcome = desk.replay(other(), "a.order", "--strict");
    assert!(!outcome.status.success(), "{}", outcome.told());
    let cut = std::fs::read(desk.path("a.order")).unwrap_or_default();
    for (name, bytes, words) in [
        ("cut.order", &cut[..cut.len() - 3], "is damaged at byte"),
        (
            "text.order",
            b"treepie: profile\n".as_slice(),
            "is not a recorded order",
        ),
    ] {
        std::fs::write(desk.path(name), bytes).unwrap_or_else(|error| panic!("{error}"));
        refused(desk.replay(racy(mpi, 2, "all"), name, ""), 125, words);
    }
    refused(
        desk.replay(racy(mpi, 2, "all"), "none.order", ""),
        125,
        "there is no such file",
    );
}

fn a_second_thread_that_receives_ends_a_recording_and_is_refused_in_a_replay(mpi: Mpi) {
    let desk = Desk::new();
    let recorded = desk
        .record(racy(mpi, 2, "threads"), "a.order", "-q")
        .succeeded();
    let said = recorded
        .stderr
        .matches("more than one thread receives")
        .count();
    assert_eq!(said, 1, "{}", recorded.told());
    let again = desk.replay(racy(mpi, 2, "threads"), "a.order", "");
    assert_eq!(again.status.code(), Some(125), "{}", again.told());
    assert!(
        again
            .stderr
            .contains("more than one thread of rank 0 received"),
        "{}",
        again.told()
    );
}

/// Polls without a request: the MPI finds them in any order, and they are replayed unchanged.
fn polls_of_windows_and_partitions_are_replayed_and_windows_are_told_of(mpi: Mpi) {
    let desk = Desk::new();
    let racy = || racy(mpi, 2, "elsewhere");
    let recorded = desk
        .record(racy(), "a.order", "-q --delays --seed 1")
        .succeeded();
    let told = "the program makes windows (one-sided)";
    assert_eq!(recorded.stderr.matches(told).count(), 1);
    for seed in [2, 3] {
        let words = format!("--delays --seed {seed}");
        let again = desk.replay(racy(), "a.order", &words).succeeded();
        assert_eq!(again.stdout, recorded.stdout, "{}", again.told());
        assert_eq!(again.messages().len(), 1, "{}", again.told());
        assert!(again.stderr.contains(told), "{}", again.told());
    }
    let shown = desk.ask(&["show", &desk.text("a.order")]).succeeded();
    let line = "4 windows were made (one-sided): what ranks do to each other's memory has no order";
    assert!(shown.stdout.contains(line), "{}", shown.told());
}

/// Runs the words after its first two in a mount namespace in which the second, a directory, is a
/// disk of the first's size. The files left on it are copied.
const SMALL_DISK: &str = "mount -t tmpfs -o size=$1 tmpfs \"$2\" || exit 9
shift 2
\"$@\"
status=$?
cp -r disk left
exit $status";

/// Runs a job whose order goes to a disk of this size; the files left on it are in `left`.
fn record_on_disk(desk: &Desk, mpi: Mpi, size: &str) -> Outcome {
    let disk = desk.path("disk");
    std::fs::create_dir(&disk).unwrap_or_else(|error| panic!("{error}"));
    let racy = Job::new(mpi, RANKS, "racy").argument("400");
    let racy = racy.under(WITH_OWN_MOUNTS).under([SMALL_DISK, "sh", size]);
    let outcome = desk.record(racy.under([disk.as_os_str()]), "disk/a.order", "-q");
    assert_eq!(outcome.stdout.lines().count(), RANKS, "{}", outcome.told());
    outcome
}

/// The logs of four ranks take 264 KiB from their beginning to their end, in pages of 4 KiB.
fn a_full_disk_harms_no_job_and_takes_nothing_of_what_was_recorded(mpi: Mpi) {
    let desk = Desk::new();
    let outcome = record_on_disk(&desk, mpi, "64k").succeeded();
    let full = |line: &&&str| line.contains("No space left on device");
    let messages = outcome.messages();
    let told = messages.iter().filter(full).count();
    assert_eq!((told, messages.len()), (RANKS, RANKS), "{}", outcome.told());
    let desk = Desk::new();
    let outcome = record_on_disk(&desk, mpi, "264k");
    let told = "No space left on device; choose a file in a directory that exists";
    assert!(outcome.stderr.contains(told), "{}", outcome.told());
    let told = "the logs of the ranks are left beside it";
    assert!(outcome.stderr.contains(told), "{}", outcome.told());
    let shown = desk.ask(&["show", &desk.text("left/a.order.parts")]);
    let shown = shown.succeeded().stdout;
    assert!(shown.contains("4 ranks, 14 800 receives"), "{shown}");
    assert!(!shown.contains("ended before MPI_Finalize"), "{shown}");
    let desk = Desk::new();
    record_on_disk(&desk, mpi, "4m").succeeded().silent();
}

fn another_build_is_told_of_and_refused_when_strict_and_a_copy_is_the_same_program(mpi: Mpi) {
    let desk = Desk::new();
    desk.record(racy(mpi, 2, "all"), "a.order", "-q")
        .succeeded();
    let program = std::fs::read(artifacts::job(mpi, "racy")).unwrap_or_default();
    // The note of the linker: three words of header, the name, and the build id.
    let note = program
        .windows(8)
        .position(|eight| eight == b"\x03\0\0\0GNU\0");
    let Some(note) = note else {
        panic!("racy has no build id");
    };
    let mut rebuilt = program.clone();
    rebuilt[note + 8] ^= 1;
    let copy = |name: &str, program: &[u8]| {
        let path = desk.path(name);
        std::fs::write(&path, program)
            .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o755)))
            .unwrap_or_else(|error| panic!("{error}"));
        Job::of(mpi, RANKS, path).argument("2").argument("all")
    };
    desk.replay(copy("other_name", &program), "a.order", "")
        .succeeded()
        .silent();
    let outcome = desk
        .replay(copy("racy", &rebuilt), "a.order", "")
        .succeeded();
    let told = "is the order of another build of racy (";
    assert_eq!(outcome.messages().len(), 1, "{}", outcome.told());
    assert!(outcome.stderr.contains(told), "{}", outcome.told());
    let outcome = desk.replay(copy("racy", &rebuilt), "a.order", "--strict");
    assert!(!outcome.status.success(), "{}", outcome.told());
    let outcome = desk.replay(copy("other", &rebuilt), "a.order", "");
    assert!(outcome.stderr.contains("a run of racy, and this is other"));
    let python = Job::python(mpi, 3, "racy");
    desk.record(python, "p.order", "-q").succeeded();
    let outcome = desk.replay(Job::python(mpi, 3, "cuts").argument("1"), "p.order", "");
    let told = "a run of racy.py, and this is cuts.py";
    assert!(outcome.stderr.contains(told), "{}", outcome.told());
}

fn programs_without_wildcards_and_polls_have_an_empty_order(mpi: Mpi) {
    let desk = Desk::new();
    desk.record(Job::new(mpi, 4, "halo2d"), "a.order", "-q")
        .succeeded();
    let text = desk.text("a.order");
    let shown = desk.ask(&["show", &text]).succeeded().stdout;
    let nothing = "4 ranks, 0 receives with wildcards, 0 probes, 0 polls that found something";
    assert!(shown.contains(nothing), "{shown}");
    desk.replay(Job::new(mpi, 4, "halo2d"), "a.order", "")
        .succeeded()
        .silent();
}

fn python_and_fortran_take_the_recorded_order(mpi: Mpi) {
    let desk = Desk::new();
    for job in [Job::python(mpi, 3, "racy"), Job::new(mpi, 3, "racy.f90")] {
        let recorded = desk
            .record(job.clone(), "a.order", "-q --delays --seed 1")
            .succeeded();
        for seed in [2, 3] {
            let words = format!("--delays --seed {seed}");
            let again = desk
                .replay(job.clone(), "a.order", &words)
                .succeeded()
                .silent();
            assert_eq!(again.stdout, recorded.stdout, "{}", again.told());
        }
    }
}

under_each_mpi!(
    replays_print_what_was_recorded_under_delays_and_in_other_placements_and_free_runs_do_not,
    a_job_that_dies_or_aborts_leaves_its_order_which_is_taken_as_far_as_it_goes,
    a_job_that_is_killed_with_its_launcher_leaves_two_files_which_are_replayed,
    a_program_that_takes_another_way_is_ended_with_both_orders_and_never_hangs,
    orders_that_do_not_fit_are_refused_in_one_line,
    a_second_thread_that_receives_ends_a_recording_and_is_refused_in_a_replay,
    polls_of_windows_and_partitions_are_replayed_and_windows_are_told_of,
    a_full_disk_harms_no_job_and_takes_nothing_of_what_was_recorded,
    another_build_is_told_of_and_refused_when_strict_and_a_copy_is_the_same_program,
    programs_without_wildcards_and_polls_have_an_empty_order,
    python_and_fortran_take_the_recorded_order,
);
