//! Every procedure that starts or completes a request, in every mode that observes requests, and if
//! the program frees a communicator before its pending requests are complete.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use tempfile::TempDir;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, assert_same_output, under_each_mpi};

const RANKS: usize = 3;

/// Treatment of communicators, as the job's argument.
const KEEPING: [&str; 3] = ["keep", "free", "reuse"];

fn desk() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"))
}

fn job(mpi: Mpi, keeping: &str) -> Job {
    let job = Job::new(mpi, RANKS, "requests").argument(keeping);
    job.limit(Duration::from_secs(100))
}

/// The job under `treepie WORDS --`.
fn under(job: Job, words: &[&str]) -> Outcome {
    let command = artifacts::command().into();
    let words = words.iter().chain(&["--"]).map(OsString::from);
    job.under([command].into_iter().chain(words)).run()
}

fn no_request_ends_a_job_with_pages_or_at_cuts(mpi: Mpi) {
    let desk = desk();
    let pages = desk.path().join("pages").display().to_string();
    for keeping in KEEPING {
        let plain = job(mpi, keeping).run().succeeded();
        let cut = [("TREEPIE_CUT", "true".to_owned())];
        for more in [&[][..], &cut] {
            let profile = desk.path().join("a.yaml").display().to_string();
            let mut variables = vec![
                ("TREEPIE_MODE", "profile".to_owned()),
                ("TREEPIE_OUTPUT", profile),
                ("TREEPIE_PAGES", pages.clone()),
            ];
            variables.extend_from_slice(more);
            let watched = job(mpi, keeping).with(Library::Set(variables)).run();
            assert_same_output(&plain, &watched.succeeded());
        }
    }
}

fn no_request_ends_a_job_whose_order_is_recorded_or_replayed(mpi: Mpi) {
    let desk = desk();
    for keeping in KEEPING {
        let plain = job(mpi, keeping).run().succeeded();
        let profile = desk.path().join("a.yaml").display().to_string();
        let order = desk.path().join(keeping).display().to_string();
        let record = ["profile", "-q", "-o", &profile, "--order", &order];
        let recorded = under(job(mpi, keeping), &record).succeeded();
        assert_same_output(&plain, &recorded);
        let replayed = under(job(mpi, keeping), &["replay", "-q", "--order", &order]).succeeded();
        assert_same_output(&plain, &replayed);
    }
}

fn messages_on_freed_communicators_are_counted_on_those_that_they_were_sent_on(mpi: Mpi) {
    let outcome = under(job(mpi, "reuse"), &["cut", "--verify"]).succeeded();
    let says = "treepie: at the end: nothing is under way: 1 ";
    assert!(outcome.stderr.contains(says), "{}", outcome.told());
    assert!(
        outcome.stderr.contains("on 6 channels"),
        "{}",
        outcome.told()
    );
}

under_each_mpi!(
    no_request_ends_a_job_with_pages_or_at_cuts,
    no_request_ends_a_job_whose_order_is_recorded_or_replayed,
    messages_on_freed_communicators_are_counted_on_those_that_they_were_sent_on,
);

/// The words of a C program.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .collect()
}

#[test]
fn the_job_calls_every_procedure_of_the_interface_that_has_a_request() {
    let read = |file: &str| {
        let path = artifacts::repository().join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let source = [".c", "/completions.h", "/collectives.h", "/one_sided.h"]
        .map(|file| read(&format!("tests/jobs/requests{file}")))
        .concat();
    let called = words(&source);
    let procedures = treepie_tests::interface::procedures();
    let with_requests = procedures
        .iter()
        .filter(|procedure| !procedure.large)
        .filter(|procedure| {
            procedure
                .parameters
                .iter()
                .any(|one| one.kind.starts_with("request"))
        })
        .filter_map(|procedure| procedure.name.strip_prefix("MPI_"));
    let with_requests: Vec<&str> = with_requests.collect();
    assert!(with_requests.len() > 80, "{with_requests:?}");
    let is_called = |name: &&str| {
        let form = |name: &str| called.contains(name) || called.contains(&*format!("MPI_{name}"));
        form(name) || name.strip_suffix("_init").is_some_and(form)
    };
    let forgotten: Vec<_> = with_requests
        .iter()
        .filter(|name| !is_called(name))
        .collect();
    assert!(forgotten.is_empty(), "not called: {forgotten:?}");
}
