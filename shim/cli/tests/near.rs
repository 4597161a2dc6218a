//! Network interfaces and GPUs of nodes: their listing, and placement of ranks near them.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use serde_json::{Value, json};
use support::{Desk, text_of};
use treepie_base::Process;
use treepie_profile::{Host, HostTopology, Profile};
use treepie_traffic::Traffic;

/// Two sockets of four cores; devices follow.
const SOCKETS: &str =
    "machine 1\nlevel socket 2\nlevel core 4 4\nunits 0 1 2 3 4 5 6 7\ndevice ethernet eno1 0-3\n";

/// The fabric's card and a GPU next to the second socket.
const SECOND: &str = "device fabric mlx5_0 4-7\ndevice gpu card1 4-7\n";

const NODE_WITH_DEVICES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../hwloc/tests/fixtures/node-with-devices.xml"
);

/// Two nodes of eight ranks: four and four communicate most, and the first four of each node
/// communicate with those of the other.
fn profile(devices: [&str; 2]) -> Profile {
    let mut profile = Profile::new(16);
    let host = |name: &str, processes: std::ops::Range<usize>| Host {
        name: name.to_owned(),
        processes: processes.map(Process).collect(),
    };
    profile.hosts = vec![host("n1", 0..8), host("n2", 8..16)];
    profile.allowed_cores = (0..16).map(|process| (process % 8).to_string()).collect();
    let machine = |(name, devices): (&str, &str)| HostTopology {
        hosts: vec![name.to_owned()],
        machine: format!("{SOCKETS}{devices}"),
    };
    profile.topologies = ["n1", "n2"].into_iter().zip(devices).map(machine).collect();
    let mut exchange = |a: usize, b: usize, bytes| {
        for (from, to) in [(a, b), (b, a)] {
            profile.point_to_point.add(from, to, Traffic::new(1, bytes));
        }
    };
    for first in [0, 4, 8, 12] {
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            exchange(first + a, first + b, 1 << 20);
        }
    }
    (0..4).for_each(|rank| exchange(rank, rank + 8, 1 << 16));
    profile
}

fn desk(devices: [&str; 2]) -> Desk {
    let desk = Desk::new();
    profile(devices)
        .write(&desk.path("app.profile.yaml"))
        .unwrap();
    desk
}

fn mapped(desk: &Desk, near: &str) -> Value {
    let words = "map app.profile.yaml --strategy identity --json --near";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.push(near);
    desk.run(&words).good().json()
}

#[test]
fn sockets_that_send_to_other_nodes_are_seated_beside_the_interface_for_nothing() {
    let desk = desk([SECOND, SECOND]);
    let answer = mapped(&desk, "network");
    let seats: Vec<usize> = serde_json::from_value(answer["assignment"].clone()).unwrap();
    // Ring neighbours keep their distances: whole sockets are swapped.
    assert!(
        seats[..4].iter().all(|leaf| (4..8).contains(leaf)),
        "{seats:?}"
    );
    assert!(
        seats[8..12].iter().all(|leaf| (12..16).contains(leaf)),
        "{seats:?}"
    );
    assert_eq!(answer["cost"]["placement"], answer["cost"]["identity"]);
    let near = &answer["near_network"];
    let sent = json!(f64::from(4 * 2 * 2 * (1 << 16)));
    assert_eq!(near["all"], json!({"identity": sent, "placement": sent}));
    assert_eq!(
        near["next_to_one"],
        json!({"identity": 0.0, "placement": sent})
    );
    let verdict = answer["verdict"].as_str().unwrap();
    let words = "at cores next to a network interface: 100.0 % of the bytes between nodes, 0.0 % \
                 before";
    assert!(verdict.contains(words), "{verdict}");
    // The result is the same by name; and the Ethernet interface is where the ranks already are.
    assert_eq!(mapped(&desk, "mlx5_0")["assignment"], answer["assignment"]);
    let plain: Vec<usize> = (0..16).collect();
    assert_eq!(mapped(&desk, "eno1")["assignment"], json!(plain));
}

#[test]
fn nothing_is_seated_otherwise_unless_it_is_asked_for() {
    let desk = desk([SECOND, SECOND]);
    let words = "map app.profile.yaml --strategy identity --json";
    let answer = desk
        .run(&words.split(' ').collect::<Vec<_>>())
        .good()
        .json();
    let plain: Vec<usize> = (0..16).collect();
    assert_eq!(
        (&answer["assignment"], answer.get("near_network")),
        (&json!(plain), None)
    );
}

