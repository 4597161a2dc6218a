//! `treepie predict`: the time of replaced collectives, and plans for other simulators.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::Desk;
use treepie_collective::Operation;
use treepie_platform::GivenPlatform;
use treepie_platform::file::PlatformFile;
use treepie_profile::settings::Collectives;

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
        "-o b.txt: unknown ending; write .svg, .png, .json, .goal or .ti",
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
    let platform = platform();
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
    let platform = platform();
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
    let platform = platform();
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

#[test]
fn what_is_started_is_predicted_as_the_mpi_goes_on_with_it() {
    let desk = Desk::new();
    let platform = platform();
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
    let platform = platform();
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
    let platform = platform();
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
    let platform = platform();
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
fn pieces_that_lie_apart_take_what_each_way_was_sampled_to_and_the_quickest_are_marked() {
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
        assert_eq!(node["quickest_message"], message);
        assert_eq!(node["quickest_put"], put);
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

#[test]
fn contention_is_left_out_and_said_among_other_numbers_of_ranks_than_it_was_fitted_to() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(platform()).unwrap();
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

/// Clusters from other tools become a file that a job completes, if it has names of hosts.
#[test]
fn clusters_from_elsewhere_are_written_with_the_names_of_hosts() {
    let desk = Desk::new();
    desk.write("named.csv", "a1,a2,b1\n0,50,9000\n50,0,9000\n9000,9000,0\n");
    desk.write("bare.csv", "0,50,9000\n50,0,9000\n9000,9000,0\n");
    desk.write("magpie", "cluster 0\nprocess 0 1\ncluster 1\nprocess 2\n");
    let names = ["a1", "a1", "b1"].map(str::to_owned);
    for (arguments, expected) in [
        (
            &["--latencies", "named.csv"][..],
            [vec!["a1", "a2"], vec!["b1"]],
        ),
        (
            &["--latencies", "bare.csv", "--hosts", "a1,x,b1"],
            [vec!["a1", "x"], vec!["b1"]],
        ),
        (
            &["--clusters", "magpie", "--hosts", "a1,a1,b1"],
            [vec!["a1"], vec!["b1"]],
        ),
    ] {
        let answer = desk
            .run(&[&["probe", "-o", "p.yaml"], arguments].concat())
            .good();
        assert!(
            answer.out.contains("measures the links that are missing"),
            "{}",
            answer.out
        );
        let given = PlatformFile::given(&desk.path("p.yaml"), &desk.text("p.yaml")).unwrap();
        let GivenPlatform::Partial(partial) = &given else {
            panic!("links are missing");
        };
        let contents = partial.contents();
        let hosts = contents.clusters.iter().map(|cluster| {
            let names = cluster
                .hosts
                .iter()
                .map(|&host| contents.hosts[host].name.as_str());
            names.collect::<Vec<_>>()
        });
        assert_eq!(hosts.collect::<Vec<_>>(), expected);
        assert!(given.for_job(&names).is_ok());
    }
    let few = [
        "probe",
        "--latencies",
        "bare.csv",
        "--hosts",
        "a1",
        "-o",
        "p.yaml",
    ];
    let refusal = desk.run(&few).refusal(2);
    assert_eq!(
        refusal,
        "--hosts: names 1 host, and there are 3; name each in its order"
    );
    let none = ["probe", "--clusters", "magpie", "-o", "p.yaml"];
    let refusal = desk.run(&none).refusal(2);
    assert!(
        refusal.starts_with("--clusters: there are no links"),
        "{refusal}"
    );
    let split = [
        "probe",
        "--clusters",
        "magpie",
        "--hosts",
        "a1,b1,b1",
        "-o",
        "p.yaml",
    ];
    let refusal = desk.run(&split).refusal(1);
    assert!(refusal.contains("the host b1 is listed twice"), "{refusal}");
}
