//! `treepie cut`: waves over real jobs, which stop at cuts without messages in flight, and do not
//! change the results of the jobs; and pending operations at their end.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use treepie_tests::hosts::{Hosts, write_remote_shell};
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

const RANKS: usize = 4;
/// Maximum number of ranks of the job, which writes this number of counts.
const MOST_RANKS: usize = 16;

fn desk() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"))
}

fn job(mpi: Mpi, kind: &str, rounds: usize) -> Job {
    let job = Job::new(mpi, RANKS, "cuts")
        .argument(kind)
        .argument(rounds.to_string());
    job.limit(Duration::from_secs(100))
}

/// The job under `treepie cut` with these options.
fn cut(job: Job, options: &[&str]) -> Outcome {
    let mut words: Vec<OsString> = vec![artifacts::command().into(), "cut".into()];
    words.extend(options.iter().map(OsString::from));
    words.push("--".into());
    job.under(words).run()
}

/// The output of `--json`, after the output of the job.
#[track_caller]
fn answer(outcome: &Outcome) -> Value {
    let mut lines = outcome.stdout.lines().rev();
    let line = lines.find(|line| line.starts_with('{'));
    let line = line.unwrap_or_else(|| panic!("no answer: {}", outcome.told()));
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
}

/// The outcomes of all waves, as one word each.
fn outcomes(answer: &Value) -> Vec<String> {
    let waves = answer["waves"].as_array().cloned().unwrap_or_default();
    let word = |wave: &Value| match &wave["outcome"] {
        Value::String(word) => word.clone(),
        outcome => outcome
            .as_object()
            .and_then(|it| it.keys().next().cloned())
            .unwrap_or_default(),
    };
    waves.iter().map(word).collect()
}

/// The counts that a rank wrote at this signal: messages sent to each, and received from each, as
/// counted by the job itself.
fn counts(desk: &Path, signal: usize, rank: usize) -> Option<Vec<u64>> {
    let bytes = fs::read(desk.join(format!("{signal}.{rank}"))).ok()?;
    let words = bytes
        .chunks_exact(8)
        .filter_map(|eight| eight.try_into().ok());
    Some(words.map(u64::from_ne_bytes).collect())
}

/// At each cut, ranks have received all sent messages.
#[track_caller]
fn assert_counts_are_equal(desk: &Path, cuts: usize, ranks: usize, outcome: &Outcome) {
    for cut in 1..=cuts {
        let of_rank = |rank| {
            let read = counts(desk, cut, rank);
            read.unwrap_or_else(|| panic!("cut {cut}, rank {rank}: {}", outcome.told()))
        };
        let all: Vec<Vec<u64>> = (0..ranks).map(of_rank).collect();
        for (from, sender) in all.iter().enumerate() {
            for (to, receiver) in all.iter().enumerate() {
                let (sent, received) = (sender[to], receiver[MOST_RANKS + from]);
                assert_eq!(sent, received, "cut {cut}, from {from} to {to}");
            }
        }
    }
}

fn waves_change_nothing_and_at_each_cut_all_that_the_job_sent_it_has_received(mpi: Mpi) {
    let plain = job(mpi, "traffic", 300).run().succeeded();
    let desk = desk();
    let counts_of = desk.path().join("counts");
    fs::create_dir(&counts_of).expect("a directory can be made");
    // All ranks write their counts while they are stopped; the command waits for that.
    let shown = counts_of.display();
    let then = format!(
        "want=$(($(ls {shown} | wc -l) + {RANKS})); kill -USR1 $TREEPIE_CUT_PROCESSES; \
         until [ $(ls {shown} | wc -l) -ge $want ]; do sleep 0.005; done"
    );
    let options = ["--every", "0.03", "--then", &then, "--verify"];
    let waved = job(mpi, "traffic", 300).argument(counts_of.as_os_str());
    let waved = cut(waved, &options).succeeded();
    assert_same_output(&plain, &waved);
    let done = waved.stderr.matches("quiet after").count();
    assert!(done >= 5, "{done} waves: {}", waved.told());
    assert_counts_are_equal(&counts_of, done, RANKS, &waved);
    // The last one may come when the job ends.
    let dropped: Vec<&str> = waved
        .messages()
        .into_iter()
        .filter(|line| line.contains("dropped"))
        .collect();
    assert!(dropped.len() <= 1, "{dropped:?}");
    assert!(
        dropped
            .iter()
            .all(|line| line.contains("has come to its end")),
        "{dropped:?}"
    );
    assert!(
        waved.stderr.contains("at the end: nothing is under way"),
        "{}",
        waved.told()
    );
}