#[test]
fn each_node_is_seated_by_its_own_interfaces() {
    let fabric = "device fabric mlx5_0 0-3\n";
    let desk = desk([SECOND, fabric]);
    let answer = mapped(&desk, "network");
    let seats: Vec<usize> = serde_json::from_value(answer["assignment"].clone()).unwrap();
    assert!(
        seats[..4].iter().all(|leaf| (4..8).contains(leaf)),
        "{seats:?}"
    );
    assert_eq!(seats[8..], (8..16).collect::<Vec<_>>());
}

#[test]
fn interfaces_that_help_nobody_are_told_in_one_line() {
    let plain: Vec<usize> = (0..16).collect();
    for (devices, reason) in [
        (
            "device fabric mlx5_0 0-7\n",
            "--near is without effect: interfaces are next to all cores alike on 2 nodes",
        ),
        (
            "device fabric mlx5_0 0-3\ndevice fabric mlx5_1 4-7\n",
            "--near is without effect: interfaces are next to all cores alike on 2 nodes",
        ),
    ] {
        let desk = desk([devices, devices]);
        assert_eq!(mapped(&desk, "network")["assignment"], json!(plain));
        let text = desk
            .run(&["map", "app.profile.yaml", "--near", "network"])
            .good()
            .out;
        assert_eq!(text.matches(reason).count(), 1, "{text}");
    }
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    let words = "map app.profile.yaml --topology 4:2:2 --near network";
    let words: Vec<&str> = words.split(' ').collect();
    let text = desk.run(&words).good().out;
    let reason = "--near is without effect: no network interface of these nodes is known; name an";
    assert_eq!(text.matches(reason).count(), 1, "{text}");
}

#[test]
fn an_interface_that_no_node_has_is_refused_with_those_that_there_are() {
    let desk = desk([SECOND, SECOND]);
    let words = ["map", "app.profile.yaml", "--near", "mlx5_7"];
    assert_eq!(
        desk.run(&words).refusal(2),
        "--near mlx5_7: no node has a network interface called `mlx5_7`; write network, \
         or some of eno1, mlx5_0"
    );
}

#[test]
fn the_devices_of_a_profile_and_of_a_machine_are_shown() {
    let desk = desk([SECOND, SECOND]);
    let text = desk.run(&["show", "app.profile.yaml"]).good().out;
    let table = "network interfaces and GPUs of n1\n  \
                 device      kind  next to cores  processes bound there\n  \
                 eno1    ethernet            0-3                    0-3\n  \
                 mlx5_0    fabric            4-7                    4-7\n  \
                 card1        gpu            4-7                    4-7\n";
    assert!(text.contains(table), "{text}");
    let answer = desk
        .run(&["show", "app.profile.yaml", "--json"])
        .good()
        .json();
    let expected = json!({"kind": "fabric", "names": ["mlx5_0"], "cores": "4-7",
        "all_cores": false, "processes": "12-15"});
    assert_eq!(answer["devices"][1]["devices"][1], expected);
    let text = desk.run(&["show", NODE_WITH_DEVICES]).good().out;
    assert!(
        text.contains("  fabric mlx5_0: next to cores 4-7\n"),
        "{text}"
    );
    desk.run(&["report", "app.profile.yaml", "-o", "page.html"])
        .good();
    let page = desk.text("page.html");
    let table = text_of(&page, "devices-1");
    assert!(table.contains("mlx5_0 fabric 4-7 12-15"), "{table}");
    assert!(
        page.contains("at cores next to a network interface: 0.0 %"),
        "{page}"
    );
}

#[test]
fn a_machine_from_an_xml_file_on_a_network_is_seated_too() {
    let desk = Desk::new();
    let mut entries = String::new();
    for rank in 1..=4 {
        entries += &format!("{rank} {} 4096\n{} {rank} 4096\n", rank + 8, rank + 8);
    }
    let header = "%%MatrixMarket matrix coordinate integer general";
    desk.write("m.mtx", &format!("{header}\n16 16 8\n{entries}"));
    let words = "map m.mtx --network torus:2 --strategy identity --near network --json --topology";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.push(NODE_WITH_DEVICES);
    let answer = desk.run(&words).good().json();
    assert_eq!(
        answer["near_network"]["next_to_one"]["placement"],
        json!(65536.0)
    );
    assert_eq!(answer["cost"]["placement"], answer["cost"]["identity"]);
    // The placement records the options with which it was computed.
    let text = desk.text("m.placement.yaml");
    assert!(text.contains("name: mlx5_0"), "{text}");
}
