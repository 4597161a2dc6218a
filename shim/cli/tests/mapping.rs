//! Options of `treepie map`, and refused ones.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Desk, is_picture};
use treepie_base::Leaf;
use treepie_placement::Strategy;
use treepie_placement::file::PlacementFile;
use treepie_traffic::Matrix;
use treepie_traffic::formats::Format;

/// The matrix of the thesis' worked example (figure 2.6).
const WORKED_EXAMPLE: &str = "\
0 1000 10 1 100 1 1 1
1000 0 1000 1 1 100 1 1
10 1000 0 1000 1 1 100 1
1 1 1000 0 1 1 1 100
100 1 1 1 0 1000 10 1
1 100 1 1 1000 0 1000 1
1 1 100 1 10 1000 0 1000
1 1 1 100 1 1 1000 0
";

/// A desk with `m.txt`.
fn desk(matrix: &str) -> Desk {
    let desk = Desk::new();
    desk.write("m.txt", matrix);
    desk
}

/// `treepie map m.txt` with some options, as JSON.
fn mapped(desk: &Desk, options: &str) -> Value {
    answer_of(desk, "m.txt", options)
}

fn answer_of(desk: &Desk, matrix: &str, options: &str) -> Value {
    let mut arguments = vec!["map", matrix, "--json"];
    arguments.extend(options.split_whitespace());
    desk.run(&arguments).good().json()
}

fn assignment(answer: &Value) -> Vec<usize> {
    serde_json::from_value(answer["assignment"].clone()).unwrap()
}

/// Pairs of communicating ranks: 0 and half, 1 and half + 1...
fn pairs(ranks: usize) -> String {
    let row = |rank: usize| {
        let partner = (rank + ranks / 2) % ranks;
        let values = (0..ranks).map(|other| if other == partner { "5" } else { "0" });
        values.collect::<Vec<_>>().join(" ") + "\n"
    };
    (0..ranks).map(row).collect()
}

#[test]
fn the_worked_example_of_the_thesis_costs_18568_instead_of_20180() {
    let answer = mapped(&desk(WORKED_EXAMPLE), "--tree 2:3:2");
    let fields: Vec<&String> = answer.as_object().unwrap().keys().collect();
    for field in [
        "ranks",
        "cores",
        "assignment",
        "levels",
        "cost",
        "strategy",
        "seconds",
    ] {
        assert!(fields.contains(&&field.to_owned()), "{field}");
    }
    assert_eq!(
        (&answer["ranks"], &answer["cores"]),
        (&8.into(), &12.into())
    );
    assert_eq!(answer["cost"]["identity"], 20180.0);
    assert_eq!(answer["cost"]["placement"], 18568.0);
    let level = &answer["levels"][0];
    assert_eq!(level["arity"], 2);
    assert_eq!(level["distance"], 6.0);
    // Ordered pairs: both directions of 1218 and of 412.
    assert_eq!(level["bytes_before"], 2436.0);
    assert_eq!(level["bytes_after"], 824.0);
    assert_eq!(answer["objectives"]["sum"]["placement"], 18568.0);
}

