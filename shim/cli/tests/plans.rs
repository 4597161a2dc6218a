//! `treepie predict`: the time of replaced collectives, and plans for other simulators.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Desk, trace_events, two_clusters};
use treepie_collective::Operation;
use treepie_profile::settings::Collectives;

#[test]
fn every_plan_is_listed_beside_the_mpis_own_and_the_bound_and_the_chosen_one_is_marked() {
    let desk = Desk::new();
    let arguments = ["--collective", "allreduce", "--bytes", "64K"];
    let platform = two_clusters();
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
        "  memory\n",
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
        assert!(row["moved"]["read"].as_u64().unwrap() > 0, "{row}");
    }
}

#[test]
fn a_plan_is_exported_as_goal_as_traces_and_as_bars_in_time() {
    let desk = Desk::new();
    let platform = two_clusters();
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
            "--segment",
            "16K",
            "-o",
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
    export("b.trace.json");
    let found = trace_events(&desk.text("b.trace.json"));
    let arrows = found.iter().filter(|event| event["ph"] == "s");
    assert_eq!(arrows.count(), 64 * 15);
    let rows = found.iter().filter(|event| event["name"] == "thread_name");
    assert_eq!(rows.count(), 16);
}

#[test]
fn wrong_strategies_endings_and_unknown_collectives_are_refused_with_what_to_write() {
    let desk = Desk::new();
    let platform = two_clusters();
    let refused = |arguments: &[&str], expected: &str| {
        let all = [&["predict", platform.as_str(), "--collective"], arguments].concat();
        let text = desk.run(&all).refusal(2);
        assert!(text.contains(expected), "{text}");
    };
    refused(
        &["bcast", "--algorithm", "much"],
        "--algorithm much: bcast has no algorithm `much`; known are flat, chain",
    );
    refused(
        &["bcast", "--algorithm", "chain@flat"],
        "chain of bcast has no trees inside clusters that a shape could be given; of bcast, \
         grid-flat, grid-chain",
    );
    refused(
        &["bcast", "--algorithm", "grid-chain@flat/chain/flat"],
        "names trees of 3 levels, and clusters have 2 levels here; name at most 2",
    );
    refused(
        &["allgather", "--algorithm", "mixed-radix:1"],
        "its radix is a number from 2 to 1024, 16 without it",
    );
    refused(
        &["bcast", "-o", "b.txt"],
        "-o b.txt: unknown ending; write .svg, .png, .json, .trace.json, .goal or .ti",
    );
    refused(&["much"], "no collective is called `much`");
    refused(
        &["bcast", "--ranks", "16385"],
        "bcast among 16385 ranks: messages of at most 16384 are followed; make clusters smaller \
         with --ranks 16384",
    );
    refused(
        &["alltoall", "--ranks", "4097"],
        "make clusters smaller with --ranks 4096",
    );
}

#[test]
fn a_plan_that_is_named_has_its_messages_and_its_trees() {
    let desk = Desk::new();
    let platform = two_clusters();
    let predicted = |plan: &str| {
        let arguments = [
            "--collective",
            "bcast",
            "--bytes",
            "1M",
            "--algorithm",
            plan,
        ];
        let all = [&["predict", platform.as_str()], &arguments[..], &["--json"]].concat();
        desk.run(&all).good().json()["algorithms"][0].clone()
    };
    let named = predicted("grid-chain/4K@binomial/chain");
    assert_eq!(named["segment"], 4096, "{named}");
    assert_eq!(named["inside"], "binomial/chain", "{named}");
    let other = predicted("grid-chain/4K@flat");
    assert_eq!(other["inside"], "flat/flat", "{other}");
    assert_ne!(named["simulated"], other["simulated"]);
}

#[test]
fn the_choices_are_one_line_that_the_setting_reads() {
    let desk = Desk::new();
    let platform = two_clusters();
    let line = desk.run(&["predict", &platform, "--choices"]).good().out;
    let setting = line
        .trim_end()
        .strip_prefix("TREEPIE_COLLECTIVES=")
        .unwrap();
    let collectives: Collectives = setting.parse().unwrap();
    assert_eq!(collectives.to_string(), setting);
    for (operation, name, bytes) in [
        (Operation::Bcast, "bcast", 3 << 19),
        (Operation::Allreduce, "allreduce", 8),
    ] {
        let bytes_word = bytes.to_string();
        let arguments = ["--collective", name, "--bytes", &bytes_word, "--json"];
        let all = [&["predict", platform.as_str()], &arguments[..]].concat();
        let chosen = desk.run(&all).good().json()["chosen"].clone();
        let runner = collectives.runner(operation).of(Some(bytes)).to_string();
        let algorithm = runner.split('/').next().unwrap();
        assert_eq!(chosen, algorithm, "{setting}");
    }
}

#[test]
fn trees_inside_clusters_are_named_beside_the_tree_between_them() {
    let desk = Desk::new();
    let platform = two_clusters();
    let first = [
        "predict",
        &platform,
        "--collective",
        "bcast",
        "--ranks",
        "128",
        "--bytes",
    ];
    let inside = |bytes: &str| {
        let all = [&first[..], &[bytes, "--json"]].concat();
        let json = desk.run(&all).good().json();
        let rows = json["algorithms"].as_array().unwrap();
        let row = rows.iter().find(|row| row["algorithm"] == "grid-chain");
        let text = desk.run(&all[..all.len() - 1]).good().out;
        let inside = row.unwrap()["inside"].as_str().unwrap().to_owned();
        assert!(
            text.contains(&format!("grid-chain over {inside}")),
            "{text}"
        );
        inside
    };
    // A short message is sent to all hosts one by one, a long one along a tree of few children.
    assert_ne!(inside("8"), inside("4M"));
}

#[test]
fn other_numbers_of_ranks_are_predicted() {
    let desk = Desk::new();
    let platform = two_clusters();
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

#[test]
fn contention_is_left_out_and_said_among_other_numbers_of_ranks_than_it_was_fitted_to() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(two_clusters()).unwrap();
    let first = text.find("  leader: 0\n").unwrap();
    let (before, after) = text.split_at(first);
    let contention = "  contention: {gamma: 3, delta_us: 0, threshold: 0}\n";
    desk.write("p.yaml", &[before, contention, after].concat());
    let of = |ranks: &[&str]| {
        let call = [
            "predict",
            "p.yaml",
            "--collective",
            "alltoall",
            "--bytes",
            "64K",
        ];
        desk.run(&[&call[..], ranks].concat()).good()
    };
    let json = of(&["--json"]).json();
    assert_eq!(json["contention_left_out"], serde_json::json!([]));
    let twice = (2 * json["ranks"].as_u64().unwrap()).to_string();
    let left_out = &of(&["--json", "--ranks", &twice]).json()["contention_left_out"];
    let one = &left_out[0];
    assert_eq!(left_out.as_array().unwrap().len(), 1, "{left_out}");
    assert_eq!(
        one["ranks"].as_u64(),
        one["fitted_ranks"].as_u64().map(|fitted| 2 * fitted)
    );
    let table = of(&["--ranks", &twice]).out;
    assert!(table.contains("  left out: contention of "), "{table}");
}
