//! `treepie prove` finds out whether a placement makes a real job quicker.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const LIMIT: Duration = Duration::from_secs(120);

/// The answer about `order_matters WHAT` on two ranks.
fn prove(mpi: Mpi, what: &str, options: &[&str]) -> Outcome {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let mut command = Command::new(artifacts::command());
    command.current_dir(desk.path());
    command.args(["prove", "--permutation", "1,0", "--seed", "1"]);
    command.args(options).arg("--");
    command.args(mpi.launch(2, &[]));
    command.args([
        artifacts::job(mpi, "order_matters").as_os_str(),
        OsStr::new(what),
    ]);
    run_watched(
        command,
        LIMIT,
        &format!("treepie prove of {what} under {mpi}"),
    )
}

fn answer(mpi: Mpi, what: &str, options: &[&str]) -> Value {
    let options = [options, &["--json"]].concat();
    let outcome = prove(mpi, what, &options).succeeded();
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
}

fn a_quicker_order_is_proven_with_its_interval_in_few_runs(mpi: Mpi) {
    let answer = answer(mpi, "quicker", &[]);
    assert_eq!(answer["verdict"], "gain", "{answer}");
    let whole = &answer["whole"];
    let part = |name: &str| whole[name].as_f64().unwrap_or(f64::NAN);
    assert!(part("gain") > 0.1, "{answer}");
    assert!(
        part("at_least") > 0.0 && part("at_least") <= part("gain"),
        "{answer}"
    );
    assert!(whole["pairs"].as_u64() < Some(20), "{answer}");
    assert_eq!(answer["same_output"], true, "{answer}");
    let runs = answer["ways"][0]["seconds"].as_array().map(Vec::len);
    assert_eq!(runs.map(|runs| runs as u64), whole["pairs"].as_u64());
}

fn a_slower_order_is_worse_and_one_that_fails_too(mpi: Mpi) {
    assert_eq!(answer(mpi, "slower", &[])["verdict"], "worse");
    let failing = answer(mpi, "fails", &[]);
    assert_eq!(failing["verdict"], "worse", "{failing}");
    let reasons = &failing["ways"][1]["failures"];
    assert!(
        reasons[0].to_string().contains("exit status 3"),
        "{failing}"
    );
    assert_eq!(failing["ways"][0]["failures"], serde_json::json!([]));
}

fn an_equal_order_is_no_gain_and_what_is_printed_is_compared(mpi: Mpi) {
    let outcome = prove(mpi, "differs", &["--runs", "3", "--difference", "49"]).succeeded();
    let said = outcome.stdout.as_str();
    assert!(said.contains("CAUTION: it prints something else"), "{said}");
    assert!(said.contains("(seed 1)"), "{said}");
    let verdict = said.lines().last().unwrap_or_default();
    assert!(verdict.starts_with("verdict: not proven"), "{said}");
    let varying = prove(mpi, "varies", &["--runs", "2"]).succeeded().stdout;
    assert!(varying.contains("differs from run to run"), "{varying}");
}

fn a_job_that_fails_by_itself_is_an_error(mpi: Mpi) {
    let outcome = prove(mpi, "broken", &[]);
    assert_eq!(outcome.status.code(), Some(1), "{}", outcome.told());
    assert!(
        outcome.stderr.contains("the job failed 3 times (plain)"),
        "{}",
        outcome.told()
    );
    assert!(
        outcome.stderr.contains("exit status 4"),
        "{}",
        outcome.told()
    );
}

fn two_equal_ways_are_not_called_different(mpi: Mpi) {
    // The order in which the launcher started them is what it is compared with.
    let answer = answer(mpi, "same", &["--runs", "4"]);
    let verdict = answer["verdict"].as_str();
    assert!(matches!(verdict, Some("none" | "not proven")), "{answer}");
}

under_each_mpi!(
    a_quicker_order_is_proven_with_its_interval_in_few_runs,
    a_slower_order_is_worse_and_one_that_fails_too,
    an_equal_order_is_no_gain_and_what_is_printed_is_compared,
    a_job_that_fails_by_itself_is_an_error,
    two_equal_ways_are_not_called_different,
);
