//! `treepie map` and `treepie show` on networks that are not trees.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{Desk, is_picture, text_of};

/// Eight ranks in a ring, numbered so that neighbours are four apart.
fn ring() -> String {
    let place = |at: usize| (at * 3) % 8;
    let mut entries = String::new();
    for at in 0..8 {
        let (a, b) = (place(at), place((at + 1) % 8));
        entries += &format!("{} {} 1024\n{} {} 1024\n", a + 1, b + 1, b + 1, a + 1);
    }
    format!("%%MatrixMarket matrix coordinate integer general\n8 8 16\n{entries}")
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("m.mtx", &ring());
    desk
}

fn mapped(desk: &Desk, options: &[&str]) -> Value {
    let mut arguments = vec!["map", "m.mtx", "--json"];
    arguments.extend(options);
    desk.run(&arguments).good().json()
}

#[test]
fn a_ring_is_folded_onto_every_network_that_has_one() {
    let desk = desk();
    for (network, cost) in [
        ("torus:8", 8.0),
        ("torus:4x2", 8.0),
        ("mesh:2x2x2", 8.0),
        ("hyperx:8", 24.0),
        ("hyperx:2x2,2", 20.0),
        ("torus:2x2/2", 4.0),
    ] {
        let answer = mapped(&desk, &["--topology", network]);
        let found = answer["objectives"]["network"]["hop_bytes"]["placement"].as_f64();
        assert_eq!(found, Some(cost * 1024.0), "{network}");
        let answer = mapped(&desk, &["--topology", network, "--objective", "sum"]);
        assert_eq!(answer["cost"]["placement"].as_f64(), found);
    }
}

#[test]
fn the_mixture_is_minimized_on_a_network_and_the_sum_on_a_tree_unless_something_is_said() {
    let desk = desk();
    for (options, expected) in [
        (&["--topology", "torus:4x2"][..], "mixture of size"),
        (&["--topology", "dragonfly:2,4,2"], "mixture of size"),
        (
            &["--topology", "torus:4x2", "--objective", "sum"],
            "DistComm of size",
        ),
        (&["--topology", "4:2"], "DistComm of size"),
    ] {
        let answer = mapped(&desk, options);
        assert_eq!(answer["cost"]["objective"], expected, "{options:?}");
    }
    let text = desk
        .run(&["map", "m.mtx", "--topology", "torus:4x2"])
        .good()
        .out;
    let line = "for the objective mixture, the best guess of the time;\n  `--objective sum` is for";
    assert!(text.contains(line), "{text}");
}

