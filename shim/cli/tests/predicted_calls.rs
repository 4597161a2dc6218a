//! `treepie predict` for other calls than blocking collectives of equal blocks: started
//! collectives, those among neighbours, blocks of different sizes, and pieces that lie apart.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Desk, two_clusters};

#[test]
fn what_is_started_is_predicted_as_the_mpi_goes_on_with_it() {
    let desk = Desk::new();
    let platform = two_clusters();
    let answer = |words: &[&str]| {
        let all = [&["predict", platform.as_str(), "--collective"], words].concat();
        desk.run(&all).good()
    };
    let names = |json: &serde_json::Value| -> Vec<String> {
        let rows = json["algorithms"].as_array().unwrap().iter();
        rows.map(|row| row["algorithm"].as_str().unwrap().to_owned())
            .collect()
    };
    for name in ["iallreduce", "allreduce-init", "MPICH: Iallreduce"] {
        let (name, native) = match name.strip_prefix("MPICH: ") {
            Some(name) => (name, "mpich"),
            None => (name, "open-mpi"),
        };
        let words = [name, "--bytes", "8", "--mpi", native, "--json"];
        let json = answer(&words).json();
        assert_eq!(json["collective"], name.to_lowercase());
        assert_eq!(json["chosen"], "at-once", "one latency: {json}");
        let (progress, is_any) = match native {
            "mpich" => ("own", false),
            _ => ("called", true),
        };
        assert_eq!(json["progress"], progress);
        assert_eq!(names(&json).len() > 1, is_any, "{json}");
        let mpi = json["native"]["estimated"].as_f64().unwrap();
        let least = json["bound"].as_f64().unwrap();
        let ours = json["algorithms"][0]["seconds"].as_f64().unwrap();
        assert!(least <= ours && ours < 0.7 * mpi, "{json}");
    }
    let text = answer(&["iscan", "--mpi", "mpich", "--bytes", "1K"]).out;
    assert!(text.contains(": iscan of 1 KiB among 16 ranks"), "{text}");
    assert!(text.contains("* at-once"), "{text}");
    let refused = ["ibcast", "--algorithm", "binomial", "--progress", "own"];
    let all = [
        &["predict", platform.as_str(), "--collective"],
        &refused[..],
    ]
    .concat();
    let said = desk.run(&all).refusal(2);
    assert!(
        said.contains("--algorithm binomial: its messages wait"),
        "{said}"
    );
}

#[test]
fn neighbours_are_a_grid_or_the_entries_of_a_matrix_and_their_plans_are_drawn() {
    let desk = Desk::new();
    let platform = two_clusters();
    let answer = |words: &[&str]| {
        let all = [&["predict", platform.as_str(), "--collective"], words].concat();
        desk.run(&all).good().json()
    };
    let torus = [
        "ineighbor-alltoall",
        "--neighbours",
        "torus:4x4",
        "--bytes",
        "64K",
        "--json",
    ];
    let json = answer(&torus);
    assert_eq!(json["chosen"], "flat", "{json}");
    assert_eq!(json["neighbours"], "torus:4x4");
    let (least, mpi) = (json["bound"].as_f64().unwrap(), &json["native"]["seconds"]);
    let ours = json["algorithms"][0]["seconds"].as_f64().unwrap();
    assert!(least <= ours && ours < mpi.as_f64().unwrap(), "{json}");
    // All of one cluster to rank 0, and rank 0 to all of the other.
    let mut lines = String::from("%%MatrixMarket matrix coordinate integer general\n16 16 15\n");
    (2..=8).for_each(|rank| lines += &format!("{rank} 1 1\n"));
    (9..=16).for_each(|rank| lines += &format!("1 {rank} 1\n"));
    desk.write("star.mtx", &lines);
    let matrix = "star.mtx";
    let star = [
        "neighbor-allgather",
        "--neighbours",
        matrix,
        "--bytes",
        "64K",
    ];
    let json = answer(&[&star[..], &["--json"]].concat());
    assert_eq!(json["chosen"], "grid-relay", "{json}");
    let seconds = |name: &str| {
        let rows = json["algorithms"].as_array().unwrap().iter();
        let mut found = rows.filter(|row| row["algorithm"] == name);
        found.next().unwrap()["seconds"].as_f64().unwrap()
    };
    assert!(seconds("flat") > 3.0 * seconds("grid-relay"), "{json}");
    // The plan: once between the clusters, and in time.
    let drawn = ["--algorithm", "grid-relay", "-o", "plan.svg", "--json"];
    let json = answer(&[&star[..], &drawn[..]].concat());
    assert_eq!(json["plan"]["bytes_between_clusters"], 64 << 10, "{json}");
    let picture = desk.text("plan.svg");
    assert!(
        picture.contains("neighbor-allgather by grid-relay"),
        "{picture}"
    );
}

