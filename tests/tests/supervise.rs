//! `treepie supervise`: jobs that fail in various ways, and the decisions.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use treepie_tests::hosts::{Hosts, places};
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const RANKS: usize = 2;

/// The words of a job that ends like this.
fn ending(mpi: Mpi, how: &str) -> Vec<OsString> {
    let mut words = mpi.launch(RANKS, &[]);
    words.push(artifacts::job(mpi, "endings").into());
    words.push(how.into());
    words
}

fn as_typed(words: &[OsString]) -> String {
    let words = words.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

/// The words of `treepie supervise` with these options and this job.
fn supervise(options: &[&str], job: Vec<OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![artifacts::command().into(), "supervise".into()];
    words.extend(["--json", "-o", "record"].map(OsString::from));
    words.extend(options.iter().map(OsString::from));
    words.push("--".into());
    words.extend(job);
    words
}

fn run(words: Vec<OsString>, description: &str) -> (Outcome, Value) {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    let outcome = run_watched(command, Duration::from_secs(60), description);
    let answer = answer(&outcome);
    (outcome, answer)
}

/// The output of `--json`, after the output of the job.
#[track_caller]
fn answer(outcome: &Outcome) -> Value {
    let line = outcome
        .stdout
        .lines()
        .rev()
        .find(|line| line.starts_with('{'));
    let line = line.unwrap_or_else(|| panic!("no answer: {}", outcome.told()));
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
}

/// Ends of the attempts, by kind.
fn ends(answer: &Value) -> Vec<&str> {
    let attempts = answer["attempts"].as_array().expect("attempts");
    let kinds = attempts
        .iter()
        .map(|attempt| attempt["end"]["kind"].as_str());
    kinds.map(|kind| kind.expect("a kind")).collect()
}

/// Rank 0 ends like this, while the other waits for a message from it: the reported kind of end,
/// the signal, and the status if the launcher's own is reliable.
const ENDS: [(&str, &str, Option<u8>, Option<i32>); 7] = [
    ("kill", "killed", Some(9), None),
    ("segv", "killed", Some(11), None),
    ("term", "killed", Some(15), None),
    // MPICH's launcher kills the other rank, and sometimes returns the status of that one.
    ("quick-exit", "program", None, None),
    ("leave", "program", None, None),
    ("abort", "program", None, Some(3)),
    ("late", "finished", None, Some(3)),
];

fn each_way_in_which_a_rank_ends_while_another_waits_is_told_from_the_others(mpi: Mpi) {
    for (how, kind, signal, status) in ENDS {
        let mut job = ending(mpi, how);
        job.push("receive".into());
        let (outcome, answer) = run(supervise(&["--attempts", "1"], job), how);
        assert_eq!(ends(&answer), [kind], "{how}: {}", outcome.told());
        let end = &answer["attempts"][0]["end"];
        assert_eq!(
            end["signal"],
            serde_json::json!(signal),
            "{how}: {}",
            outcome.told()
        );
        let code = outcome.status.code();
        assert_ne!(code, Some(0), "{how}: {}", outcome.told());
        assert!(
            status.is_none() || code == status,
            "{how}: {}",
            outcome.told()
        );
    }
}

fn a_job_whose_rank_is_killed_is_run_again_by_the_restart_command(mpi: Mpi) {
    let restart = as_typed(&ending(mpi, "well"));
    let options = ["--pause", "0", "--restart", &restart];
    let (outcome, answer) = run(supervise(&options, ending(mpi, "kill")), "kill");
    assert_eq!(ends(&answer), ["killed", "finished"], "{}", outcome.told());
    assert_eq!(answer["attempts"][0]["end"]["signal"], 9);
    assert_eq!(answer["finished"], true);
    assert_eq!(outcome.status.code(), Some(0), "{}", outcome.told());
}

fn a_program_that_always_aborts_is_run_once_more_and_its_status_returned(mpi: Mpi) {
    let options = ["--pause", "0"];
    let (outcome, answer) = run(supervise(&options, ending(mpi, "abort")), "abort");
    assert_eq!(ends(&answer), ["program", "program"], "{}", outcome.told());
    assert_eq!(answer["reason"]["kind"], "at_once");
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.told());
    let said = outcome.messages();
    let last = said.last().expect("a message");
    assert!(
        last.contains("given up after 2 attempts: it failed at once"),
        "{last}"
    );
}

