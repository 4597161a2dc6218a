//! `treepie run`, and `TREEPIE_MODE=auto`: jobs on two hosts that are run repeatedly.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use treepie_collective::Operation;
use treepie_guard::{Form, State};
use treepie_profile::experience::{ExperienceFile, Guarded};
use treepie_profile::{GuardedCell, GuardedPlan};
use treepie_tests::hosts::Hosts;
use treepie_tests::stores::{files_below, is_run};
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, run_watched, under_each_mpi};

/// Ranks 0 and 1 are on the first host, 2 and 3 on the second; rank 0 sends to 2, and 1 to 3.
const HOSTS: Hosts = Hosts {
    name: "learn",
    count: 2,
    ranks_each: 2,
};

/// A store, and the jobs that learn in it.
struct Place {
    folder: tempfile::TempDir,
    mpi: Mpi,
}

impl Place {
    fn new(mpi: Mpi) -> Place {
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        fs::create_dir(folder.path().join("here")).expect("it is empty");
        Place { folder, mpi }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Runs `treepie run` of `order_matters WHAT` the given number of times, and returns the report
    /// of each run.
    fn run(&self, what: &str, times: usize) -> (Outcome, Vec<Value>) {
        let words = [
            artifacts::command().into_os_string(),
            "run".into(),
            "--json".into(),
            "--store".into(),
            self.store().into(),
            "--".into(),
        ];
        let words = words.into_iter().chain(HOSTS.launcher(self.mpi, 4)).chain([
            artifacts::job(self.mpi, "order_matters").into(),
            what.into(),
        ]);
        let script = "cd \"$1\" && times=$2 && shift 2 && \
            while [ $times -gt 0 ]; do \"$@\"; echo \"status $?\"; times=$((times - 1)); done";
        let outcome = HOSTS.run(
            self.folder.path(),
            ["sh", "-c", script, "sh"]
                .map(OsString::from)
                .into_iter()
                .chain([
                    self.folder.path().join("here").into(),
                    times.to_string().into(),
                ])
                .chain(words),
        );
        let outcome = outcome.succeeded();
        let told = outcome.stdout.lines().filter(|line| line.starts_with('{'));
        let told = told
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        (outcome, told)
    }

    /// `guarded one allreduce` with collectives replaced under the guard, and the file of that run.
    fn run_guarded(&self) -> (PathBuf, ExperienceFile) {
        let job = artifacts::job(self.mpi, "guarded");
        self.run_guarded_as(&job, ["allreduce", "600"])
    }

    /// Another program of that kind, with another operation and number of calls, and the file of
    /// that run.
    fn run_guarded_as(&self, program: &Path, calls: [&str; 2]) -> (PathBuf, ExperienceFile) {
        let before = self.files();
        let words = [
            "env".into(),
            "TREEPIE_COLLECTIVES=auto".into(),
            artifacts::command().into_os_string(),
            "run".into(),
            "--store".into(),
            self.store().into(),
            "--".into(),
        ];
        let words = words.into_iter().chain(HOSTS.launcher(self.mpi, 4));
        let arguments = ["one", calls[0], calls[1]].map(OsString::from);
        let words = words.chain([program.into()]).chain(arguments);
        let outcome = HOSTS.run(self.folder.path(), words).succeeded();
        assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
        self.run_since(&before, &outcome)
    }

    /// The file of the one run after those that existed before.
    fn run_since(&self, before: &[PathBuf], outcome: &Outcome) -> (PathBuf, ExperienceFile) {
        let files = self.files();
        let new = files.into_iter().filter(|file| !before.contains(file));
        let new = new.filter(|file| is_run(file));
        let mut new = new.map(|path| {
            let file = ExperienceFile::read(&path).expect("a file of a store");
            (path, file)
        });
        // The other file has the results of guards, for all applications.
        let of_run = new.find(|(_, file)| !file.experience.runs.is_empty());
        of_run.unwrap_or_else(|| panic!("no file was written: {}", outcome.told()))
    }

    /// Records this as adopted in the guards' results of all applications.
    fn adopted_elsewhere(&self, cell: &GuardedCell) {
        let shared = self.files().into_iter().filter(|file| is_run(file));
        let shared = shared.filter_map(|path| {
            let file = ExperienceFile::read(&path).expect("a file of a store");
            file.experience.runs.is_empty().then_some((path, file))
        });
        for (path, mut file) in shared {
            assert_eq!(file.application.program, "");
            file.guards[0].cells = vec![cell.clone()];
            let text = file.to_text(&path).expect("it has a text");
            fs::write(&path, text).expect("it can be written");
        }
    }

    /// `treepie WORDS --store STORE`.
    fn ask(&self, words: &[&str]) -> Outcome {
        let mut command = Command::new(artifacts::command());
        command.args(words).arg("--store").arg(self.store());
        let limit = Duration::from_secs(20);
        run_watched(command, limit, &words.join(" ")).succeeded()
    }

    fn files(&self) -> Vec<PathBuf> {
        files_below(&self.store())
    }
}

fn arms(told: &[Value]) -> Vec<&str> {
    let arm = |told: &'_ Value| told["run"]["arm"].as_str().map(str::to_owned);
    let arms: Vec<String> = told.iter().filter_map(arm).collect();
    arms.iter()
        .map(|arm| match arm.as_str() {
            "plain" => "plain",
            "permute" => "permute",
            _ => "another",
        })
        .collect()
}

fn a_job_is_faster_from_its_second_run_on(mpi: Mpi) {
    let place = Place::new(mpi);
    let (outcome, told) = place.run("faster", 4);
    let told_of = outcome.told();
    assert_eq!(
        arms(&told),
        ["plain", "permute", "permute", "permute"],
        "{told_of}"
    );
    assert_eq!(told[0]["run"]["counted"], true, "{told_of}");
    assert_eq!(told[1]["run"]["counted"], false, "{told_of}");
    assert_eq!(outcome.stdout.matches("done\n").count(), 4, "{told_of}");
    assert_eq!(outcome.stdout.matches("status 0").count(), 4, "{told_of}");
    let known = &told[3]["application"]["shapes"][0];
    assert_eq!(known["used"], "permute", "{told_of}");
    let history = place.ask(&["history"]).stdout;
    assert!(history.starts_with("order_matters, 4 ranks, "), "{history}");
    assert!(
        history.contains("other ranks used, not proven yet"),
        "{history}"
    );
    // No file is written elsewhere, and none names a host or a path.
    assert_eq!(
        files_below(&place.folder.path().join("here")),
        Vec::<PathBuf>::new()
    );
    for file in place.files() {
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(!text.contains("learn0"), "{}: {text}", file.display());
        assert!(
            !text.contains("/order_matters"),
            "{}: {text}",
            file.display()
        );
    }
    place.ask(&["forget", "order_matters"]);
    let left = place.ask(&["history"]).stdout;
    assert!(left.contains("nothing was learnt yet"), "{left}");
}

fn a_placement_that_makes_a_job_slower_or_fail_is_not_used(mpi: Mpi) {
    let slower = Place::new(mpi);
    let (outcome, told) = slower.run("slower", 4);
    let known = &told[3]["application"]["shapes"][0];
    assert_eq!(known["used"], "plain", "{}", outcome.told());
    assert_eq!(
        arms(&told),
        ["plain", "permute", "plain", "plain"],
        "{}",
        outcome.told()
    );
    let state = known["state"].as_str().unwrap_or_default();
    assert!(state.contains("tried once"), "{}", outcome.told());
    let failing = Place::new(mpi);
    let (outcome, told) = failing.run("fails", 4);
    assert_eq!(
        arms(&told),
        ["plain", "permute", "plain", "plain"],
        "{}",
        outcome.told()
    );
    assert_eq!(
        outcome.stdout.matches("status 3").count(),
        1,
        "{}",
        outcome.told()
    );
    let state = &told[3]["application"]["shapes"][0]["state"];
    assert!(state.to_string().contains("failed"), "{}", outcome.told());
}

fn where_all_ranks_are_alike_nothing_is_tried_and_counting_ends(mpi: Mpi) {
    let place = Place::new(mpi);
    let (outcome, told) = place.run("alike", 3);
    assert_eq!(arms(&told), ["plain"; 3], "{}", outcome.told());
    let counted: Vec<&Value> = told.iter().map(|told| &told["run"]["counted"]).collect();
    assert_eq!(counted, [true, false, false], "{}", outcome.told());
    let state = &told[2]["application"]["shapes"][0]["state"];
    assert_eq!(state, "no placement saves anything");
}

fn the_library_learns_without_the_command_and_rank_0_has_the_store(mpi: Mpi) {
    let place = Place::new(mpi);
    let of_rank = |settings: &str| {
        Job::of(mpi, 4, "sh")
            .argument("-c")
            .argument(format!(
                "TREEPIE_STORE={}/$(({settings})) exec {} same",
                place.store().display(),
                artifacts::job(mpi, "order_matters").display()
            ))
            .with(Library::Unset)
            .variable("TREEPIE_MODE", "auto")
            .run()
            .succeeded()
    };
    fs::create_dir(place.store()).expect("it is not there");
    let rank = "${OMPI_COMM_WORLD_RANK-$PMI_RANK}";
    of_rank(rank);
    of_rank(rank);
    let names = fs::read_dir(place.store()).expect("it is there");
    let names: Vec<OsString> = names.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["0"]);
    let mut runs = 0;
    for file in place.files().iter().filter(|file| is_run(file)) {
        let found = ExperienceFile::read(file).expect("a file of a store");
        runs += found.experience.runs.len();
        let ended = found.experience.runs[0].seconds().is_some();
        assert!(ended, "{}", file.display());
    }
    assert_eq!(runs, 2, "{:?}", place.files());
}

