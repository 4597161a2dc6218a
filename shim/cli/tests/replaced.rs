//! Profiles of replaced collectives: layers that are as run or modelled, traffic between clusters,
//! and placements for the plans that a replay will run.
#![allow(clippy::unwrap_used)]

mod support;

use support::Desk;
use treepie_base::{Cluster, Process};
use treepie_collective::{Locality, Operation, PlanRun, Record, Volume, size_class};
use treepie_profile::{Host, Profile};
use treepie_traffic::Traffic;

const PLATFORM: &str = include_str!("../../../profiles/two-clusters.platform.yaml");

/// Eight ranks, two on each of four hosts.
fn plain() -> Profile {
    let mut profile = Profile::new(8);
    profile.mpi.family = "open-mpi".into();
    profile.command = vec!["./app".into()];
    profile.allowed_cores = vec!["0-1".into(); 8].into();
    profile.hosts = ["a0", "a1", "b0", "b1"]
        .iter()
        .enumerate()
        .map(|(host, name)| Host {
            name: (*name).to_owned(),
            processes: [2 * host, 2 * host + 1].map(Process).to_vec(),
        })
        .collect();
    let record = |operation, root, bytes| Record {
        operation,
        group: (0..8).collect(),
        root,
        size_class: size_class(bytes),
        plan: None,
        calls: 10,
        volume: Volume::Uniform(10 * bytes),
    };
    profile.collectives = vec![
        record(Operation::Allgather, None, 1000),
        record(Operation::Bcast, Some(0), 1000),
    ];
    profile
}

/// The plain profile with the broadcasts run by plans, on the clusters of hosts a and b.
fn replaced() -> Profile {
    let mut profile = plain();
    profile.collectives[1].plan = Some(PlanRun {
        algorithm: "grid-chain".into(),
        segment: 1 << 16,
        unit_bytes: 1,
        ordered: false,
    });
    profile.locality = Some(Locality::Numbers {
        cluster_of_rank: Cluster::list([0, 0, 0, 0, 1, 1, 1, 1]),
        host_of_rank: vec![0, 0, 1, 1, 2, 2, 3, 3],
        inside: Vec::new(),
    });
    profile
}

fn desk() -> Desk {
    let desk = Desk::new();
    plain().write(&desk.path("plain.profile.yaml")).unwrap();
    replaced()
        .write(&desk.path("replaced.profile.yaml"))
        .unwrap();
    desk
}