fn ranks_that_leave_with_status_0_before_the_end_are_no_success(mpi: Mpi) {
    let options = ["--pause", "0"];
    let (outcome, answer) = run(supervise(&options, ending(mpi, "early")), "early");
    assert_eq!(ends(&answer), ["program", "program"], "{}", outcome.told());
    assert_eq!(answer["finished"], false);
    assert_ne!(outcome.status.code(), Some(0), "{}", outcome.told());
}

fn a_bad_status_after_the_end_is_returned_and_the_job_is_not_run_again(mpi: Mpi) {
    let (outcome, answer) = run(supervise(&[], ending(mpi, "late")), "late");
    assert_eq!(ends(&answer), ["finished"], "{}", outcome.told());
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.told());
}

fn a_job_that_never_ends_and_makes_no_progress_is_ended_and_given_up(mpi: Mpi) {
    let options = ["--pause", "0", "--at-once", "0"];
    let options = [
        &options[..],
        &["--stall", "1", "--checkpoint-files", "state.*"],
    ]
    .concat();
    let (outcome, answer) = run(supervise(&options, ending(mpi, "wait")), "wait");
    assert_eq!(ends(&answer), ["stalled", "stalled"], "{}", outcome.told());
    assert_eq!(answer["reason"]["kind"], "no_progress");
}

fn a_restart_command_that_fails_at_once_or_never_ends_is_given_up(mpi: Mpi) {
    let fails = format!("{} sh -c 'exit 3'", as_typed(&mpi.launch(RANKS, &[])));
    let options = ["--pause", "0", "--restart", &fails];
    let (outcome, answer) = run(supervise(&options, ending(mpi, "segv")), "fails at once");
    assert_eq!(ends(&answer), ["killed", "program"], "{}", outcome.told());
    assert_eq!(answer["reason"]["kind"], "at_once");
    // Without checkpoints, calls show progress: ranks that sleep make none.
    let hangs = as_typed(&ending(mpi, "wait"));
    let options = [
        "--pause",
        "0",
        "--at-once",
        "0",
        "--stall",
        "4",
        "--restart",
        &hangs,
    ];
    let (outcome, answer) = run(supervise(&options, ending(mpi, "segv")), "never ends");
    let kinds = ["killed", "stalled", "stalled"];
    assert_eq!(ends(&answer), kinds, "{}", outcome.told());
    assert_eq!(answer["reason"]["kind"], "no_progress");
    let told = outcome.stderr.matches("/record/pages/").count();
    assert!(told >= 2, "{}", outcome.told());
    // A job that continues for longer than that is not ended.
    let (outcome, answer) = run(supervise(&["--stall", "4"], computing(mpi)), "goes on");
    assert_eq!(ends(&answer), ["finished"], "{}", outcome.told());
}

/// The words of a job one of whose ranks makes no call for seconds.
fn computing(mpi: Mpi) -> Vec<OsString> {
    let mut words = mpi.launch(RANKS, &[]);
    words.push(artifacts::job(mpi, "hangs").into());
    words.extend(["computes", "6"].map(OsString::from));
    words
}

/// There is no directory below a file.
#[test]
fn a_job_whose_pages_nobody_sees_is_left_alone() {
    let mut command = Command::new("env");
    command.arg("TREEPIE_PAGES=/dev/null/pages");
    command.args(supervise(&["--stall", "1"], computing(Mpi::Mpich)));
    let outcome = run_watched(command, Duration::from_secs(60), "pages that nobody sees");
    assert_eq!(ends(&answer(&outcome)), ["finished"], "{}", outcome.told());
    let said = "no page of its ranks was seen in /dev/null/pages";
    assert!(outcome.stderr.contains(said), "{}", outcome.told());
}

#[test]
fn a_job_that_cannot_be_started_leaves_no_record() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let mut words = supervise(&["--config", "none.yaml"], ending(Mpi::Mpich, "well"));
    let mut command = Command::new(words.remove(0));
    command.args(words).current_dir(directory.path());
    let outcome = run_watched(command, Duration::from_secs(60), "no configuration");
    assert_eq!(outcome.status.code(), Some(125), "{}", outcome.told());
    assert!(
        !directory.path().join("record").exists(),
        "{}",
        outcome.told()
    );
}

/// Starts the command of its arguments, sends it a signal when it has printed the words before
/// them, and ends with the status of the command.
const SENT: &str = "\
signal=$1 words=$2; shift 2
\"$@\" >said 2>&1 &
until grep -q \"$words\" said; do
    kill -0 $! 2>/dev/null || exit 99
    sleep 0.05
done
kill -s $signal $!
wait $!
status=$?
cat said
exit $status
";