/// A plan of allreduce that was adopted.
fn adopted(algorithm: &str) -> GuardedCell {
    adopted_for(Operation::Allreduce, algorithm)
}

/// A cell with an adopted algorithm of an operation.
fn adopted_for(operation: Operation, algorithm: &str) -> GuardedCell {
    GuardedCell {
        operation,
        form: Form::Blocking,
        root: None,
        bytes: Some(4),
        ordered: false,
        ranks: 4,
        clusters: 2,
        plan: Some(GuardedPlan {
            algorithm: algorithm.into(),
            segment: 4096,
        }),
        state: State::Adopted,
        won: 9,
        lost: 1,
        native_seconds: Some(2e-3),
        plan_seconds: Some(1e-3),
        longest_seconds: 4e-3,
        calls: 600,
        seconds: 1.0,
        excess_seconds: 0.0,
        saved_seconds: 0.0,
    }
}

/// True if a plan ran from the start: a trial takes more calls than these jobs have.
fn began_adopted(file: &ExperienceFile) -> bool {
    let cells = file.guards.iter().flat_map(|guarded| &guarded.cells);
    let mut states = cells.map(|cell| cell.state);
    states.any(|state| matches!(state, State::Adopted | State::TakenBack))
}

/// The plan that is tried first.
fn first_tried(file: &ExperienceFile) -> Option<&str> {
    let cell = file.guards.first()?.cells.first()?;
    Some(cell.plan.as_ref()?.algorithm.as_str())
}