#[test]
fn what_is_as_run_and_what_is_modelled_is_said_in_text_json_and_html() {
    let desk = desk();
    let shown = desk.run(&["show", "replaced.profile.yaml"]).good().out;
    for line in [
        "collectives (as run)",
        "collectives (modelled: open-mpi)",
        "allgather      the MPI",
        "bcast       grid-chain",
        "between the 2 clusters that plans were made for: ",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let answer = desk
        .run(&["show", "replaced.profile.yaml", "--json"])
        .good()
        .json();
    let of = |place: usize, field: &str| answer["collectives"][place][field].clone();
    assert_eq!(
        (of(1, "plan"), of(1, "model")),
        (serde_json::Value::Null, "open-mpi".into())
    );
    assert_eq!(
        (of(0, "plan"), of(0, "model")),
        ("grid-chain".into(), serde_json::Value::Null)
    );
    assert_eq!((of(0, "calls"), of(0, "bytes")), (10.into(), 70_000.into()));
    let words = [
        "report",
        "replaced.profile.yaml",
        "--topology",
        "4:2",
        "-o",
        "report.html",
    ];
    desk.run(&words).good();
    let page = desk.text("report.html");
    for part in [
        "<table id=\"collectives\">",
        "<td class=\"words\">grid-chain</td>",
        "<td class=\"words\">as run</td>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // An explicit model applies to all collectives.
    let words = ["show", "replaced.profile.yaml", "--model", "logical"];
    let modelled = desk.run(&words).good().out;
    assert!(!modelled.contains("as run"), "{modelled}");
}

#[test]
fn a_comparison_shows_what_goes_between_the_clusters_of_the_plans() {
    let desk = desk();
    let words = [
        "compare",
        "plain.profile.yaml",
        "replaced.profile.yaml",
        "--layer",
        "collectives",
    ];
    let text = desk.run(&words).good().out;
    let json = desk.run(&[&words[..], &["--json"]].concat()).good().json();
    let between = &json["between_clusters"];
    assert_eq!(between["clusters"], 2);
    let bytes = |which: &str| between[which].as_f64().unwrap();
    // A binomial tree also sends each broadcast across once, from rank 0 to rank 4: there is no
    // difference, except in the allgather, whose traffic is the same.
    assert_eq!(bytes("before"), bytes("after"));
    assert!(
        text.contains("\nbetween the 2 clusters that plans were made for: "),
        "{text}"
    );
    assert!(text.contains("collectives (as run)"), "{text}");
    let two_plain = desk
        .run(&["compare", "plain.profile.yaml", "plain.profile.yaml"])
        .good()
        .out;
    assert!(!two_plain.contains("clusters"), "{two_plain}");
}

/// Open MPI's allgather sends most between ranks that are half the world apart. The plans of the
/// replay send little between hosts, for any location of ranks: then communicating pairs stay
/// together.
#[test]
fn a_placement_is_for_the_plans_that_the_replay_will_run() {
    let desk = desk();
    desk.write("two.platform.yaml", PLATFORM);
    let mut profile = plain();
    for rank in 0..8 {
        let pair = Traffic::new(10, 20_000);
        profile.point_to_point.add(rank, rank ^ 1, pair);
    }
    profile.write(&desk.path("pairs.profile.yaml")).unwrap();
    let map = |options: &[&str]| {
        let words = ["map", "pairs.profile.yaml", "--topology", "2", "--platform"];
        desk.run(&[&words[..], &["two.platform.yaml"], options].concat())
    };
    // Two cores per host.
    let pairs_together = |options: &[&str]| {
        let answer = map(&[options, &["--json"]].concat()).good().json();
        let host = |rank: usize| answer["assignment"][rank].as_u64().unwrap() / 2;
        let together = (0..4).filter(|pair| host(2 * pair) == host(2 * pair + 1));
        (together.count(), answer["collectives"].clone())
    };
    assert_eq!(pairs_together(&[]), (0, serde_json::Value::Null));
    let (together, said) = pairs_together(&["--collectives", "auto"]);
    assert_eq!(together, 4);
    let expected = "collectives as auto runs them on two.platform.yaml: bcast by the MPI, allgather \
                    by grid-lanes";
    assert_eq!(said, expected);
    let named = ["--collectives", "allgather=grid-exchange"];
    assert_eq!(pairs_together(&named).0, 4);
    assert!(
        map(&named)
            .good()
            .out
            .contains("allgather by grid-exchange")
    );
}

#[test]
fn what_map_can_not_place_for_is_refused_with_what_there_is() {
    let desk = desk();
    desk.write("two.platform.yaml", PLATFORM);
    desk.write(
        "m.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n",
    );
    let refused = |words: &[&str]| {
        let answer = desk.run(words);
        assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
        answer.err
    };
    let without = ["map", "plain.profile.yaml", "--collectives", "auto"];
    assert!(refused(&without).contains("--platform"));
    let platform = ["--platform", "two.platform.yaml", "--collectives"];
    let unknown = [
        &["map", "plain.profile.yaml"],
        &platform[..],
        &["bcast=teleport"],
    ]
    .concat();
    let expected = "bcast has no algorithm `teleport`; known are native, auto, ";
    assert!(refused(&unknown).contains(expected));
    let matrix = [&["map", "m.mtx"], &platform[..], &["auto"]].concat();
    assert!(
        refused(&matrix).contains("m.mtx: has no calls of collectives for --collectives to run")
    );
}

#[test]
fn a_plan_that_this_version_does_not_know_is_refused_by_its_name() {
    let desk = desk();
    let text = desk.text("replaced.profile.yaml");
    desk.write(
        "newer.profile.yaml",
        &text.replace("plan=grid-chain", "plan=teleport"),
    );
    for words in [
        &["show", "newer.profile.yaml"][..],
        &["map", "newer.profile.yaml", "--topology", "4:2"],
        &["compare", "replaced.profile.yaml", "newer.profile.yaml"],
    ] {
        let line = desk.run(words).refusal(1);
        assert_eq!(
            line,
            "newer.profile.yaml: collectives.rows[1]: a bcast was run by the algorithm `teleport`, \
             which this treepie does not know; read it with the treepie that wrote it"
        );
    }
}