#[test]
fn the_report_names_the_network_its_routing_and_the_most_loaded_link() {
    let desk = desk();
    let text = desk
        .run(&["map", "m.mtx", "--topology", "torus:4x2"])
        .good()
        .out;
    for words in [
        "8 ranks on 8 nodes x 1 core",
        "bytes x links",
        "most loaded link (dimension order)",
        "the same by any routing, at least",
        "8 nodes on a torus 4x2; most loaded: (",
        "proved optimal: no placement has less bytes x links",
        "if routes are by dimension order and nobody else sends",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn the_machines_of_a_topology_are_put_on_the_network_of_a_site() {
    let desk = desk();
    let nodes = "treepie: topology\nversion: 1\nlevels: [node, core]\narities: 4:2\n\
                 machines: [{host: a, cores: 0-1}, {host: b, cores: 2-3}, {host: c, cores: 4-5}, \
                 {host: d, cores: 6-7}]\n";
    desk.write("nodes.topology.yaml", nodes);
    desk.write("net.txt", "torus:4x4\na 0 0\nb 2 2\nc 1 0\nd 1 1\n");
    let options = ["--topology", "nodes.topology.yaml", "--network", "net.txt"];
    let answer = mapped(&desk, &options);
    let network = &answer["objectives"]["network"];
    assert_eq!(
        (&network["network"], &network["nodes"]),
        (&"torus 4x4".into(), &4.into())
    );
    // a-c-d-b-a: 1 + 1 + 2 + 4 links.
    assert_eq!(
        network["hop_bytes"]["placement"].as_f64(),
        Some(8.0 * 1024.0)
    );
    desk.write("short.txt", "torus:4x4\na 0 0\nb 2 2\nc 1 0\n");
    let options = [
        "map",
        "m.mtx",
        "--topology",
        "nodes.topology.yaml",
        "--network",
        "short.txt",
    ];
    let message = desk.run(&options).refusal(1);
    assert!(
        message.contains("host d is not in the network, which has a, b, c: add it there"),
        "{message}"
    );
}

#[test]
fn the_first_arity_of_a_tree_below_a_network_is_its_nodes() {
    let desk = desk();
    for (machine, cores) in [
        ("--tree 4:2", 8),
        ("--hierarchy 2:4", 8),
        ("--tree 8", 8),
        ("--tree 2:2:2", 8),
        ("--tree 2:2:3:2", 24),
    ] {
        let options = format!("{machine} --network torus:4x2");
        let answer = mapped(&desk, &options.split(' ').collect::<Vec<_>>());
        assert_eq!(answer["cores"], cores, "{machine}");
    }
    let options = ["--tree", "4:2", "--network", "torus:4x2"];
    let answer = mapped(&desk, &options);
    // Two ranks per node: four of the eight pairs of the ring are inside, the others one link
    // apart.
    let network = &answer["objectives"]["network"];
    let found = network["hop_bytes"]["placement"].as_f64();
    assert_eq!((&network["nodes"], found), (&4.into(), Some(4.0 * 1024.0)));
    // More nodes than the network has are refused.
    let options = ["map", "m.mtx", "--tree", "9:1", "--network", "torus:4x2"];
    let message = desk.run(&options).refusal(1);
    assert!(message.contains("8"), "{message}");
}

#[test]
fn links_are_drawn_before_and_after_and_networks_alone() {
    let desk = desk();
    let options = [
        "map",
        "m.mtx",
        "--topology",
        "torus:4x2",
        "--network-picture",
        "links.svg",
    ];
    desk.run(&options).good();
    assert!(is_picture(&desk.path("links.svg")));
    for network in [
        "torus:4x4x4",
        "dragonfly:2,4,2",
        "hyperx:3x3",
        "fat-tree:2;4,4;1,2",
    ] {
        desk.run(&["show", network, "-o", "n.png"]).good();
        assert!(is_picture(&desk.path("n.png")), "{network}");
    }
    let message = desk
        .run(&[
            "map",
            "m.mtx",
            "--tree",
            "2:4",
            "--network-picture",
            "l.svg",
        ])
        .refusal(2);
    assert!(
        message.contains("--network-picture draws a network; name one"),
        "{message}"
    );
}

#[test]
fn a_network_is_shown_with_its_hosts_as_text_and_as_json() {
    let desk = desk();
    desk.write("t.conf", "RingName=r0 Nodes=n[0-7]\n");
    let text = desk.run(&["show", "t.conf"]).good().out;
    assert!(
        text.contains("t.conf: torus 8\n  8 nodes at 8 positions, 16 links"),
        "{text}"
    );
    let answer = desk.run(&["show", "t.conf", "--json"]).good().json();
    assert_eq!(answer["hosts"]["n5"], "(5)");
    assert_eq!(answer["distance"]["most"], 4);
}

#[test]
fn every_family_is_shown_with_its_links_its_routing_and_its_distances() {
    let desk = desk();
    for (network, lines) in [
        (
            "torus:4x2",
            "8 nodes at 8 positions, 24 links in both directions together, routes: dimension \
             order\n  distance of two nodes: 1.71 links on average, 3 at most",
        ),
        (
            "dragonfly:2,4,2",
            "72 nodes at 36 positions, 180 links in both directions together, routes: minimal, \
             local-global-local\n  distance of two nodes: 4.34 links on average, 5 at most",
        ),
        (
            "hyperx:4x4,4",
            "64 nodes at 16 positions, 96 links in both directions together, routes: dimension \
             order\n  distance of two nodes: 3.52 links on average, 4 at most",
        ),
        (
            "fat-tree:2;4,8;1,4",
            "32 nodes at 32 positions, 128 links in both directions together, routes: \
             d-mod-k\n  distance of two nodes: 3.81 links on average, 4 at most",
        ),
    ] {
        let text = desk.run(&["show", network]).good().out;
        assert!(text.contains(lines), "{text}");
    }
}

/// A halo exchange of 4 x 4 ranks, its order and its grid as placements on a torus.
fn placed() -> Desk {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    for (strategy, output) in [("identity", "a"), ("grid", "b")] {
        let output = format!("{output}.placement.yaml");
        let words = "map app.profile.yaml --topology torus:4x4 --strategy";
        let words = words.split(' ').chain([strategy, "-q", "-o", &output]);
        desk.run(&words.collect::<Vec<_>>()).good();
    }
    desk
}

/// Each of 48 messages crosses one link in a grid: half of 1.52 MiB, each pair once.
const IN_A_GRID: &str = "bytes x links                       1 585 152   798 720  -49.6 %";

#[test]
fn two_placements_and_two_profiles_are_compared_on_a_network() {
    let desk = placed();
    let words = "compare a.placement.yaml b.placement.yaml --network torus:4x4";
    let text = desk.run(&words.split(' ').collect::<Vec<_>>()).good().out;
    for line in [
        IN_A_GRID,
        "most loaded link (dimension order)     65 KiB    64 KiB   -1.5 %",
        "16 nodes on a torus 4x4; most loaded: (0,0) to (1,0)",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let words = "compare app.profile.yaml app.profile.yaml --tree 16:1 --network torus:4x4";
    let words: Vec<&str> = words.split(' ').collect();
    let text = desk.run(&words).good().out;
    let line = "bytes x links                       1 585 152  1 585 152     0 %";
    assert!(text.contains(line), "{text}");
    let answer = desk.run(&[&words[..], &["--json"]].concat()).good().json();
    assert_eq!(answer["cost"]["after"], 1_585_152.0);
    assert_eq!(answer["cost"]["objective"], "bytes x links");
    // The profile of placements must exist: only it has the traffic.
    std::fs::remove_file(desk.path("app.profile.yaml")).unwrap();
    let words = "compare a.placement.yaml b.placement.yaml --network torus:4x4";
    let message = desk.run(&words.split(' ').collect::<Vec<_>>()).refusal(2);
    assert!(
        message.contains("the profile of the placements is needed"),
        "{message}"
    );
}

#[test]
fn a_placement_is_shown_on_its_network_as_text_and_in_the_page() {
    let desk = placed();
    let words = "show b.placement.yaml --network torus:4x4";
    let words: Vec<&str> = words.split(' ').collect();
    let text = desk.run(&words).good().out;
    assert!(text.contains(IN_A_GRID), "{text}");
    let picture = ["--draw", "links", "-o", "links.svg"];
    desk.run(&[&words[..], &picture].concat()).good();
    assert!(is_picture(&desk.path("links.svg")));

    let page = ["-o", "page.html"];
    let words = "report app.profile.yaml b.placement.yaml --network torus:4x4";
    let words: Vec<&str> = words.split(' ').chain(page).collect();
    desk.run(&words).good();
    let page = desk.text("page.html");
    let loads = text_of(&page, "network-loads");
    assert!(
        loads.contains("bytes x links 1 585 152 798 720 -49.6 %"),
        "{loads}"
    );
    assert!(page.contains("<figure id=\"network\">"), "{page}");
    assert!(page.contains("16 nodes on a torus 4x4; most loaded: (0,0) to (1,0)"));
    // The tree's distances do not apply here.
    assert!(!page.contains("DistComm"), "{page}");
}

#[test]
fn wrong_networks_are_refused_in_one_line() {
    let desk = desk();
    for (options, status, words) in [
        (
            ["--topology", "torus:4"],
            1,
            "8 ranks do not fit on 4 cores",
        ),
        (["--topology", "torus:4xx"], 2, "\"\" is not a whole number"),
        (
            ["--topology", "torus:8/0"],
            2,
            "level 1 has a node without children",
        ),
        (["--topology", "dragonfly:1"], 2, "expected 3 or 4 numbers"),
        (["--network", "nothing.txt"], 1, "there is no such file"),
    ] {
        let mut arguments = vec!["map", "m.mtx"];
        arguments.extend(options);
        let message = desk.run(&arguments).refusal(status);
        assert!(message.contains(words), "{message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    }
    let both = [
        "map",
        "m.mtx",
        "--topology",
        "torus:8",
        "--distances",
        "1:2",
    ];
    let message = desk.run(&both).refusal(2);
    assert!(
        message.contains("is a network; leave --network"),
        "{message}"
    );
}