fn what_is_never_received_is_told_at_the_end_and_in_the_way_of_waves(mpi: Mpi) {
    let leak = cut(job(mpi, "leak", 5), &["--verify", "--json"]);
    assert_eq!(leak.status.code(), Some(1), "{}", leak.told());
    let left = &answer(&leak)["left"];
    let message = json!([{"from": 0, "to": 1, "messages": 1, "bytes": 24}]);
    assert_eq!(left["under_way"], message);
    assert_eq!(
        left["unfinished"],
        json!([{"rank": 1, "receives": 1, "collectives": 0}])
    );
    // Not immediately: before the message is sent, a cut is quiet.
    let options = ["--every", "0.4", "--wave-timeout", "0.4"];
    let dropped = cut(job(mpi, "leak", 400), &options).succeeded();
    let line = "dropped: not quiet within 0.4 s: 1 message (24 bytes) from rank 0 to rank 1 \
                was sent and not received";
    assert!(dropped.stderr.contains(line), "{}", dropped.told());
    assert!(dropped.stdout.contains("ended well"), "{}", dropped.told());
}

fn what_no_cut_includes_is_named_and_a_rank_that_sleeps_is_waited_for_or_named(mpi: Mpi) {
    let refused = [
        ("window", "has 1 window (one-sided), which no cut includes"),
        (
            "one-sided",
            "has 1 window (one-sided), which no cut includes",
        ),
        (
            "threads",
            "rank 1 calls MPI from several threads, which no cut includes",
        ),
        (
            "isendrecv",
            "has called MPI_Isendrecv, which no cut includes",
        ),
        ("cancel", "has called MPI_Cancel, which no cut includes"),
        ("free", "has called MPI_Request_free, which no cut includes"),
        ("prepared", "_Barrier_init, which no cut includes"),
    ];
    // MPI_Isendrecv is of MPI 4.
    let has = |kind: &str| mpi != Mpi::OpenMpi || kind != "isendrecv";
    for (kind, named) in refused.into_iter().filter(|(kind, _)| has(kind)) {
        // At least as long as a second.
        let rounds = if kind == "one-sided" { 300 } else { 150 };
        let job = cut(job(mpi, kind, rounds), &["--every", "0.1", "--json"]).succeeded();
        let waves = answer(&job);
        let words = waves["waves"][0]["outcome"]["dropped"]["words"].as_str();
        let words = words.unwrap_or_default();
        assert!(words.contains(named), "{kind}: {words}: {}", job.told());
        assert!(job.stdout.contains("ended well"), "{kind}: {}", job.told());
    }
    let options = ["--every", "0.3", "--wave-timeout", "0.3"];
    let asleep = cut(job(mpi, "asleep", 2), &options).succeeded();
    let named = asleep
        .stderr
        .contains("not quiet within 0.3 s: no call was made by rank 1");
    assert!(named, "{}", asleep.told());
    let waited = cut(job(mpi, "asleep", 3), &["--now", "--json"]).succeeded();
    assert_eq!(outcomes(&answer(&waited)), ["quiet"], "{}", waited.told());
}

fn waves_while_communicators_come_and_go_and_commands_that_fail_or_do_not_end(mpi: Mpi) {
    let options = ["--every", "0.1", "--json", "--then", "exit 3"];
    let failed = cut(job(mpi, "communicators", 600), &options).succeeded();
    let waves = outcomes(&answer(&failed));
    let well = waves.iter().filter(|outcome| *outcome == "failed").count();
    assert!(
        well >= 3 && waves.len() <= well + 1,
        "{waves:?} {}",
        failed.told()
    );
    let options = ["--now", "--time-limit", "0.3", "--then", "sleep 100"];
    let ended = cut(job(mpi, "communicators", 600), &options).succeeded();
    let told = ended
        .stderr
        .contains("but the command was ended after 0.3 s (--time-limit)");
    assert!(
        told && ended.stdout.contains("ended well"),
        "{}",
        ended.told()
    );
}