#[test]
fn arities_and_distances_from_the_cores_up_are_those_of_kahip() {
    let desk = desk(&pairs(8));
    let answer = mapped(&desk, "--hierarchy 4:2:3 --distances 1:10:100");
    let levels = answer["levels"].as_array().unwrap();
    let of = |field: &str| {
        levels
            .iter()
            .map(|l| l[field].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("arity"), [3.0, 2.0, 4.0]);
    assert_eq!(of("distance"), [100.0, 10.0, 1.0]);
    assert_eq!(answer["cores"], 24);
    // Four pairs of 5, each in its own group of four.
    assert_eq!(answer["cost"]["placement"], 20.0);
    let text = desk
        .run(&["map", "m.txt", "--hierarchy", "4:2", "--distances", "1:9"])
        .good();
    assert!(
        text.out.contains("DistComm (bytes x distance)"),
        "{}",
        text.out
    );
}

#[test]
fn every_format_of_the_same_matrix_gives_the_same_placement() {
    let desk = desk(WORKED_EXAMPLE);
    let expected = assignment(&mapped(&desk, "--tree 2:3:2"));
    let matrix = Format::DenseText
        .read(WORKED_EXAMPLE.as_bytes(), "m.txt")
        .unwrap();
    for (name, format) in [
        ("m.mtx", Format::MatrixMarket),
        ("m.mat", Format::DenseText),
        ("m.csv", Format::Csv),
        ("m.graph", Format::Metis),
        ("m.grf", Format::Scotch),
    ] {
        let mut text = Vec::new();
        format.write(&matrix, &mut text).unwrap();
        desk.write(name, &String::from_utf8(text).unwrap());
        let answer = answer_of(&desk, name, "--tree 2:3:2");
        assert_eq!(assignment(&answer), expected, "{name}");
    }
    let lines = matrix
        .entries()
        .map(|(from, to, bytes)| format!("E\t{from}\t{to}\t{bytes} bytes\t1 msgs sent\t1,0,0\n"));
    desk.write("m.prof", &lines.collect::<String>());
    assert_eq!(
        assignment(&answer_of(&desk, "m.prof", "--tree 2:3:2")),
        expected
    );
}

#[test]
fn every_strategy_can_be_asked_for_by_its_name() {
    let desk = desk(WORKED_EXAMPLE);
    desk.write("loads", "1 2 3 4 4 3 2 1\n");
    for &strategy in Strategy::ALL {
        let answer = mapped(
            &desk,
            &format!("--tree 2:2:2 --strategy {strategy} --loads loads"),
        );
        if strategy != Strategy::Best {
            let made = answer["strategy"].as_str().unwrap();
            // A grid that is not one, and one that nothing improves.
            let instead = strategy == Strategy::Grid && made == "multisection";
            assert!(
                made == strategy.to_string() || instead,
                "{strategy}: {made}"
            );
        }
        assert_eq!(assignment(&answer).len(), 8, "{strategy}");
    }
}

#[test]
fn more_effort_or_time_never_costs_more_and_a_seed_gives_one_placement() {
    let desk = desk(&pairs(48));
    let cost = |options: &str| {
        mapped(&desk, options)["cost"]["placement"]
            .as_f64()
            .unwrap()
    };
    let tree = "--tree 6:2:4";
    let fast = cost(&format!("{tree} --effort fast"));
    let normal = cost(&format!("{tree} --effort normal"));
    let longer = cost(&format!("{tree} --effort fast --time-limit 0.2"));
    assert!(longer <= fast, "{longer} {fast}");
    assert_eq!(normal, 240.0);
    let once = assignment(&mapped(&desk, &format!("{tree} --seed 7")));
    assert_eq!(
        once,
        assignment(&mapped(&desk, &format!("{tree} --seed 7")))
    );
}

#[test]
fn constraints_of_the_command_line_are_kept() {
    let desk = desk(&pairs(8));
    let on = |options: &str| assignment(&mapped(&desk, options));
    let fixed = on("--tree 2:2:4 --fix 0=5,1=15 --fix 2=3");
    assert_eq!(fixed[..3], [5, 15, 3]);
    let excluded = on("--tree 2:2:4 --exclude 0-3,9");
    assert!(
        excluded.iter().all(|&core| core > 3 && core != 9),
        "{excluded:?}"
    );
    let allowed = on("--tree 2:2:4 --allow 3=12,13 --allow 4=0");
    assert!(
        [12, 13].contains(&allowed[3]) && allowed[4] == 0,
        "{allowed:?}"
    );
    let together = on("--tree 2:2:2 --together 0,1,2,3");
    assert!(
        together[..4].iter().all(|core| core / 4 == together[0] / 4),
        "{together:?}"
    );
    let sockets = on("--tree 2:2:2 --together 0,3 --together-level socket");
    assert_eq!(sockets[0] / 2, sockets[3] / 2);
}

#[test]
fn more_ranks_than_cores_share_cores_where_slots_are_given() {
    let desk = desk(&pairs(8));
    let answer = mapped(&desk, "--tree 2:2 --slots 2");
    assert_eq!(answer["cost"]["placement"], 0.0);
    let file = PlacementFile::read(&desk.path("m.placement.yaml")).unwrap();
    assert_eq!(file.leaf_of_process, Leaf::list([0, 0, 1, 1, 2, 2, 3, 3]));
    let uneven = assignment(&mapped(&desk, "--tree 2:2 --slots 4,0,3,1"));
    let on = |core| uneven.iter().filter(|&&c| c == core).count();
    assert_eq!([0, 1, 2, 3].map(on), [4, 0, 3, 1]);
}

#[test]
fn one_hardware_thread_of_each_core_can_be_used() {
    let desk = desk(&pairs(4));
    let description = "levels: [node, core, pu]\narities: 2:2:2\n";
    desk.write(
        "smt.yaml",
        &format!("treepie: topology\nversion: 1\n{description}"),
    );
    let mut cores = assignment(&mapped(&desk, "--topology smt.yaml --threads-per-core 1"));
    cores.sort_unstable();
    assert_eq!(cores, [0, 2, 4, 6]);
}

#[test]
fn the_most_loaded_link_is_an_objective_and_both_are_reported() {
    let desk = desk(&pairs(8));
    let answer = mapped(&desk, "--tree 2:2:2 --objective congestion");
    assert_eq!(answer["cost"]["objective"], "congestion of size");
    assert_eq!(answer["cost"]["identity"], 20.0);
    assert_eq!(answer["cost"]["placement"], 0.0);
    assert_eq!(answer["objectives"]["sum"]["placement"], 40.0);
    assert_eq!(answer["objectives"]["congestion"]["placement"], 0.0);
}

#[test]
fn a_balancer_evens_out_loads_from_where_the_ranks_are() {
    let desk = desk(&pairs(12));
    desk.write("loads", "9 1 1 1 1 1\n3, 3, 2, 2, 2, 2 # and the rest\n");
    desk.write("current", "0-3\n0-3\n0-3\n");
    let options = "--tree 2:2 --strategy tmlb-min-weight --loads loads --current current";
    let cores = assignment(&mapped(&desk, options));
    let loads = [9, 1, 1, 1, 1, 1, 3, 3, 2, 2, 2, 2];
    let of = |core| {
        (0..12)
            .filter(|&r| cores[r] == core)
            .map(|r| loads[r])
            .sum::<i32>()
    };
    assert_eq!([0, 1, 2, 3].map(of).iter().max(), Some(&9));
    let arguments: Vec<&str> = ["map", "m.txt"]
        .into_iter()
        .chain(options.split(' '))
        .collect();
    let text = desk.run(&arguments).good().out;
    assert!(
        text.contains("load of a core: 7 on average; the most 12 before, 9 after; "),
        "{text}"
    );
}

const SWITCHES: &str = "\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]
";

#[test]
fn switches_that_slurm_shows_become_a_level_above_the_nodes() {
    let desk = desk(&pairs(16));
    desk.write("slurm.txt", SWITCHES);
    for machine in ["--topology 2:2", "--tree 4:2:2"] {
        let answer = mapped(&desk, &format!("{machine} --network slurm.txt"));
        let levels = answer["levels"].as_array().unwrap();
        let names: Vec<&str> = levels.iter().map(|l| l["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["switch", "node", "socket", "core"], "{machine}");
        assert_eq!(levels[0]["bytes_after"], 0.0);
        assert_eq!(answer["cores"], 16);
    }
}

#[test]
fn the_clusters_of_a_platform_become_a_level_with_measured_distances() {
    let desk = desk(&pairs(6));
    let text = "treepie: platform\nversion: 1\nhosts:\n- {name: a1, ranks: 0-1}\n\
        - {name: a2, ranks: 2-3}\n- {name: b1, ranks: 4-5}\nclusters:\n\
        - {name: a, hosts: [a1, a2], leader: 0, within: {latency_us: 50, samples: [0 5, 65536 50]}}\n\
        - {name: b, hosts: [b1], leader: 4}\nlinks:\n\
        - {from: a, to: b, latency_us: 9900, samples: [0 5, 65536 100]}\n";
    desk.write("grid.platform.yaml", text);
    let answer = mapped(&desk, "--topology 1:2 --platform grid.platform.yaml");
    let levels = answer["levels"].as_array().unwrap();
    assert_eq!(levels[0]["name"], "cluster");
    assert_eq!(levels[0]["distance"], 10_000.0);
    assert_eq!(levels[1]["distance"], 100.0);
    assert_eq!(answer["cores"], 6);
}

#[test]
fn machines_of_different_kinds_are_joined_by_a_topology_file() {
    let desk = desk(&pairs(7).replace('5', "2"));
    desk.write(
        "mixed.yaml",
        "treepie: topology\nversion: 1\nlevels: [node, socket, core]\ntree: [[2, 2], [3]]\n\
         machines: [{host: large, cores: 0-3}, {host: small, cores: 4-6}]\n",
    );
    let mut cores = assignment(&mapped(&desk, "--topology mixed.yaml"));
    cores.sort_unstable();
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_picture_and_the_text_of_shared_cores_are_whole() {
    let desk = desk(&pairs(8));
    let arguments = [
        "map",
        "m.txt",
        "--tree",
        "2:2",
        "--slots",
        "2",
        "--picture",
        "m.png",
    ];
    let text = desk.run(&arguments).good().out;
    assert!(is_picture(&desk.path("m.png")));
    assert!(
        text.contains("no pair communicates between sockets"),
        "{text}"
    );
}

#[test]
fn a_matrix_of_one_way_messages_is_placed_as_one_of_both_ways() {
    let desk = Desk::new();
    let matrix = Matrix::from_entries(4, [(0, 3, 4.0), (2, 1, 4.0)]).unwrap();
    let mut text = Vec::new();
    Format::MatrixMarket.write(&matrix, &mut text).unwrap();
    desk.write("m.mtx", &String::from_utf8(text).unwrap());
    let cores = assignment(&answer_of(&desk, "m.mtx", "--tree 2:2"));
    assert_eq!((cores[0] / 2, cores[1] / 2), (cores[3] / 2, cores[2] / 2));
}

#[test]
fn an_all_to_all_is_told_that_nothing_is_to_be_gained() {
    let row = "7 ".repeat(16).trim_end().to_owned() + "\n";
    let desk = desk(&row.repeat(16));
    let answer = mapped(&desk, "--tree 4:2:2");
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("none: every rank sends the same to every other"),
        "{verdict}"
    );
    let text = desk.run(&["map", "m.txt", "--tree", "4:2:2"]).good().out;
    assert_eq!(text.lines().last(), Some(&*format!("verdict: {verdict}")));
}

#[test]
fn pairs_that_are_far_apart_are_worth_a_placement_and_nothing_is_on_one_node() {
    let desk = desk(&pairs(16));
    let verdict = |tree: &str| mapped(&desk, tree)["verdict"].as_str().unwrap().to_owned();
    let far = verdict("--tree 4:2:2");
    assert!(
        far.starts_with("gain: saves 66.7 % of DistComm, as much as any placement; 100.0 %"),
        "{far}"
    );
    let near = verdict("--tree 4:4");
    assert!(
        near.starts_with("little: ") && near.ends_with("ways are short"),
        "{near}"
    );
}

#[test]
fn a_bound_that_is_far_away_is_not_told() {
    // More ranks than the tight bound supports, without a pattern.
    let ranks = 1000;
    let edges = (0..ranks * 8).map(|i| (i % ranks, ((i * 2_654_435_761) >> 9) % ranks));
    let entries = edges.filter(|(a, b)| a != b).map(|(a, b)| (a, b, 1.0));
    let matrix = Matrix::from_entries(ranks, entries).unwrap();
    let desk = Desk::new();
    Format::MatrixMarket
        .write(&matrix, std::fs::File::create(desk.path("m.mtx")).unwrap())
        .unwrap();
    let answer = answer_of(
        &desk,
        "m.mtx",
        "--tree 10:100 --distances 1:1000 --effort fast",
    );
    assert!(answer["objectives"]["lower_bound"].is_null());
    let arguments = "map m.mtx --tree 10:100 --distances 1:1000 --effort fast";
    let text = desk
        .run(&arguments.split(' ').collect::<Vec<_>>())
        .good()
        .out;
    assert!(!text.contains("no placement has"), "{text}");
}