fn what_guards_found_serves_other_applications_as_far_as_they_are_alike(mpi: Mpi) {
    // Enough calls for a first trial, and few enough that no trial ends in them.
    let (many, few) = (["allreduce", "6000"], ["allreduce", "600"]);
    let place = Place::new(mpi);
    let guarded = artifacts::job(mpi, "guarded");
    let (_, file) = place.run_guarded_as(&guarded, many);
    let usual = first_tried(&file).expect("something was tried").to_owned();
    let other = ["grid-flat", "grid-exchange"]
        .into_iter()
        .find(|name| usual != *name);
    let other = other.expect("one of two");
    place.adopted_elsewhere(&adopted(other));
    let (_, file) = place.run_guarded_as(&guarded, few);
    assert!(began_adopted(&file), "other arguments: {file:?}");

    place.adopted_elsewhere(&adopted(other));
    let rebuilt = place.folder.path().join("rebuilt");
    let mut content = fs::read(&guarded).expect("the program can be read");
    content.push(0);
    fs::write(&rebuilt, content).expect("it can be written");
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&rebuilt, permissions).expect("it can be made a program");
    let (_, file) = place.run_guarded_as(&rebuilt, few);
    assert!(!began_adopted(&file), "another program: {file:?}");
    let (_, file) = place.run_guarded_as(&rebuilt, many);
    assert_eq!(first_tried(&file), Some(other), "{file:?}");

    place.ask(&["forget", "rebuilt"]);
    let (_, file) = place.run_guarded_as(&rebuilt, many);
    assert_eq!(first_tried(&file), Some(usual.as_str()), "{file:?}");
}

