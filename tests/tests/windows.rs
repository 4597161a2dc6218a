//! One-sided epochs: a profile has, window by window, the numbers of opened epochs and flushes, the
//! data moved, and the durations.

use std::collections::BTreeSet;
use std::process::Command;

use tempfile::TempDir;
use treepie_base::{Cluster, Rank, list};
use treepie_platform::TransferMethod;
use treepie_platform::file::PlatformFile;
use treepie_profile::{Profile, WindowUse};
use treepie_tests::{Job, Mpi, Outcome, artifacts, under_each_mpi};
use treepie_traffic::times::CallClass;
use treepie_traffic::windows::{EpochKind, WindowCall};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// A profile with times, in a file of this directory.
fn timed(job: Job, directory: &TempDir) -> (Outcome, Profile) {
    let output = directory.path().join("job.profile.yaml");
    let outcome = job
        .variable("LD_PRELOAD", artifacts::library().display())
        .variable("TREEPIE_MODE", "profile")
        .variable("TREEPIE_TIMES", "true")
        .variable("TREEPIE_OUTPUT", output.display())
        .run()
        .succeeded();
    let profile = Profile::read(&output).unwrap_or_else(|error| panic!("{error}"));
    (outcome, profile)
}

/// The windows of a profile in the lines that the job prints of its account.
fn lines(windows: &[WindowUse]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for window in windows {
        let name = format!("{} {}", list::to_text(&window.ranks), window.number);
        for (kind, epoch) in &window.epochs {
            lines.insert(format!(
                "epoch {name} {kind} {} {} {} {} {} {}",
                epoch.opened,
                epoch.posts,
                epoch.flushes,
                epoch.pairs,
                epoch.most_targets,
                epoch.batches
            ));
            for (call, moved) in &epoch.moved {
                let sizes: Vec<String> = moved
                    .sizes
                    .iter()
                    .map(|(least, calls)| format!("{least}={calls}"))
                    .collect();
                lines.insert(format!(
                    "moved {name} {kind} {call} {} {} {} {}",
                    moved.calls,
                    moved.bytes,
                    moved.not_contiguous,
                    sizes.join(",")
                ));
            }
        }
    }
    lines
}

fn a_profile_tells_of_each_window_what_the_program_did_there(mpi: Mpi) {
    let directory = directory();
    let (outcome, profile) = timed(Job::new(mpi, 4, "window_epochs"), &directory);
    let told = outcome.stdout.lines();
    let expected: BTreeSet<String> = told
        .filter(|line| line.starts_with("epoch ") || line.starts_with("moved "))
        .map(str::to_owned)
        .collect();
    assert!(expected.len() > 20, "{}", outcome.told());
    assert_eq!(lines(&profile.windows), expected, "{}", outcome.told());
}

fn calls_that_open_end_and_wait_are_timed_as_what_they_are(mpi: Mpi) {
    let directory = directory();
    let (outcome, profile) = timed(Job::new(mpi, 4, "window_epochs"), &directory);
    let times = profile.times.expect("the job was timed");
    let mut ranks = 0;
    for line in outcome.stdout.lines() {
        let Some(numbers) = line.strip_prefix("timed ") else {
            continue;
        };
        let numbers: Vec<u64> = numbers
            .split(' ')
            .map(|number| number.parse().expect("the job prints numbers"))
            .collect();
        let rank = Rank(numbers[0] as usize);
        let found = [CallClass::WindowEpoch, CallClass::Receive, CallClass::Wait]
            .map(|class| times.classes[&class][rank].calls);
        assert_eq!(found, numbers[1..], "rank {rank}: {}", outcome.told());
        // Its end, until the profile is collected.
        assert!(times.classes[&CallClass::Other][rank].calls > 0);
        ranks += 1;
    }
    assert_eq!(ranks, 4, "{}", outcome.told());
}

fn epochs_are_seen_from_fortran(mpi: Mpi) {
    let (_, profile) = Job::new(mpi, 3, "window_epochs.f90").profiled();
    let [window] = &profile.windows[..] else {
        panic!("{:?}", profile.windows);
    };
    let opened = |kind: EpochKind| window.epochs[&kind].opened;
    assert_eq!(window.ranks, [0, 1, 2].map(Rank));
    assert_eq!(
        [EpochKind::Fence, EpochKind::LockAll, EpochKind::Lock].map(opened),
        [6, 3, 3]
    );
    let put = |kind: EpochKind| {
        let put = &window.epochs[&kind].moved[&WindowCall::Put];
        (put.calls, put.bytes)
    };
    assert_eq!(
        (put(EpochKind::Fence), put(EpochKind::LockAll)),
        ((3, 96), (3, 24))
    );
    assert_eq!(window.epochs[&EpochKind::LockAll].flushes, 3);
}

