//! Stores of experiences that are full, damaged, not writable, of another time or used by several
//! jobs: the job runs normally, with one line at most.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use treepie_guard::learning::Candidate;
use treepie_profile::experience::ExperienceFile;
use treepie_tests::hosts::{Hosts, WITH_OWN_MOUNTS};
use treepie_tests::stores::{files_below, is_run, runs};
use treepie_tests::two_clusters::TwoClusters;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

/// A folder for a store.
struct Place {
    folder: tempfile::TempDir,
    mpi: Mpi,
}

impl Place {
    fn new(mpi: Mpi) -> Place {
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        Place { folder, mpi }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A job of two ranks that learns in the store.
    fn job(&self, program: impl AsRef<Path>) -> Job {
        Job::of(self.mpi, 2, program.as_ref())
            .with(Library::Unset)
            .variable("TREEPIE_MODE", "auto")
            .variable("TREEPIE_STORE", self.store().display())
    }

    fn ring(&self) -> Job {
        self.job(artifacts::job(self.mpi, "ring"))
    }

    /// A job whose clock is wrong by `seconds` seconds.
    fn ring_with_a_wrong_clock(&self, seconds: i64) -> Job {
        let clock = artifacts::job(self.mpi, "wrong_clock.so");
        let both = format!("{}:{}", artifacts::library().display(), clock.display());
        self.ring()
            .with(Library::Absent)
            .variable("LD_PRELOAD", both)
            .variable("WRONG_CLOCK", seconds)
    }

    fn runs(&self) -> Vec<ExperienceFile> {
        let runs = runs(&self.store()).into_iter();
        runs.map(|(_, file)| file).collect()
    }

    /// For each run, in the order of their names, true if it was counted.
    fn counted(&self) -> Vec<bool> {
        let files = self.runs().into_iter();
        let runs = files.flat_map(|file| file.experience.runs);
        runs.map(|run| run.counted).collect()
    }
}

/// Actions of a shell in a separate mount namespace, in which `$STORE` is a file system of 32
/// pages.
const SMALL_DISK: &str = "mount -t tmpfs -o size=128k,mode=700 tmpfs \"$STORE\" || exit 9
    pages() { echo pages left $(stat -f -c %a \"$STORE\"); }
    fill() { rm -f \"$STORE/fill\"; left=$(($(stat -f -c %a \"$STORE\") - $1))
        dd if=/dev/zero of=\"$STORE/fill\" bs=4096 count=$left 2>/dev/null; pages; }
    run() { \"$@\"; echo status $?; ls -AR \"$STORE\" | grep -c '[.]tmp$'; }
    fill 0; run \"$@\"; fill 2; run \"$@\"; fill 4; run \"$@\"
    rm \"$STORE/fill\"; for i in 1 2 3; do run \"$@\"; done; cp -r \"$STORE/v1\" \"$COPY\"";

fn a_full_disk_harms_no_job_and_nothing_once_it_is_not_full(mpi: Mpi) {
    let place = Place::new(mpi);
    let plain = Job::new(mpi, 2, "ring").run().succeeded();
    fs::create_dir(place.store()).expect("it is not there");
    let copy = place.folder.path().join("copy");
    let mut words = vec!["env".to_owned()];
    words.push(format!("STORE={}", place.store().display()));
    words.push(format!("COPY={}", copy.display()));
    words.extend(WITH_OWN_MOUNTS.map(Into::into));
    words.extend([SMALL_DISK, "sh"].map(Into::into));
    let job = place.ring().under(words).variable("TREEPIE_LOG", "info");
    let told = job.run().succeeded();
    assert!(told.stdout.starts_with("pages left 0\n"), "{}", told.told());
    assert_eq!(
        told.stdout.matches(&plain.stdout).count(),
        6,
        "{}",
        told.told()
    );
    assert_eq!(
        told.stdout.matches("status 0\n0\n").count(),
        6,
        "{}",
        told.told()
    );
    // One line for each run in which the store could not be written.
    let off = told
        .stderr
        .lines()
        .filter(|line| line.contains("learning is off"));
    assert_eq!(off.count(), 3, "{}", told.told());
    assert!(
        told.stderr.contains("No space left on device"),
        "{}",
        told.told()
    );
    // A trial that was started and not completed is counted once more, and then no more.
    let of_copy = runs(&copy).into_iter();
    let counted: Vec<bool> = of_copy
        .flat_map(|(_, file)| file.experience.runs)
        .map(|run| run.counted)
        .collect();
    assert_eq!(
        counted[counted.len() - 3..],
        [true, false, false],
        "{}",
        told.told()
    );
}

fn a_clock_that_went_back_a_little_leaves_runs_in_their_order(mpi: Mpi) {
    let place = Place::new(mpi);
    place
        .ring_with_a_wrong_clock(3600)
        .run()
        .succeeded()
        .silent();
    place.ring().run().succeeded().silent();
    assert_eq!(place.counted(), [true, false]);
    let runs = place.runs();
    let began = |at: usize| runs[at].experience.runs[0].began;
    assert!(began(1) > began(0), "{runs:?}");
}

fn what_lies_far_in_the_future_is_left_alone(mpi: Mpi) {
    let place = Place::new(mpi);
    let plain = Job::new(mpi, 2, "ring").run().succeeded();
    place
        .ring_with_a_wrong_clock(3_000_000_000)
        .run()
        .succeeded()
        .silent();
    let of_the_future = files_below(&place.store());
    let texts = || {
        of_the_future
            .iter()
            .map(|file| fs::read(file).expect("it is there"))
    };
    let before: Vec<Vec<u8>> = texts().collect();
    for counted in [&[true][..], &[true, false]] {
        let now = place.ring().run().succeeded().silent();
        assert_same_output(&plain, &now);
        let found = place.counted();
        assert_eq!(
            found.split_last(),
            Some((&true, counted)),
            "the last is of the future"
        );
    }
    assert!(texts().eq(before));
    // If all clocks agree, it is accepted.
    place
        .ring_with_a_wrong_clock(3_000_000_100)
        .run()
        .succeeded()
        .silent();
    assert_eq!(place.counted(), [true, false, true, false]);
}

fn a_program_that_is_rebuilt_is_learnt_anew(mpi: Mpi) {
    let place = Place::new(mpi);
    let program = place.folder.path().join("ring");
    fs::copy(artifacts::job(mpi, "ring"), &program).expect("it can be copied");
    (0..2).for_each(|_| drop(place.job(&program).run().succeeded().silent()));
    let before = files_below(&place.store());
    let old: Vec<Vec<u8>> = before
        .iter()
        .map(|file| fs::read(file).expect("it is there"))
        .collect();
    // Like a compiler that adds a section.
    let mut content = fs::read(&program).expect("it is there");
    content.extend(b"another build");
    fs::write(&program, content).expect("it can be written");
    place.job(&program).run().succeeded().silent();
    let new = files_below(&place.store()).into_iter();
    let new: Vec<PathBuf> = new.filter(|file| !before.contains(file)).collect();
    let run = new.iter().find(|file| is_run(file)).expect("a new run");
    assert!(!before.iter().any(|file| file.parent() == run.parent()));
    let run = ExperienceFile::read(run).expect("a file of a store");
    assert!(run.experience.runs[0].counted);
    assert!(
        before
            .iter()
            .map(|file| fs::read(file).expect("it is there"))
            .eq(old)
    );
}

/// Both are at the same point of each step: both count, both judge, both try.
fn jobs_that_decide_at_the_same_time_harm_neither(mpi: Mpi) {
    let hosts = Hosts {
        name: "both",
        count: 2,
        ranks_each: 2,
    };
    let place = Place::new(mpi);
    // Open MPI's launcher keeps the files of a job in a separate folder: another that ends
    // simultaneously may remove it, and the launcher waits for ever.
    let script = "mkdir mine theirs
        for round in 1 2 3 4; do
            OMPI_MCA_orte_tmpdir_base=$PWD/mine \"$@\" >one 2>&1 &
            OMPI_MCA_orte_tmpdir_base=$PWD/theirs \"$@\" >other 2>&1
            echo status $?; wait $!; echo status $?
            cat one other
        done";
    let store = place.store().into_os_string();
    let mut words = ["sh", "-c", "cd \"$1\" && shift && eval \"$0\"", script]
        .map(Into::into)
        .to_vec();
    words.push(place.folder.path().into());
    words.push(artifacts::command().into());
    words.extend([
        "run".into(),
        "--quiet".into(),
        "--store".into(),
        store,
        "--".into(),
    ]);
    words.extend(hosts.launcher(mpi, 4));
    words.push(artifacts::job(mpi, "order_matters").into());
    words.push("same".into());
    let outcome: Outcome = hosts.run(place.folder.path(), words).succeeded();
    let told = outcome.told();
    assert_eq!(outcome.stdout.matches("status 0\n").count(), 8, "{told}");
    assert_eq!(outcome.stdout.matches("done\n").count(), 8, "{told}");
    assert!(!told.contains("set aside"), "{told}");
    let found = place.runs();
    let all: Vec<_> = found
        .iter()
        .flat_map(|file| &file.experience.runs)
        .collect();
    assert_eq!(all.len(), 8, "{told}");
    assert!(all.iter().all(|run| run.seconds().is_some()), "{all:?}");
    // Both may have counted the first two; all agree on the promised gain.
    assert!(
        (1..=2).contains(&all.iter().filter(|run| run.counted).count()),
        "{all:?}"
    );
    let judged = found.iter().flat_map(|file| &file.experience.judgements);
    let candidates: Vec<_> = judged.map(|judged| &judged.candidates).collect();
    assert!(!candidates.is_empty(), "{told}");
    assert!(
        candidates.iter().all(|one| *one == candidates[0]),
        "{candidates:?}"
    );
}

fn what_was_measured_of_the_platform_serves_the_next_application_there(mpi: Mpi) {
    let grid = TwoClusters::new();
    let store = grid.file("store");
    let settings = format!(
        "TREEPIE_MODE=auto TREEPIE_LOG=info TREEPIE_PROBE=auto TREEPIE_STORE={}",
        store.display()
    );
    let run = |options: &[&str], name: &str| {
        let done = grid.job(
            options,
            (mpi, 4),
            &settings,
            &["guarded", "one", name, "20"],
        );
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "0 wrong\n", "{said}");
        said.contains("the platform was measured in")
    };
    assert!(run(&[], "allreduce"));
    assert!(!run(&[], "allreduce"));
    assert!(!run(&[], "scan"));
    let files = files_below(&store).into_iter();
    let mut files = files.filter(|file| file.display().to_string().ends_with(".platform.yaml"));
    let (Some(file), None) = (files.next(), files.next()) else {
        panic!("not one platform: {:?}", files_below(&store));
    };
    let text = fs::read_to_string(file).expect("it can be read");
    for name in ["a0", "a1", "b0", "b1"] {
        assert!(!text.contains(&format!("name: {name}")), "{text}");
    }
    let ask = |words: &[&str]| {
        let mut command = Command::new(artifacts::command());
        command.args(words).arg("--store").arg(&store);
        run_watched(command, Duration::from_secs(20), &words.join(" "))
            .succeeded()
            .stdout
    };
    let history = ask(&["history"]);
    assert!(
        history.contains("platform of 4 hosts in 2 clusters"),
        "{history}"
    );
    assert!(ask(&["history", "--json"]).contains("\"clusters\":2"));
    // Ranks are placed by it, too: without a platform these hosts are equivalent.
    for _ in 0..2 {
        let done = grid.job(&[], (mpi, 4), &settings, &["order_matters", "same"]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
    }
    let files = files_below(&store).into_iter().filter(|file| is_run(file));
    let files = files.map(|file| ExperienceFile::read(&file).expect("a file of a store"));
    let judged = files.flat_map(|file| file.experience.judgements);
    let found: Vec<_> = judged.flat_map(|judgement| judgement.candidates).collect();
    let placed = |candidate: &Candidate| matches!(candidate, Candidate::Permute(_));
    assert!(found.iter().any(placed), "{found:?}");
    ask(&["forget", "--all"]);
    assert!(files_below(&store).iter().all(|file| !is_run(file)));
    assert!(ask(&["history"]).contains("nothing was learnt yet"));
}

fn a_store_that_cannot_be_used_harms_no_job(mpi: Mpi) {
    let plain = Job::new(mpi, 2, "ring").run().succeeded();
    let file = tempfile::NamedTempFile::new().expect("a file");
    for store in ["/proc/none", &file.path().display().to_string()] {
        let job = Job::new(mpi, 2, "ring")
            .with(Library::Unset)
            .variable("TREEPIE_MODE", "auto")
            .variable("TREEPIE_STORE", store);
        let quiet = job.clone().run().succeeded();
        assert_same_output(&plain, &quiet);
        let told = job.variable("TREEPIE_LOG", "info").run().succeeded();
        let lines = told
            .stderr
            .lines()
            .filter(|line| line.contains("learning is off"));
        assert_eq!(lines.count(), 1, "{}", told.told());
    }
}

fn what_is_no_mpi_job_runs_as_it_would(mpi: Mpi) {
    let place = Place::new(mpi);
    let run = |words: &[&str]| {
        let mut command = Command::new(artifacts::command());
        command.args(["run", "--store"]).arg(place.store());
        command.arg("--").args(words);
        run_watched(
            command,
            Duration::from_secs(20),
            "treepie run of no MPI job",
        )
    };
    let outcome = run(&["sh", "-c", "echo here; exit 3"]);
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.told());
    assert_eq!(outcome.stdout, "here\n");
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.told());
    assert_eq!(files_below(&place.store()), Vec::<PathBuf>::new());
}

fn a_damaged_file_is_set_aside_and_told_of_once(mpi: Mpi) {
    let place = Place::new(mpi);
    let run = || place.ring().run().succeeded();
    run();
    let files = files_below(&place.store());
    let written = files.iter().find(|file| is_run(file));
    let written = written.expect("a run was written");
    let text = fs::read_to_string(written).expect("it can be read");
    fs::write(written, &text[..text.len() / 2]).expect("it can be written");
    let told = run();
    let lines = told
        .stderr
        .lines()
        .filter(|line| line.contains("set aside"));
    assert_eq!(lines.count(), 1, "{}", told.told());
    assert!(written.with_extension("yaml.damaged").exists());
    assert!(!run().stderr.contains("set aside"));
}

under_each_mpi!(
    what_was_measured_of_the_platform_serves_the_next_application_there,
    a_full_disk_harms_no_job_and_nothing_once_it_is_not_full,
    a_clock_that_went_back_a_little_leaves_runs_in_their_order,
    what_lies_far_in_the_future_is_left_alone,
    a_program_that_is_rebuilt_is_learnt_anew,
    jobs_that_decide_at_the_same_time_harm_neither,
    a_store_that_cannot_be_used_harms_no_job,
    what_is_no_mpi_job_runs_as_it_would,
    a_damaged_file_is_set_aside_and_told_of_once,
);