/// Writes into the file of a run that its guard adopted this.
fn found_by(path: &Path, mut file: ExperienceFile, cell: GuardedCell) {
    let run = &file.experience.runs[0];
    file.guards = vec![Guarded {
        shape: run.shape,
        made: run.began,
        cells: vec![cell],
        epochs: Vec::new(),
    }];
    let text = file.to_text(path).expect("it has a text");
    fs::write(path, text).expect("it can be written");
}

/// Also another algorithm of the MPI: 300 calls are too few for a trial of an unknown candidate.
fn a_run_starts_with_the_algorithm_of_the_mpi_that_was_adopted_before(mpi: Mpi) {
    let place = Place::new(mpi);
    let job = artifacts::job(mpi, "guarded");
    let run = || place.run_guarded_as(&job, ["scan", "300"]);
    let (path, file) = run();
    assert!(!began_adopted(&file), "{file:?}");
    let adopted = adopted_for(Operation::Scan, "native:recursive_doubling");
    found_by(&path, file, adopted);
    let (_, next) = run();
    assert!(began_adopted(&next), "{next:?}");
    assert_eq!(first_tried(&next), Some("native:recursive_doubling"));
}

/// Blocking calls show that each MPI's calls are judged alike.
#[test]
fn a_started_plan_that_another_run_adopted_is_taken_back_where_it_loses() {
    is_taken_back_where_it_loses("start", Form::Nonblocking);
}

#[test]
fn a_plan_for_requests_that_another_run_adopted_is_taken_back_where_it_loses() {
    is_taken_back_where_it_loses("restart", Form::Persistent);
}

/// The adopted plan sends its 4 KiB in segments of 8 bytes: the MPI's own collective is always
/// faster.
#[track_caller]
fn is_taken_back_where_it_loses(job: &str, form: Form) {
    let (mpi, word) = (Mpi::OpenMpi, job);
    let place = Place::new(mpi);
    let run = |calls: &str| {
        let before = place.files();
        let settings = [
            ("TREEPIE_MODE", "auto".into()),
            ("TREEPIE_STORE", place.store().display().to_string()),
            ("TREEPIE_COLLECTIVES", "auto".into()),
            ("TREEPIE_CLUSTERS", "0,0,1,1".into()),
        ];
        let job = Job::new(mpi, 4, "guarded");
        let job = [word, "long", calls]
            .iter()
            .fold(job, |job, &word| job.argument(word));
        let outcome = job.with(Library::Set(settings.to_vec())).run().succeeded();
        assert_eq!(outcome.stdout, "0 wrong\n", "{}", outcome.told());
        place.run_since(&before, &outcome)
    };
    run("300");
    let mut cell = adopted("at-once");
    cell.form = form;
    cell.bytes = Some(4096);
    cell.plan = cell.plan.map(|plan| GuardedPlan { segment: 8, ..plan });
    place.adopted_elsewhere(&cell);
    let (_, next) = run("3000");
    let guards = next.guards.iter();
    let mut cells = guards.flat_map(|guarded| &guarded.cells);
    let found = cells.find(|cell| {
        let plan = cell.plan.as_ref();
        cell.form == form && plan.is_some_and(|plan| plan.segment == 8)
    });
    let found = found.unwrap_or_else(|| panic!("it never ran: {next:?}"));
    assert_eq!(found.state, State::TakenBack, "{found:?}");
}

fn a_run_starts_with_the_plans_that_the_guard_adopted_in_the_one_before(mpi: Mpi) {
    let place = Place::new(mpi);
    let (path, file) = place.run_guarded();
    found_by(&path, file, adopted("grid-exchange"));
    let (_, next) = place.run_guarded();
    // A candidate that is not known to be adopted is tried first, for longer than this.
    assert!(began_adopted(&next), "{next:?}");
    let history = place.ask(&["history"]).stdout;
    assert!(history.starts_with("guarded, 4 ranks"), "{history}");
}

under_each_mpi!(
    a_job_is_faster_from_its_second_run_on,
    a_placement_that_makes_a_job_slower_or_fail_is_not_used,
    where_all_ranks_are_alike_nothing_is_tried_and_counting_ends,
    the_library_learns_without_the_command_and_rank_0_has_the_store,
    a_run_starts_with_the_plans_that_the_guard_adopted_in_the_one_before,
    a_run_starts_with_the_algorithm_of_the_mpi_that_was_adopted_before,
    what_guards_found_serves_other_applications_as_far_as_they_are_alike,
);
