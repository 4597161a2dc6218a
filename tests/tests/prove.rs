//! `treepie prove` decides whether a placement makes a real job faster.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use treepie_tests::placements::of_two_ranks;
use treepie_tests::{Mpi, Outcome, artifacts, run_watched, under_each_mpi};

const LIMIT: Duration = Duration::from_secs(120);

/// `treepie prove WORDS -- JOB` on two ranks.
fn prove_job(mpi: Mpi, words: &[&OsStr], job: &[&str]) -> Outcome {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let mut command = Command::new(artifacts::command());
    command.current_dir(desk.path());
    command.args(["prove", "--seed", "1"]).args(words).arg("--");
    command.args(mpi.launch(2, &[]));
    command.arg(artifacts::job(mpi, job[0])).args(&job[1..]);
    run_watched(
        command,
        LIMIT,
        &format!("treepie prove of {job:?} under {mpi}"),
    )
}

/// The answer on `order_matters WHAT` in another order than the launcher's.
fn prove(mpi: Mpi, what: &str, options: &[&str]) -> Outcome {
    let words = [&["--permutation", "1,0"], options].concat();
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    prove_job(mpi, &words, &["order_matters", what])
}

fn answer(mpi: Mpi, what: &str, options: &[&str]) -> Value {
    let options = [options, &["--json"]].concat();
    let outcome = prove(mpi, what, &options).succeeded();
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
}

fn a_faster_order_is_proven_with_its_interval_in_few_runs(mpi: Mpi) {
    let answer = answer(mpi, "faster", &[]);
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
    // The reference is the order in which the launcher started them.
    let answer = answer(mpi, "same", &["--runs", "4"]);
    let verdict = answer["verdict"].as_str();
    assert!(matches!(verdict, Some("none" | "not proven")), "{answer}");
}

/// Proves a placement by binding, compared with its permutation.
fn prove_binding(mpi: Mpi, placement: &Path, launch: &[OsString]) -> Outcome {
    let mut command = Command::new(artifacts::command());
    command.arg("prove").arg(placement);
    command
        .args(["--apply", "bind", "--against"])
        .arg(placement);
    command.args(["--runs", "2", "--seed", "1", "--json", "--"]);
    command.args(launch).arg(artifacts::job(mpi, "where"));
    run_watched(
        command,
        LIMIT,
        &format!("binding and permutation under {mpi}"),
    )
}

fn binding_is_compared_with_the_permutation_of_the_same_placement(mpi: Mpi) {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let file = of_two_ranks(desk.path(), None, [1, 0], [0, 1]);
    let answer = |outcome: Outcome| -> Value {
        let outcome = outcome.succeeded();
        serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", outcome.told()))
    };
    let found = answer(prove_binding(mpi, &file, &mpi.launch(2, &[])));
    let names = [&found["ways"][0]["name"], &found["ways"][1]["name"]];
    assert_eq!(names, ["two.placement.yaml", "two.placement.yaml, bind"]);
    assert_eq!(found["whole"]["pairs"], 2, "{found}");
    // The job prints the cores of its ranks: one each if it is bound, all if it is not.
    assert_eq!(found["same_output"], false, "{found}");
    assert_eq!(found["remarks"], serde_json::json!([]), "{found}");
}

fn a_placement_that_is_not_applied_is_said(mpi: Mpi) {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let file = of_two_ranks(desk.path(), None, [1, 0], [0, 1]);
    let text = std::fs::read_to_string(&file).expect("it was written");
    let elsewhere = text.replace("physical: 0,1", "physical: 1000,1001");
    std::fs::write(&file, elsewhere).expect("it can be written");
    let outcome = prove_binding(mpi, &file, &mpi.launch(2, &[])).succeeded();
    let expected =
        "the library reports (two.placement.yaml, bind): error: apply: process 0 belongs";
    assert_eq!(
        outcome.stdout.matches(expected).count(),
        1,
        "{}",
        outcome.told()
    );
}

fn a_report_shows_the_runs(mpi: Mpi) {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let (page, picture) = (desk.path().join("r.html"), desk.path().join("r.svg"));
    let options = ["-o", "--output"].map(OsStr::new);
    let words = [
        options[0],
        page.as_os_str(),
        options[1],
        picture.as_os_str(),
    ];
    let words = [
        &words[..],
        &["--permutation", "1,0", "--runs", "3"].map(OsStr::new),
    ]
    .concat();
    let outcome = prove_job(mpi, &words, &["order_matters", "same"]).succeeded();
    let verdict = outcome.stdout.lines().last().unwrap_or_default();
    assert!(verdict.starts_with("verdict: "), "{}", outcome.told());
    assert!(
        outcome.stdout.contains("r.html: written, "),
        "{}",
        outcome.told()
    );
    let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
    let (page, picture) = (read(&page), read(&picture));
    // A dot for each run of both arms and for each pair.
    for drawn in [&page, &picture] {
        assert_eq!(drawn.matches("<circle").count(), 9, "{drawn}");
    }
    assert!(page.contains("order_matters same</h1>"), "{page}");
    let sentence = verdict.trim_start_matches("verdict: ");
    assert!(page.contains(sentence), "{sentence} is not in {page}");
}

/// Existing profiles have the verdict of the runs that `prove` starts.
fn groups_of_profiles_have_a_verdict_too(mpi: Mpi) {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let treepie = |words: &[&str]| {
        let mut command = Command::new(artifacts::command());
        command.current_dir(desk.path()).args(words);
        command
    };
    let file = |way: &str, number| format!("{way}-{number}.profile.yaml");
    for number in 1..=7 {
        let (plain, placed) = (file("plain", number), file("placed", number));
        for words in [
            &["profile", "--quiet", "--times", "-o", &plain][..],
            &[
                "replay",
                "--quiet",
                "--times",
                "--permutation",
                "1,0",
                "-o",
                &placed,
            ],
        ] {
            let mut command = treepie(words);
            command.arg("--").args(mpi.launch(2, &[]));
            command
                .arg(artifacts::job(mpi, "order_matters"))
                .arg("faster");
            run_watched(command, LIMIT, &format!("a run under {mpi}")).succeeded();
        }
    }
    let group = |way: &str| (1..=7).map(|number| file(way, number)).collect::<Vec<_>>();
    let mut command = treepie(&["prove", "--json"]);
    command
        .args(group("placed"))
        .arg("--against")
        .args(group("plain"));
    let outcome = run_watched(command, LIMIT, "treepie prove").succeeded();
    let found: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let gain = found["whole"]["gain"].as_f64();
    assert!(gain > Some(0.1), "{found}");
    assert_eq!(found["whole"]["pairs"], 7, "{found}");
    assert_eq!(found["ways"][1]["name"], "placed-*.profile.yaml");
}

under_each_mpi!(
    binding_is_compared_with_the_permutation_of_the_same_placement,
    a_placement_that_is_not_applied_is_said,
    a_report_shows_the_runs,
    groups_of_profiles_have_a_verdict_too,
    a_faster_order_is_proven_with_its_interval_in_few_runs,
    a_slower_order_is_worse_and_one_that_fails_too,
    an_equal_order_is_no_gain_and_what_is_printed_is_compared,
    a_job_that_fails_by_itself_is_an_error,
    two_equal_ways_are_not_called_different,
);