fn sent(signal: &str, word: &str, words: Vec<OsString>) -> (Outcome, Value) {
    let mut all: Vec<OsString> = ["bash", "-c", SENT, "bash", signal, word]
        .map(OsString::from)
        .into();
    all.extend(words);
    run(all, signal)
}

/// Under Open MPI: Hydra 4.0 may nevertheless wait for the job.
#[test]
fn a_signal_that_asks_for_the_end_is_passed_on_and_ends_the_loop() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let waits = supervise(&[], ending(Mpi::OpenMpi, "wait"));
        let (outcome, answer) = sent(signal, "waiting", waits);
        assert_eq!(ends(&answer), ["stopped"], "{}", outcome.told());
        assert_eq!(answer["attempts"][0]["end"]["signal"], number);
        assert_eq!(answer["reason"]["kind"], "stopped");
        assert_ne!(outcome.status.code(), Some(0), "{}", outcome.told());
    }
}

fn a_scheduler_s_warning_reaches_the_ranks_and_the_job_goes_on(mpi: Mpi) {
    let waits = supervise(&[], ending(mpi, "usr1"));
    let (outcome, answer) = sent("USR1", "waiting", waits);
    assert_eq!(ends(&answer), ["finished"], "{}", outcome.told());
    let came = outcome.stdout.matches("SIGUSR1 came").count();
    assert_eq!(came, RANKS, "{}", outcome.told());
    assert_eq!(outcome.status.code(), Some(0), "{}", outcome.told());
}

fn a_signal_in_the_pause_ends_the_loop_at_once(mpi: Mpi) {
    let aborts = supervise(&["--pause", "50"], ending(mpi, "abort"));
    let (outcome, answer) = sent("TERM", "the next attempt begins in 50 s", aborts);
    assert_eq!(ends(&answer), ["program"], "{}", outcome.told());
    assert_eq!(outcome.status.code(), Some(128 + 15), "{}", outcome.told());
}

/// Four hosts of one rank each; three are left.
const HOSTS: Hosts = Hosts {
    name: "a",
    count: 4,
    ranks_each: 1,
};

/// Number of atoms of the example in a smaller box.
const ATOMS: usize = 4 * 6 * 6 * 6;

/// Runs the supervised job `$1` and switches host a2 off when the last checkpoint before its pause
/// exists.
const LOSES_A_HOST: &str = "\
cd \"$1\"; shift
\"$@\" >said 2>told &
until [ -e melt.restart.160 ]; do
    kill -0 $! 2>/dev/null || break
    sleep 0.05
done
TREEPIE_GRID_STATE=$PWD/grid $GRID off a2
wait $!
status=$?
cat said; cat told >&2
exit $status
";

/// The example of LAMMPS, which pauses at step 160 and writes its final state. Steps with a restart
/// file are those at which it builds its lists of neighbours, so that a restart has bitwise equal
/// results.
fn write_inputs(folder: &Path) {
    let melt = artifacts::repository().join("tests/jobs/melt.lammps");
    let melt = std::fs::read_to_string(melt).expect("the example");
    let end =
        "write_dump all custom ${end} id x y z vx vy vz modify sort id format float %20.15g\n";
    let small = melt.replace("block 0 10 0 10 0 10", "block 0 6 0 6 0 6");
    let first = small.replace(
        "run             250\n",
        &format!("restart 20 melt.restart.*\nrun 160\nshell sleep ${{pause}}\nrun 90\n{end}"),
    );
    let again = format!(
        "read_restart ${{last}}\nneighbor 0.3 bin\nneigh_modify every 20 delay 0 check no\n\
         fix 1 all nve\nrestart 20 melt.restart.*\nrun 250 upto\n{end}"
    );
    std::fs::write(folder.join("melt.in"), first).expect("an input");
    std::fs::write(folder.join("again.in"), again).expect("an input");
}

/// The words of LAMMPS with this input and these variables.
fn lammps(mpi: Mpi, launcher: Vec<OsString>, input: &str, variables: &[&str]) -> Vec<OsString> {
    let mut words = launcher;
    words.push(artifacts::lammps(mpi).into());
    words.extend(["-log", "none", "-in", input].map(OsString::from));
    for pair in variables.chunks(2) {
        words.push("-var".into());
        words.extend(pair.iter().map(OsString::from));
    }
    words
}

