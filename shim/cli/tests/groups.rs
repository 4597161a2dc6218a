//! `treepie compare` of two groups of profiles: the verdict of `treepie prove` on given runs.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use support::{Desk, halo, is_picture, text_of};
use treepie_base::{Process, Rank};
use treepie_profile::{Host, Profile, Times};
use treepie_traffic::times::{CallClass, CallTime};

/// A run that began at this minute and took this number of milliseconds, half of them in MPI.
fn run(minute: usize, milliseconds: u64) -> Profile {
    let mut profile = halo();
    profile.header.date = format!("2026-11-21T04:{minute:02}:00Z");
    let ranks = profile.ranks;
    let time = CallTime {
        calls: 1,
        nanoseconds: milliseconds * 500_000,
    };
    profile.times = Some(Times {
        elapsed: vec![milliseconds * 1_000_000; ranks].into(),
        classes: BTreeMap::from([(CallClass::Send, vec![time; ranks].into())]),
    });
    profile
}

/// Milliseconds of the worked example: the candidate wins all seven pairs.
const PLAIN: [u64; 7] = [10310, 10280, 10400, 10350, 10300, 10330, 10290];
const PLACED: [u64; 7] = [9800, 9830, 9790, 9950, 9810, 9840, 9820];

/// A desk with a profile of each run, `plain-1.yaml` to `placed-7.yaml`, started in the order of
/// `minute`.
fn desk_of(minute: impl Fn(usize, usize) -> usize) -> Desk {
    let desk = Desk::new();
    for (way, (name, times)) in [("plain", PLAIN), ("placed", PLACED)].iter().enumerate() {
        for (at, milliseconds) in times.iter().enumerate() {
            let file = desk.path(&format!("{name}-{}.yaml", at + 1));
            run(minute(way, at), *milliseconds).write(&file).unwrap();
        }
    }
    desk
}

/// Both arms alternately; the first one changes from pair to pair.
fn in_turn(way: usize, at: usize) -> usize {
    2 * at + (way + at) % 2
}

/// The first `count` profiles of a group.
fn files(name: &str, count: usize) -> Vec<String> {
    (1..=count).map(|at| format!("{name}-{at}.yaml")).collect()
}

/// `treepie prove FILES --against BASELINE OPTIONS`.
fn compare_files(
    desk: &Desk,
    files: Vec<String>,
    against: Vec<String>,
    options: &[&str],
) -> support::Answer {
    let command = vec!["prove".to_owned()];
    let words = [command, files, vec!["--against".to_owned()], against].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    desk.run(&[&words, options].concat())
}

/// The first profiles of each group, with `plain` as the reference.
fn compare(desk: &Desk, [plain, placed]: [usize; 2], options: &[&str]) -> support::Answer {
    let against = files("plain", plain);
    compare_files(desk, files("placed", placed), against, options)
}