/// Runs a job that `treepie cut` may stop, and simultaneously a script in the directory `desk`, in
/// which `$treepie` is `treepie cut` of the running job.
fn with_beside(desk: &Path, job: Job, beside: &str) -> Outcome {
    let pages = desk.join("pages");
    let variables = [
        ("TREEPIE_MODE", "replay".to_owned()),
        ("TREEPIE_CUT", "true".to_owned()),
        ("TREEPIE_PAGES", pages.display().to_string()),
    ];
    let line = format!(
        "(cd {}; treepie='{} cut --pages {}'; {beside}) &\n\"$@\"\nstatus=$?\nwait\nexit $status\n",
        desk.display(),
        artifacts::command().display(),
        pages.display()
    );
    let script = desk.join("beside");
    fs::write(&script, line).expect("a script can be written");
    let job = job.with(Library::Set(variables.to_vec()));
    let outcome = job.under(["sh".into(), script.into_os_string()]).run();
    let outcome = outcome.succeeded();
    assert!(outcome.stdout.contains("ended well"), "{}", outcome.told());
    outcome
}

/// A job that was not started by the command is stopped by it, and continues when the command is
/// killed. Counts of a running job are not those of one cut.
fn a_running_job_is_stopped_on_request_and_goes_on_when_the_command_is_killed(mpi: Mpi) {
    let desk = desk();
    // The command of the second wave kills treepie, so that no process ends the wave.
    let beside = "until $treepie --json >first 2>errors; do sleep 0.1; done; \
         $treepie --verify >moving 2>&1; $treepie --then 'kill -9 $PPID' >second 2>&1";
    let outcome = with_beside(desk.path(), job(mpi, "communicators", 2000), beside);
    let read = |file: &str| fs::read_to_string(desk.path().join(file)).unwrap_or_default();
    let moving = read("moving");
    assert!(
        moving.contains("their counts are of no one cut"),
        "{moving}"
    );
    let first: Value = serde_json::from_str(&read("first")).unwrap_or_default();
    assert_eq!(
        outcomes(&first),
        ["quiet"],
        "{}\n{}",
        read("errors"),
        outcome.told()
    );
    let ranks_told = outcome
        .stderr
        .contains("nobody ends this wave any more; the job goes on");
    assert!(ranks_told, "{}\n{}", read("second"), outcome.told());
}

fn a_job_that_stands_still_is_verified_without_stopping_it(mpi: Mpi) {
    let desk = desk();
    // The first observations may be before the job is stopped.
    let beside = "for try in 1 2 3 4 5 6 7 8 9; do sleep 0.3; \
         $treepie --verify --json >still 2>errors && break; done";
    let outcome = with_beside(desk.path(), job(mpi, "still", 5), beside);
    let read = |file: &str| fs::read_to_string(desk.path().join(file)).unwrap_or_default();
    let still: Value = serde_json::from_str(&read("still")).unwrap_or_default();
    let message = json!([{"from": 0, "to": 1, "messages": 1, "bytes": 24}]);
    let told = format!("{}\n{}", read("errors"), outcome.told());
    assert_eq!(still["left"]["under_way"], message, "{told}");
    assert_eq!(still["waves"], json!([]), "{told}");
}

fn waves_over_jobs_of_python_and_fortran_lose_nothing(mpi: Mpi) {
    let python = Job::python(mpi, RANKS, "cuts").argument("300");
    let fortran = Job::new(mpi, RANKS, "cuts.f90").argument("27000");
    for job in [python, fortran] {
        let plain = job.clone().run().succeeded();
        let waved = cut(job, &["--every", "0.05", "--verify"]).succeeded();
        assert_same_output(&plain, &waved);
        assert!(
            waved.stderr.matches("quiet after").count() >= 3,
            "{}",
            waved.told()
        );
        assert!(
            waved.stderr.contains("at the end: nothing is under way"),
            "{}",
            waved.told()
        );
    }
}

/// Two clusters of two hosts, with two ranks on each host.
const HOSTS: Hosts = Hosts {
    name: "c",
    count: 4,
    ranks_each: 2,
};