fn lammps_goes_on_without_a_host_that_died_and_ends_as_undisturbed(mpi: Mpi) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    write_inputs(folder.path());
    let file = |name: &str| folder.path().join(name);

    let launcher = mpi.launch(HOSTS.count, &[]);
    let plain = lammps(
        mpi,
        launcher,
        "melt.in",
        &["pause", "0", "end", "plain.dump"],
    );
    let mut command = Command::new(artifacts::command());
    command
        .args(["profile", "-q", "-o", "melt.profile.yaml", "--"])
        .args(plain);
    command.current_dir(folder.path());
    if let Some(yielding) = mpi.preload() {
        command.env("LD_PRELOAD", yielding);
    }
    run_watched(command, Duration::from_secs(60), "LAMMPS undisturbed").succeeded();
    for step in (20..=240).step_by(20) {
        std::fs::remove_file(file(&format!("melt.restart.{step}"))).expect("a restart file");
    }

    let on_grid = || HOSTS.launcher(mpi, HOSTS.count);
    let first = lammps(
        mpi,
        on_grid(),
        "melt.in",
        &["pause", "6", "end", "end.dump"],
    );
    let again = lammps(
        mpi,
        on_grid(),
        "again.in",
        &["last", "{last}", "end", "end.dump"],
    );
    let options = [
        "--pause",
        "0",
        "--host-timeout",
        "10",
        "--hosts",
        "a[0-3]",
        "--ranks-per-host",
        "2",
    ];
    let files = [
        "--checkpoint-files",
        "melt.restart.*",
        "--placement",
        "melt.profile.yaml",
    ];
    let again = as_typed(&again);
    let options = [&options[..], &files, &["--restart", &again]].concat();
    let mut grid = OsString::from("GRID=");
    grid.push(artifacts::grid());
    let mut words: Vec<OsString> = vec!["env".into(), grid];
    words.extend(["bash", "-c", LOSES_A_HOST, "bash"].map(OsString::from));
    words.push(folder.path().into());
    words.extend(supervise(&options, first));
    let outcome = HOSTS.run(folder.path(), words);

    let answer = answer(&outcome);
    assert_eq!(
        ends(&answer),
        ["hosts_lost", "finished"],
        "{}",
        outcome.told()
    );
    assert_eq!(outcome.status.code(), Some(0), "{}", outcome.told());
    let attempts = &answer["attempts"];
    assert_eq!(attempts[0]["left_out"], serde_json::json!(["a2"]));
    assert_eq!(attempts[1]["from"], "melt.restart.160");
    let hosts = serde_json::json!([
        {"name": "a0", "slots": 2}, {"name": "a1", "slots": 1}, {"name": "a3", "slots": 1}
    ]);
    assert_eq!(attempts[1]["hosts"], hosts);
    let state = |name: &str| std::fs::read_to_string(file(name)).expect("a final state");
    let (plain, end) = (state("plain.dump"), state("end.dump"));
    assert_eq!(plain.lines().count(), 9 + ATOMS);
    assert!(plain == end, "the final states differ: {}", outcome.told());
}

/// A remote shell that does not reach a host for which a file `down.HOST` exists.
const REMOTE: &str = "#!/bin/sh
here=$(dirname \"$0\")
for word; do case $word in -*) ;; *) break ;; esac; done
[ ! -e \"$here/down.$word\" ] || exit 255
exec \"$here/grid/agent\" \"$@\"
";

/// Runs the command after its first argument, the folder, with that remote shell.
const WITH_REMOTE: &str = "\
cd \"$1\"; shift
export OMPI_MCA_plm_rsh_agent=$PWD/remote PRTE_MCA_plm_ssh_agent=$PWD/remote HYDRA_LAUNCHER_EXEC=$PWD/remote
exec \"$@\"
";

/// Runs a supervised job of `ranks` ranks on the hosts. Its ranks are `script`, which can use the
/// jobs `$endings` and `$where`, and `$attempt`.
fn on_hosts(
    mpi: Mpi,
    folder: &Path,
    ranks: usize,
    script: &str,
    options: &[&str],
) -> (Outcome, Value) {
    let [endings, places] = ["endings", "where"].map(|job| artifacts::job(mpi, job));
    let script = format!(
        "#!/bin/sh\ncd {}\nendings={} where={}\nattempt=${{TREEPIE_OUTPUT##*/attempt-}}\n\
         attempt=${{attempt%%.*}}\n{script}\n",
        folder.display(),
        endings.display(),
        places.display()
    );
    for (name, text) in [("remote", REMOTE), ("app", &script)] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a script");
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, runs).expect("a script");
    }
    let mut job = HOSTS.launcher(mpi, ranks);
    job.push(folder.join("app").into());
    let options = [&["--pause", "0", "--host-timeout", "20"], options].concat();
    let mut words: Vec<OsString> = ["bash", "-c", WITH_REMOTE, "bash"]
        .map(OsString::from)
        .into();
    words.push(folder.into());
    words.extend(supervise(&options, job));
    let outcome = HOSTS.run(folder, words);
    let answer = answer(&outcome);
    (outcome, answer)
}

