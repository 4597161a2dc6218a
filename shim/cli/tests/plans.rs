//! `treepie predict`: what replaced collectives would take, and plans for other simulators.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::Desk;

fn platform() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let path = folder.join("two-clusters.platform.yaml");
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_plan_is_listed_beside_the_mpis_own_and_the_bound_and_the_chosen_one_is_marked() {
    let desk = Desk::new();
    let arguments = ["--collective", "allreduce", "--bytes", "64K"];
    let platform = platform();
    let all = [&["predict", platform.as_str()], &arguments[..]].concat();
    let answer = desk.run(&all).good();
    let out = &answer.out;
    let marked: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("  * "))
        .collect();
    assert_eq!(
        marked.len(),
        2,
        "a row, and the line below that says why: {out}"
    );
    assert!(
        marked[1].contains("chosen by TREEPIE_COLLECTIVES=auto"),
        "{out}"
    );
    for expected in [
        "at least ",
        "grid-exchange",
        "grid-direct",
        "the MPI's own (open-mpi)",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    let json = desk.run(&[&all[..], &["--json"]].concat()).good().json();
    let least = json["bound"].as_f64().unwrap();
    let chosen = json["chosen"].as_str().unwrap();
    let strategies = json["algorithms"].as_array().unwrap();
    assert!(
        strategies.iter().any(|row| row["algorithm"] == chosen),
        "{json}"
    );
    for row in strategies {
        let simulated = row["simulated"].as_f64().unwrap();
        assert!(simulated >= least, "{row} below {least}");
        assert_eq!(row["seconds"], row["simulated"], "{row}");
        if let Some(estimated) = row["estimated"].as_f64() {
            assert!((0.4..2.5).contains(&(estimated / simulated)), "{row}");
        }
    }
}

#[test]
fn a_plan_is_exported_as_goal_as_traces_and_as_bars_in_time() {
    let desk = Desk::new();
    let platform = platform();
    let export = |out: &str| {
        let arguments = [
            "predict",
            &platform,
            "--collective",
            "bcast",
            "--bytes",
            "1M",
            "--algorithm",
            "ecef-lat",
            "--largest",
            "16K",
            "--export",
            out,
        ];
        desk.run(&arguments).good();
    };
    export("b.goal");
    let goal = desk.text("b.goal");
    assert!(goal.starts_with("num_ranks 16\n"), "{goal}");
    // 64 messages to each of 15 ranks.
    assert_eq!(goal.matches(": send 16384b to ").count(), 64 * 15);
    export("b.ti");
    assert_eq!(desk.text("b.ti").lines().count(), 16);
    let traces: String = (0..16)
        .map(|rank| desk.text(&format!("b.rank{rank}.ti")))
        .collect();
    assert_eq!(traces.matches(" isend ").count(), 64 * 15);
    assert!(desk.text("b.platform.xml").contains("<zoneRoute "));
    assert_eq!(desk.text("b.hosts").lines().count(), 16);
    export("b.json");
    let bars: serde_json::Value = serde_json::from_str(&desk.text("b.json")).unwrap();
    assert_eq!(bars["algorithm"], "grid-ecef-lat");
    let sends = bars["bars"].as_array().unwrap().iter();
    assert_eq!(sends.filter(|bar| bar["doing"] == "send").count(), 64 * 15);
}

#[test]
fn wrong_strategies_endings_and_unknown_collectives_are_refused_with_what_to_write() {
    let desk = Desk::new();
    let platform = platform();
    let refused = |arguments: &[&str], expected: &str| {
        let all = [&["predict", platform.as_str(), "--collective"], arguments].concat();
        let text = desk.run(&all).refusal(2);
        assert!(text.contains(expected), "{text}");
    };
    refused(
        &["bcast", "--algorithm", "much"],
        "--algorithm much: there is none for bcast; write one of flat, chain",
    );
    refused(
        &["bcast", "--export", "b.txt"],
        "--export b.txt: unknown ending; write .goal, .ti or .json",
    );
    refused(&["much"], "no collective is called `much`");
}

#[test]
fn options_of_older_versions_are_accepted_and_said_and_formulas_are_a_column() {
    let desk = Desk::new();
    let platform = platform();
    let arguments = [
        "predict",
        &platform,
        "--collective",
        "bcast",
        "--bytes",
        "8",
    ];
    let plain = desk.run(&arguments).good();
    let old = desk
        .run(&[&arguments[..], &["--plans", "--simulate"]].concat())
        .good();
    assert_eq!(plain.out, old.out);
    assert!(
        old.err.contains("--plans is the default now"),
        "{}",
        old.err
    );
    let with = desk
        .run(&[&arguments[..], &["--form", "thesis"]].concat())
        .good();
    assert!(!plain.out.contains("formula") && with.out.contains("formula"));
}

#[test]
fn other_numbers_of_ranks_are_predicted() {
    let desk = Desk::new();
    let platform = platform();
    for ranks in ["4", "16", "50"] {
        let arguments = [
            "predict",
            &platform,
            "--collective",
            "scan",
            "--ranks",
            ranks,
            "--json",
        ];
        let answer = desk.run(&arguments).good().json();
        assert_eq!(answer["ranks"].to_string(), ranks);
        assert!(answer["best"].is_string());
    }
}