#[test]
fn groups_have_the_verdict_of_paired_runs() {
    let answer = compare(&desk_of(in_turn), [7, 7], &[]).good().out;
    let expected = "
  median seconds  from MPI_Init to MPI_Finalize  in MPI
  plain-*.yaml                           10.3 s  5.16 s
  placed-*.yaml                          9.82 s  4.91 s
  change                                 -4.7 %  -4.7 %

7 pairs by the order of their dates, 7 of them won
verdict: gain of 4.7 % (at least ";
    assert!(format!("\n{answer}").starts_with(expected), "{answer}");
    let json = compare(&desk_of(in_turn), [7, 7], &["--json"])
        .good()
        .json();
    assert_eq!(json["verdict"], "gain");
    let whole = |name: &str| json["whole"][name].as_f64().unwrap();
    assert!(
        whole("at_least") > 0.0 && whole("at_least") < whole("gain"),
        "{json}"
    );
    assert_eq!(json["ways"][1]["seconds"][3], 9.95);
    assert_eq!(json["ways"][1]["seconds_in_mpi"][3], 4.975);
    assert_eq!(json["remarks"], serde_json::json!([]));
}

#[test]
fn the_other_way_round_it_is_worse_and_a_larger_difference_does_not_change_that() {
    let desk = desk_of(in_turn);
    let options = ["--difference", "10"];
    let answer = compare_files(&desk, files("plain", 7), files("placed", 7), &options);
    let answer = answer.good().out;
    assert!(answer.contains("verdict: worse by "), "{answer}");
}

#[test]
fn few_profiles_prove_nothing_and_the_answer_says_how_many_do() {
    let answer = compare(&desk_of(in_turn), [2, 2], &[]).good().out;
    let expected = "verdict: not proven: too few runs; give profiles of more runs, seven of each \
                    at least\n";
    assert!(answer.ends_with(expected), "{answer}");
}

#[test]
fn pairs_follow_the_dates_whatever_the_order_of_the_names() {
    // The later a file by its name, the earlier its run.
    let desk = desk_of(|way, at| 20 - 2 * at + (way + at) % 2);
    let json = compare(&desk, [7, 7], &["--json"]).good().json();
    assert_eq!(json["ways"][0]["files"][0], "plain-7.yaml");
    assert_eq!(json["ways"][0]["dates"][0], "2026-11-21T04:08:00Z");
    assert_eq!(json["ways"][1]["seconds"][6], 9.8);
}

#[test]
fn profiles_without_a_partner_are_left_out_and_named() {
    let answer = compare(&desk_of(in_turn), [7, 5], &[]).good().out;
    assert!(
        answer.contains("5 pairs by the order of their dates"),
        "{answer}"
    );
    let expected = "2 profiles without a partner left out: plain-6.yaml, plain-7.yaml";
    assert!(answer.contains(expected), "{answer}");
}

#[test]
fn an_order_that_may_explain_the_difference_is_said() {
    type Minute = fn(usize, usize) -> usize;
    let orders: [(Minute, Option<&str>); 4] = [
        (
            |way, at| 10 * way + at,
            Some("CAUTION: all runs of plain-*.yaml were before those of placed-*.yaml"),
        ),
        (
            |way, at| 10 * (1 - way) + at,
            Some("CAUTION: all runs of placed-*.yaml were before those of plain-*.yaml"),
        ),
        (
            |way, at| 2 * at + way,
            Some("CAUTION: in every pair plain-*.yaml ran first"),
        ),
        (in_turn, None),
    ];
    for (minute, expected) in orders {
        let answer = compare(&desk_of(minute), [7, 7], &[]).good().out;
        match expected {
            Some(expected) => assert_eq!(answer.matches(expected).count(), 1, "{answer}"),
            None => assert!(!answer.contains("CAUTION"), "{answer}"),
        }
    }
}

#[test]
fn another_command_or_mpi_is_said_once() {
    let desk = desk_of(in_turn);
    for at in [3, 4] {
        let mut other = run(in_turn(1, at - 1), 9800);
        other.command = vec!["./halo3d".into()];
        other
            .write(&desk.path(&format!("placed-{at}.yaml")))
            .unwrap();
    }
    let answer = compare(&desk, [7, 7], &[]).good().out;
    let expected = "CAUTION: another command in placed-3.yaml (./halo3d) than in plain-1.yaml \
                    (./halo2d 100); that may be the difference\n";
    assert_eq!(answer.matches(expected).count(), 1, "{answer}");
    assert_eq!(answer.matches("CAUTION").count(), 1, "{answer}");
}

#[test]
fn groups_that_cannot_be_compared_are_refused_by_name() {
    let desk = desk_of(in_turn);
    halo().write(&desk.path("untimed.yaml")).unwrap();
    let mut lost = run(3, 9);
    lost.missing_ranks = [2, 3].map(Rank).to_vec();
    lost.write(&desk.path("lost.yaml")).unwrap();
    let mut few = Profile::new(2);
    few.hosts = vec![Host {
        name: "mygale".into(),
        processes: [0, 1].map(Process).to_vec(),
    }];
    few.times = Some(Times::new(2));
    few.write(&desk.path("few.yaml")).unwrap();
    desk.write("a.mtx", "");
    for (file, status, expected) in [
        (
            "untimed.yaml",
            1,
            "untimed.yaml: has no times; take it with `treepie profile --times`",
        ),
        (
            "lost.yaml",
            1,
            "lost.yaml: 2 ranks left nothing, because the job ended before",
        ),
        (
            "few.yaml",
            1,
            "plain-1.yaml has 16 ranks and few.yaml has 2 ranks; compare files",
        ),
        (
            "plain-1.yaml",
            2,
            "plain-1.yaml: is named twice, and a run counts once",
        ),
        ("./plain-1.yaml", 2, "./plain-1.yaml: is named twice"),
        ("a.mtx", 2, "a.mtx: is a matrix, and groups are of profiles"),
    ] {
        let words = ["prove", file, "--against", "plain-1.yaml"];
        let refusal = desk.run(&words).refusal(status);
        // The reference group is read first, and `file` is of the other.
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    // Neither a job nor a second group.
    let words = ["prove", "plain-1.yaml", "placed-1.yaml"];
    let refusal = desk.run(&words).refusal(2);
    assert!(
        refusal.starts_with("no job: write it after --"),
        "{refusal}"
    );
    let job = ["prove", "plain-1.yaml", "placed-1.yaml", "--", "mpirun"];
    let refusal = desk.run(&job).refusal(2);
    assert!(refusal.starts_with("FILE placed-1.yaml: "), "{refusal}");
    let job_alone = ["--time-limit", "1h"];
    let refusal = compare(&desk, [1, 1], &job_alone).refusal(2);
    assert!(refusal.contains("<COMMAND>"), "{refusal}");
}

#[test]
fn the_page_has_verdict_medians_distributions_and_all_runs() {
    let desk = desk_of(in_turn);
    let options = ["-o", "report.html", "-o", "times.png"];
    let answer = compare(&desk, [7, 7], &options).good().out;
    assert!(answer.contains("report.html: written, "), "{answer}");
    assert!(
        answer.lines().last().unwrap().starts_with("verdict: gain"),
        "{answer}"
    );
    assert!(is_picture(&desk.path("times.png")));
    let page = desk.text("report.html");
    assert_eq!(text_of(&page, "change"), "-4.7 %");
    assert_eq!(text_of(&page, "won"), "7");
    let verdict = text_of(&page, "verdict");
    assert!(
        verdict.contains("placed-*.yaml, compared with plain-*.yaml: gain of 4.7 %"),
        "{verdict}"
    );
    assert!(text_of(&page, "medians").contains("placed-*.yaml 9.82 s 4.91 s"));
    let last = "7: plain-7.yaml, placed-7.yaml 10.2900 9.8200 -4.6 % 5.1450 4.9100";
    assert!(
        text_of(&page, "pairs").ends_with(last),
        "{}",
        text_of(&page, "pairs")
    );
    // A dot for each run, and for each pair.
    let figure = page.split("<figure id=\"distributions\">").nth(1).unwrap();
    assert_eq!(figure.matches("<circle").count(), 3 * 7);
    assert!(page.contains("<h1>./halo2d 100</h1>"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_compared() {
    let desk = desk_of(in_turn);
    for (file, expected) in [
        ("nowhere/r.html", "there is no directory nowhere"),
        ("times.gif", "is no picture's name"),
    ] {
        let refusal = compare(&desk, [1, 1], &["-o", file]).refusal(2);
        assert!(refusal.contains(expected), "{refusal}");
    }
}