/// The names of the hosts of an attempt.
fn hosts_of(attempt: &Value) -> Vec<&str> {
    let hosts = attempt["hosts"].as_array().map_or(&[][..], Vec::as_slice);
    let names = hosts.iter().map(|host| host["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

fn a_lost_host_that_answers_again_is_taken_back(mpi: Mpi) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let folder = folder.path();
    // One host is lost in the first attempt, and comes back in the second.
    let script = "case $attempt in\n1) [ $(hostname) != a1 ] || touch down.a1 ;;\n\
                  2) rm -f down.a1 ;;\n*) exec $endings well ;;\nesac\nexec $endings kill";
    let options = ["--hosts", "a[0-2]", "--at-once", "0"];
    let (outcome, answer) = on_hosts(mpi, folder, 2, script, &options);
    // Hydra does not report the end of the second one across hosts.
    let ends = ends(&answer);
    let kinds = (ends.first(), ends.get(2), ends.len());
    let expected = (Some(&"hosts_lost"), Some(&"finished"), 3);
    assert_eq!(kinds, expected, "{}", outcome.told());
    let attempts = answer["attempts"].as_array().expect("attempts");
    let hosts: Vec<Vec<&str>> = attempts.iter().map(hosts_of).collect();
    assert_eq!(hosts[..2], [["a0", "a1"], ["a0", "a2"]]);
    assert!(hosts[2].contains(&"a1"), "{hosts:?}");
    assert_eq!(attempts[0]["left_out"], serde_json::json!(["a1"]));
    let told = "a1 answers again, and is taken back";
    assert!(outcome.stderr.contains(told), "{}", outcome.told());
    assert_eq!(outcome.status.code(), Some(0), "{}", outcome.told());
}

fn with_local_checkpoints_a_spare_host_takes_the_lost_one_s_place_and_others_stay(mpi: Mpi) {
    // The host of rank 1 vanishes, and all its processes with it.
    let script = "[ $attempt = 1 ] || exec $where\n[ $(hostname) != a1 ] || touch down.a1\n\
                  exec $endings kill";
    let options = |hosts| ["--local", "--hosts", hosts, "--at-once", "0"];
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (outcome, answer) = on_hosts(mpi, folder.path(), 3, script, &options("a[0-3]"));
    assert_eq!(
        ends(&answer),
        ["hosts_lost", "finished"],
        "{}",
        outcome.told()
    );
    let attempts = answer["attempts"].as_array().expect("attempts");
    assert_eq!(hosts_of(&attempts[1]), ["a0", "a3", "a2"]);
    let places: Vec<String> = places(&outcome).into_iter().map(|(host, _)| host).collect();
    assert_eq!(places, ["a0", "a3", "a2"], "{}", outcome.told());
    // Without a spare host the job is given up.
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (outcome, answer) = on_hosts(mpi, folder.path(), 3, script, &options("a[0-2]"));
    assert_eq!(ends(&answer), ["hosts_lost"], "{}", outcome.told());
    assert_eq!(outcome.status.code(), Some(75), "{}", outcome.told());
}

under_each_mpi!(
    each_way_in_which_a_rank_ends_while_another_waits_is_told_from_the_others,
    a_restart_command_that_fails_at_once_or_never_ends_is_given_up,
    a_scheduler_s_warning_reaches_the_ranks_and_the_job_goes_on,
    a_job_whose_rank_is_killed_is_run_again_by_the_restart_command,
    a_program_that_always_aborts_is_run_once_more_and_its_status_returned,
    ranks_that_leave_with_status_0_before_the_end_are_no_success,
    a_bad_status_after_the_end_is_returned_and_the_job_is_not_run_again,
    a_job_that_never_ends_and_makes_no_progress_is_ended_and_given_up,
    a_signal_in_the_pause_ends_the_loop_at_once,
    lammps_goes_on_without_a_host_that_died_and_ends_as_undisturbed,
    a_lost_host_that_answers_again_is_taken_back,
    with_local_checkpoints_a_spare_host_takes_the_lost_one_s_place_and_others_stay,
);
