//! Machines built from parts: hosts that differ, as described in a profile, and networks above
//! nodes.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use serde_json::json;
use support::Desk;
use treepie_base::{Leaf, Process};
use treepie_placement::file::PlacementFile;
use treepie_profile::{Host, HostTopology, Profile};
use treepie_topology::Machine;
use treepie_traffic::Traffic;

/// Two sockets of four cores, numbered alternately, as on many servers.
fn large() -> Machine {
    let units = [0, 2, 4, 6, 1, 3, 5, 7].into_iter().map(|unit| vec![unit]);
    let names = ["socket".to_owned(), "core".to_owned()];
    Machine::from_levels(None, names.into(), &[vec![2], vec![4, 4]], units.collect()).unwrap()
}

/// One socket of two cores of two threads.
fn small() -> Machine {
    let units = vec![vec![0, 2], vec![1, 3]];
    Machine::from_levels(None, vec!["core".to_owned()], &[vec![2]], units.into()).unwrap()
}

/// Ten ranks on two hosts of different kinds: rank `i` communicates with rank `i + 5`.
fn profile() -> Profile {
    let mut profile = Profile::new(10);
    let host = |name: &str, processes: std::ops::Range<usize>| Host {
        name: name.to_owned(),
        processes: processes.map(Process).collect(),
    };
    profile.hosts = vec![host("large", 0..8), host("small", 8..10)];
    // Each process is bound to one core: on the small host to both its threads.
    let cores = (0..8).map(|unit| unit.to_string());
    profile.allowed_cores = cores.chain(["0,2".to_owned(), "1,3".to_owned()]).collect();
    let topology = |name: &str, machine: Machine| HostTopology {
        hosts: vec![name.to_owned()],
        machine: machine.to_string(),
    };
    profile.topologies = vec![topology("large", large()), topology("small", small())];
    for rank in 0..5 {
        for (from, to) in [(rank, rank + 5), (rank + 5, rank)] {
            let traffic = Traffic::new(1, 4096);
            profile.point_to_point.add(from, to, traffic);
        }
    }
    profile
}

#[test]
fn hosts_that_differ_are_placed_on_as_the_profile_describes_each() {
    let desk = Desk::new();
    profile().write(&desk.path("app.profile.yaml")).unwrap();
    let answer = desk
        .run(&["map", "app.profile.yaml", "--json"])
        .good()
        .json();
    assert_eq!(
        (&answer["ranks"], &answer["cores"]),
        (&json!(10), &json!(10))
    );
    let levels = answer["levels"].as_array().unwrap();
    let names: Vec<&str> = levels.iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["node", "socket", "core"]);
    // Before, ranks 3 and 4 communicated with the small host; now a pair shares it.
    assert_eq!(levels[0]["bytes_before"], json!(4.0 * 4096.0));
    assert_eq!(levels[0]["bytes_after"], json!(0.0));
    assert_eq!(levels[1]["bytes_after"], json!(0.0));
    let placement = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    // Process 1 ran on unit 1 of the large host: the first core of its second socket.
    assert_eq!(
        placement.leaf_of_process,
        Leaf::list([0, 4, 1, 5, 2, 6, 3, 7, 8, 9])
    );
    let arities = |depth: usize| {
        let nodes = 0..placement.topology.node_count(depth);
        let children = nodes.map(|node| placement.topology.children(depth, node).len());
        children.collect::<Vec<_>>()
    };
    assert_eq!((arities(1), arities(2)), (vec![2, 1], vec![4, 4, 2]));
}

#[test]
fn hosts_that_differ_get_a_network_above_them() {
    let desk = Desk::new();
    profile().write(&desk.path("app.profile.yaml")).unwrap();
    let switches = "SwitchName=a Nodes=large\nSwitchName=b Nodes=small\n";
    desk.write("net.txt", switches);
    let words = "map app.profile.yaml --network net.txt --distances 1:5:50:500 --json";
    let words: Vec<&str> = words.split(' ').collect();
    let answer = desk.run(&words).good().json();
    let levels = answer["levels"].as_array().unwrap();
    assert_eq!(levels[0]["distance"], json!(500.0));
    assert_eq!(levels[0]["bytes_after"], json!(0.0));
    assert_eq!(answer["cores"], json!(10));
}

const SWITCHES: &str = "\
SwitchName=s0 Nodes=n[0-1]
SwitchName=s1 Nodes=n[2-3]
";

#[test]
fn a_network_is_shown_alone_and_above_nodes() {
    let desk = Desk::new();
    desk.write("net.txt", SWITCHES);
    let shown = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        desk.run(&words).good().json()
    };
    let alone = shown("show net.txt --json");
    assert_eq!(alone["levels"], json!(["switch", "node"]));
    let above = shown("show 4:2:2 --network net.txt --distances 1:10:100:1000 --json");
    assert_eq!(above["levels"], json!(["switch", "node", "socket", "core"]));
    assert_eq!(above["arities"], json!([2, 2, 2, 2]));
    assert_eq!(above["distances"], json!([1000.0, 100.0, 10.0, 1.0]));
    let platform = "treepie: platform\nversion: 1\nhosts:\n- {name: a1, ranks: 0-1}\n\
        - {name: b1, ranks: 2-3}\nclusters:\n- {name: a, hosts: [a1], leader: 0}\n\
        - {name: b, hosts: [b1], leader: 2}\nlinks:\n\
        - {from: a, to: b, latency_us: 9900, samples: [0 5, 65536 100]}\n";
    desk.write("grid.platform.yaml", platform);
    let measured = shown("show 2:2 --platform grid.platform.yaml --json");
    assert_eq!(measured["levels"][0], "cluster");
    assert_eq!(measured["distances"][0], json!(10_000.0));
}

#[test]
fn a_network_above_what_is_no_topology_is_refused() {
    let desk = Desk::new();
    desk.write("net.txt", SWITCHES);
    desk.write("m.mtx", "");
    let said = desk.run(&["show", "m.mtx", "--network", "net.txt"]);
    assert_eq!(
        said.refusal(2),
        "m.mtx: is a matrix; --network, --platform and --distances belong to a topology"
    );
}