fn a_job_that_ends_early_leaves_its_windows_in_its_parts(mpi: Mpi) {
    let directory = directory();
    let output = directory.path().join("job.profile.yaml");
    Job::new(mpi, 3, "window_epochs")
        .argument("abort")
        .variable("LD_PRELOAD", artifacts::library().display())
        .variable("TREEPIE_MODE", "profile")
        .variable("TREEPIE_OUTPUT", output.display())
        .run();
    let parts = directory.path().join("job.profile.yaml.parts");
    let shown = Command::new(artifacts::command())
        .args(["show", "--json"])
        .arg(&parts)
        .output()
        .expect("the command can be run");
    let text = String::from_utf8_lossy(&shown.stdout);
    let summary: serde_json::Value = serde_json::from_str(&text).expect("it prints JSON");
    let windows = summary["windows"].as_array().expect("there are windows");
    assert_eq!(windows.len(), 3, "{text}");
    assert_eq!(
        windows[0]["epochs"]["fence"]["moved"]["put"]["calls"], 9,
        "{text}"
    );
}

fn ways_that_were_measured_judge_the_windows_of_a_profile(mpi: Mpi) {
    let directory = directory();
    let platform = directory.path().join("here.platform.yaml");
    let treepie = |arguments: &[&str], more: &[String]| {
        let output = Command::new(artifacts::command())
            .current_dir(directory.path())
            .args(arguments)
            .args(more)
            .output()
            .expect("the command can be run");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let probe = [
        "probe",
        "--ways",
        "--time-limit",
        "20",
        "--largest",
        "4K",
        "-o",
    ];
    let file = platform.display().to_string();
    let words = [file, "--".to_owned()].into_iter().chain(
        mpi.launch(4, &[])
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    treepie(&probe, &words.collect::<Vec<_>>());
    let measured = PlatformFile::read(&platform).unwrap_or_else(|error| panic!("{error}"));
    let levels = &measured.platform.clusters()[Cluster(0)].levels;
    assert!(!levels.is_empty(), "{measured:?}");
    for level in levels {
        let ways = level.link.ways();
        let ways = ways.unwrap_or_else(|| panic!("{} has no ways: {measured:?}", level.name));
        assert_eq!(ways.epochs().len(), EpochKind::ALL.len());
        assert!(
            ways.seconds(TransferMethod::PutJoined, 32.0, 8.0).is_some(),
            "{ways:?}"
        );
    }
    let shown = treepie(&["show", "here.platform.yaml"], &[]);
    assert!(
        shown.contains("one put of 8 B and its epoch: fence "),
        "{shown}"
    );
    timed(Job::new(mpi, 4, "window_epochs"), &directory);
    let judged = [
        "show",
        "job.profile.yaml",
        "--platform",
        "here.platform.yaml",
        "--json",
    ];
    let text = treepie(&judged, &[]);
    let summary: serde_json::Value = serde_json::from_str(&text).expect("it prints JSON");
    let found = &summary["one_sided"];
    assert_eq!(found["measured"], true, "{text}");
    // Four kinds of epochs on three windows, three of which get a line.
    assert_eq!(found["epochs"].as_array().map(Vec::len), Some(12), "{text}");
    assert_eq!(found["worst"].as_array().map(Vec::len), Some(3), "{text}");
    let page = [
        "report",
        "job.profile.yaml",
        "here.platform.yaml",
        "-o",
        "report.html",
    ];
    treepie(&page, &[]);
    let page = std::fs::read_to_string(directory.path().join("report.html")).expect("the report");
    assert!(page.contains("Joined puts and other epochs"));
}

under_each_mpi!(
    ways_that_were_measured_judge_the_windows_of_a_profile,
    a_profile_tells_of_each_window_what_the_program_did_there,
    calls_that_open_end_and_wait_are_timed_as_what_they_are,
    epochs_are_seen_from_fortran,
    a_job_that_ends_early_leaves_its_windows_in_its_parts,
);
