//! Profiles of replaced collectives: what is as run and what is modelled, what goes between clusters,
//! and placements for the plans that a replay will run.
#![allow(clippy::unwrap_used)]

mod support;

use support::Desk;
use treepie_core::collective::{Locality, Operation, PlanRun, Record, Volume, size_class};
use treepie_core::files::profile::{Host, Profile};

const PLATFORM: &str = include_str!("../../../profiles/two-clusters.platform.yaml");

/// Eight ranks, two on each of four hosts.
fn plain() -> Profile {
    let mut profile = Profile::new(8);
    profile.mpi.family = "open-mpi".into();
    profile.command = vec!["./app".into()];
    profile.allowed_cores = vec!["0-1".into(); 8];
    profile.hosts = ["a0", "a1", "b0", "b1"]
        .iter()
        .enumerate()
        .map(|(host, name)| Host {
            name: (*name).to_owned(),
            processes: vec![2 * host, 2 * host + 1],
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

/// The same where plans ran the broadcasts, on the clusters of hosts a and b.
fn replaced() -> Profile {
    let mut profile = plain();
    profile.collectives[1].plan = Some(PlanRun {
        algorithm: "grid-chain".into(),
        segment: 1 << 16,
        unit_bytes: 1,
        ordered: false,
    });
    profile.locality = Some(Locality::Numbers {
        cluster_of_rank: vec![0, 0, 0, 0, 1, 1, 1, 1],
        host_of_rank: vec![0, 0, 1, 1, 2, 2, 3, 3],
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
        "allgather   the MPI",
        "bcast       grid-chain",
        // Once from cluster to cluster for each broadcast, and the blocks of the allgather.
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
        (of(0, "plan"), of(0, "model")),
        (serde_json::Value::Null, "open-mpi".into())
    );
    assert_eq!(
        (of(1, "plan"), of(1, "model")),
        ("grid-chain".into(), serde_json::Value::Null)
    );
    assert_eq!((of(1, "calls"), of(1, "bytes")), (10.into(), 70_000.into()));
    let words = [
        "show",
        "replaced.profile.yaml",
        "--topology",
        "4:2",
        "--html",
        "report.html",
    ];
    desk.run(&words).good();
    let page = desk.text("report.html");
    for part in [
        "<table id=\"collectives\">",
        "<td>grid-chain</td>",
        "<td>as run</td>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A model that is named stands for all collectives.
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
    // A binomial tree sends each broadcast over once as well, from rank 0 to rank 4: no difference,
    // but for what the allgather sends, which is the same.
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

#[test]
fn a_placement_for_plans_keeps_what_they_send_inside_clusters() {
    let desk = desk();
    desk.write("two.platform.yaml", PLATFORM);
    let words = [
        "map",
        "plain.profile.yaml",
        "--topology",
        "4:2",
        "--platform",
        "two.platform.yaml",
    ];
    let text = desk
        .run(&[&words[..], &["--collectives", "auto"]].concat())
        .good()
        .out;
    let line = "  collectives as auto runs them on two.platform.yaml: allgather by grid-";
    assert!(text.contains(line), "{text}");
    let refused = |words: &[&str]| desk.run(words).err;
    let without = [
        "map",
        "plain.profile.yaml",
        "--topology",
        "4:2",
        "--collectives",
        "auto",
    ];
    assert!(
        refused(&without).contains("--platform"),
        "{}",
        refused(&without)
    );
    let unknown = [&words[..], &["--collectives", "bcast=teleport"]].concat();
    let error = refused(&unknown);
    assert!(
        error.contains("bcast has no algorithm `teleport`; known are native, auto, "),
        "{error}"
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