/// The command of each host finds the ranks of that host stopped, and all of them have written
/// their counts when all continue.
fn each_host_of_two_clusters_has_its_ranks_stopped_at_the_same_cut(mpi: Mpi) {
    let desk = desk();
    let desk = desk.path();
    write_remote_shell(desk);
    let ranks = HOSTS.count * HOSTS.ranks_each;
    let counts_of = desk.join("counts");
    fs::create_dir(&counts_of).expect("a directory can be made");
    let shown = counts_of.display();
    let then = format!(
        "kill -USR1 $TREEPIE_CUT_PROCESSES; until [ $(ls {shown} | wc -l) -ge \
         $(($TREEPIE_CUT_WAVE * {ranks})) ]; do sleep 0.01; done"
    );
    let remote = desk.join("remote").display().to_string();
    let mut words: Vec<OsString> = vec![desk.join("own_memory").into()];
    words.push(artifacts::command().into());
    let options = [
        "cut", "--every", "0.4", "--verify", "--json", "--then", &then,
    ];
    let hosts = ["--cluster", "c1", "--cluster", "c2,c3", "--remote-shell"];
    words.extend(options.iter().chain(&hosts).map(OsString::from));
    words.extend([remote.clone().into(), "--".into()]);
    words.extend(HOSTS.launcher(mpi, ranks));
    words.extend([
        desk.join("own_memory").into(),
        artifacts::job(mpi, "cuts").into(),
    ]);
    words.extend(["traffic", "200"].map(OsString::from));
    words.push(counts_of.as_os_str().into());
    let outcome = HOSTS.run(desk, words).succeeded();
    let answer = answer(&outcome);
    let waves = outcomes(&answer);
    let done = waves.iter().filter(|outcome| *outcome == "done").count();
    assert!(done >= 2, "{waves:?} {}", outcome.told());
    assert!(waves.len() <= done + 1, "{waves:?} {}", outcome.told());
    assert_eq!(answer["left"]["under_way"], json!([]));
    let written = fs::read_dir(&counts_of).map_or(0, Iterator::count);
    assert_eq!(written, done * ranks, "{}", outcome.told());
    assert_counts_are_equal(&counts_of, done, ranks, &outcome);
    // The pages of each host were separate, and are removed.
    for host in 0..HOSTS.count {
        let memory = desk.join(format!("memory.c{host}"));
        let own = fs::read_dir(&memory).into_iter().flatten().flatten();
        let pages = own.filter(|entry| entry.file_name().to_string_lossy().starts_with("treepie-"));
        let runs: Vec<_> = pages
            .map(|entry| fs::read_dir(entry.path()).map_or(9, Iterator::count))
            .collect();
        assert_eq!(runs, [0], "{}", memory.display());
    }
}

#[test]
fn a_coordinator_that_does_not_answer_is_told_of_and_harms_no_job() {
    let options = [
        "--every",
        "0.1",
        "--cluster",
        "nowhere",
        "--remote-shell",
        "false",
    ];
    let outcome = cut(job(Mpi::OpenMpi, "communicators", 100), &options).succeeded();
    assert!(outcome.stdout.contains("ended well"), "{}", outcome.told());
    for told in [
        "nowhere: its coordinator does not answer; try `--remote-shell`, and treepie there",
        "no wave was made",
    ] {
        assert!(outcome.stderr.contains(told), "{}", outcome.told());
    }
}

#[test]
fn a_job_that_can_t_be_stopped_is_refused_with_the_remedy() {
    let desk = desk();
    let mut command = Command::new(artifacts::command());
    command.args(["cut", "--pages"]).arg(desk.path());
    let outcome = run_watched(command, Duration::from_secs(20), "treepie cut of no job");
    assert_eq!(outcome.status.code(), Some(1), "{}", outcome.told());
    assert!(
        outcome.stderr.contains("TREEPIE_CUT=true"),
        "{}",
        outcome.told()
    );
}

under_each_mpi!(
    waves_change_nothing_and_at_each_cut_all_that_the_job_sent_it_has_received,
    what_is_never_received_is_told_at_the_end_and_in_the_way_of_waves,
    what_no_cut_includes_is_named_and_a_rank_that_sleeps_is_waited_for_or_named,
    waves_while_communicators_come_and_go_and_commands_that_fail_or_do_not_end,
    a_running_job_is_stopped_on_request_and_goes_on_when_the_command_is_killed,
    a_job_that_stands_still_is_verified_without_stopping_it,
    each_host_of_two_clusters_has_its_ranks_stopped_at_the_same_cut,
    waves_over_jobs_of_python_and_fortran_lose_nothing,
);