#[test]
fn neighbours_that_do_not_fit_are_refused_with_what_to_write() {
    let desk = Desk::new();
    let platform = two_clusters();
    let refused = |arguments: &[&str], expected: &str| {
        let all = [&["predict", platform.as_str(), "--collective"], arguments].concat();
        let text = desk.run(&all).refusal(2);
        assert!(text.contains(expected), "{text}");
    };
    refused(
        &["neighbor-alltoall"],
        "depends on the neighbours of each rank; name them: --neighbours torus:4x4",
    );
    refused(
        &["alltoall", "--neighbours", "torus:4x4"],
        "alltoall is of all ranks alike; leave it out",
    );
    refused(
        &["neighbor-alltoall", "--neighbours", "torus:4x5"],
        "has 20 ranks, the platform 16",
    );
    refused(
        &["neighbor-alltoall", "--neighbours", "dragonfly:4,8,4"],
        "is no grid; write torus:4x4",
    );
}

#[test]
fn sizes_of_blocks_are_the_entries_of_a_matrix_and_decide_where_all_ranks_know_them() {
    let desk = Desk::new();
    let platform = two_clusters();
    // Sizes from each rank to each; one in eight is long.
    let size = |from: usize, to: usize| {
        if (from + 3 * to).is_multiple_of(8) {
            60_000
        } else {
            100
        }
    };
    let row = |from: usize| (0..16).map(move |to| size(from, to).to_string());
    let rows: Vec<String> = (0..16)
        .map(|from| row(from).collect::<Vec<_>>().join(","))
        .collect();
    desk.write("sizes.csv", &rows.join("\n"));
    let all = |words: &[&'static str]| -> Vec<&str> {
        let first = ["predict", platform.as_str(), "--collective"];
        [&first, words, &["--block-sizes", "sizes.csv"]].concat()
    };
    for name in [
        "alltoallv",
        "gatherv",
        "scatterv",
        "alltoallv-init",
        "ialltoallv",
    ] {
        let json = desk
            .run(&[&all(&[name])[..], &["--json"]].concat())
            .good()
            .json();
        assert_eq!(json["sizes"], "sizes.csv");
        let best = &json["algorithms"][0];
        let (least, seconds) = (
            json["bound"].as_f64().unwrap(),
            best["seconds"].as_f64().unwrap(),
        );
        assert!(0.0 < least && least <= seconds, "{json}");
        // A consequence of what each rank knows alone.
        let chosen = json["chosen"].as_str().unwrap();
        match name {
            // No plan gains enough over those that need no sizes.
            "alltoallv-init" => assert_eq!(chosen, "native", "{json}"),
            "ialltoallv" => assert_eq!(chosen, "native", "{json}"),
            _ => assert!(["flat", "grid-aggregate"].contains(&chosen), "{json}"),
        }
    }
    let text = desk.run(&all(&["alltoallv"])).good().out;
    assert!(
        text.contains(": alltoallv of 7.41 KiB on average among 16 ranks"),
        "{text}"
    );
    let said = desk.run(&all(&["bcast"])).refusal(2);
    assert!(
        said.contains("bcast has blocks of one size; give it as --bytes"),
        "{said}"
    );
    let fewer = [&all(&["alltoallv"])[..], &["--ranks", "8"]].concat();
    let said = desk.run(&fewer).refusal(2);
    assert!(
        said.contains("--block-sizes sizes.csv: has 16 ranks, the platform 8"),
        "{said}"
    );
}

/// A link whose methods of transfer were sampled, and one with only latency and gap.
const SAMPLED: &str = "\
treepie: platform
version: 1
hosts:
- {name: a1, ranks: 0-1}
- {name: a2, ranks: 2-3}
clusters:
- name: a
  hosts: [a1, a2]
  leader: 0
  within:
    latency_us: 50
    samples: [0 5, 1000 10]
  levels:
  - level: node
    latency_us: 2
    samples: [0 1]
    ways:
      send: [8 2 1]
      vector: [8 3 0.5]
      packed: [8 6 0.25]
      put: [8 2 0.5]
      put-joined: [8 3 0.01]
";

#[test]
fn pieces_that_lie_apart_take_what_each_way_was_sampled_to_and_the_fastest_are_marked() {
    let desk = Desk::new();
    desk.write("p.yaml", SAMPLED);
    let of = |pieces: &str| {
        let arguments = ["predict", "p.yaml", "--pieces", pieces, "--bytes", "8"];
        desk.run(&[&arguments[..], &["--json"]].concat())
            .good()
            .json()
    };
    for (pieces, message, put) in [("1", "send", "put"), ("9", "vector", "put-joined")] {
        let node = &of(pieces)["links"][1];
        assert_eq!(node["link"], "in a, node");
        assert_eq!(node["sampled"], true);
        assert_eq!(node["fastest_message"], message);
        assert_eq!(node["fastest_put"], put);
    }
    let seconds = &of("101")["links"][1]["seconds"]["packed"];
    assert!(
        (seconds.as_f64().unwrap() - 31e-6).abs() < 1e-9,
        "{seconds}"
    );
    let table = desk.run(&["predict", "p.yaml", "--pieces", "101", "--bytes", "8"]);
    let table = table.good().out;
    assert!(table.contains("*31.0 us"), "{table}");
    assert!(
        table.contains("without copies and datatypes: in a; `treepie probe --ways` samples them"),
        "{table}"
    );
    let both = [
        "predict",
        "p.yaml",
        "--pieces",
        "3",
        "--collective",
        "bcast",
    ];
    desk.run(&both).refusal(2);
    desk.run(&["predict", "p.yaml", "--pieces", "0"]).refusal(2);
}
