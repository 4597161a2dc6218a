//! Topologies in both forms, and errors in them.
#![allow(clippy::unwrap_used)]
use std::path::Path;

use treepie_base::{FileError, Leaf};

use super::*;
use crate::tree::Topology;

const HEADER: &str = "treepie: topology\nversion: 1\n";

fn read_lines(lines: &str) -> Result<Topology, FileError> {
    from_text(Path::new("t.yaml"), &format!("{HEADER}{lines}"))
}

fn written(topology: &Topology) -> String {
    to_text(Path::new("t.yaml"), topology, "tests", "today").unwrap()
}

#[test]
fn a_regular_tree_is_written_by_its_arities() {
    let topology = Topology::from_arities("4:2:2").unwrap();
    assert_eq!(
        written(&topology),
        "treepie: topology\nversion: 1\nproducer: tests\ndate: today\nlevels:\n- node\n\
         - socket\n- core\narities: 4:2:2\n"
    );
}

#[test]
fn both_forms_of_arities_are_the_same_tree() {
    let text = read_lines("arities: 4:2:2\n").unwrap();
    let list = read_lines("arities: [4, 2, 2]\nlevels: [node, socket, core]\n").unwrap();
    assert_eq!(text, list);
    assert_eq!(text, Topology::from_arities("4:2:2").unwrap());
    assert_eq!(read_lines("arities: 8\n").unwrap().leaf_count(), 8);
}

#[test]
fn everything_that_a_topology_holds_reads_back() {
    let uneven = read_lines(
        "tree: [[4, 2], [3]]\nlevels: [host, package, pu]\ndistances: [90, 20.5, 1]\n\
         machines:\n- {host: a, cores: 0-5, physical: \"0,2,1,3-5\"}\n\
         - {host: b, cores: \"6,7\"}\nforbidden: 2,8\n",
    )
    .unwrap();
    assert_eq!(uneven.arities(), None);
    assert_eq!(uneven.leaf_count(), 9);
    assert_eq!(uneven.leaf(Leaf(1)).os_index, Some(2));
    assert_eq!(uneven.leaf(Leaf(7)).host.as_deref(), Some("b"));
    assert_eq!(uneven.leaf(Leaf(8)).host, None);
    assert!(uneven.leaf(Leaf(8)).forbidden);
    assert_eq!(uneven.common_level(Leaf(6), Leaf(8)), 2);
    let again = from_text(Path::new("t.yaml"), &written(&uneven)).unwrap();
    assert_eq!(again, uneven);
}

#[test]
fn a_topology_has_as_many_cores_as_its_text_is_worth() {
    let cluster = read_lines("arities: 10000:2:64\n").unwrap();
    assert_eq!(cluster.leaf_count(), 1_280_000);
    for (lines, field) in [
        ("arities: 16777216\n", "arities"),
        ("tree: [16777216]\n", "tree"),
    ] {
        let problem = read_lines(lines).unwrap_err().to_string();
        let expected = format!("t.yaml: {field}: 16777216 cores would take more than the 64 MiB");
        assert!(problem.starts_with(&expected), "{problem}");
    }
}

#[test]
fn a_cluster_of_unlike_machines_reads_back() {
    let machine = |arities| Topology::from_arities(arities).unwrap();
    let cluster = Topology::cluster(vec![
        ("a".into(), machine("2:4")),
        ("b".into(), machine("1:2")),
    ])
    .unwrap();
    let again = from_text(Path::new("t.yaml"), &written(&cluster)).unwrap();
    assert_eq!(again, cluster);
}

#[test]
fn devices_next_to_cores_are_written_and_read_again() {
    let text = "machine 1\nlevel socket 2\nlevel core 2 2\nunits 0 2 1 3\n\
                device fabric mlx5_0 2-3\ndevice gpu card0 0-1\ndevice gpu card1 2-3\n";
    let machine: crate::Machine = text.parse().unwrap();
    let named = |host: &str| (host.to_owned(), machine.topology().clone());
    let cluster = Topology::cluster(vec![named("a"), named("b")]).unwrap();
    let text = written(&cluster);
    let device = "  - kind: fabric\n    name: mlx5_0\n    cores: 6,7\n";
    assert!(text.contains(device), "{text}");
    let again = from_text(Path::new("t.yaml"), &text).unwrap();
    assert_eq!(again, cluster);
}

#[test]
fn wrong_topologies_name_the_field() {
    for (lines, expected) in [
        (
            "levels: [core]\n",
            "t.yaml: arities: are missing; write them, such as 4:2:2, or a tree",
        ),
        (
            "arities: 4:0\n",
            "t.yaml: arities: level 2 has a node without children: every arity is at least 1",
        ),
        (
            "arities: [100000, 100000]\n",
            "t.yaml: arities: 10000000000 cores would take more than the 64 MiB of memory that a \
             text of this size may; check this number, and that the text is whole",
        ),
        (
            "tree: [18446744073709551615, 1]\n",
            "t.yaml: tree: 18446744073709551615 cores would take more than the 64 MiB of memory \
             that a text of this size may; check this number, and that the text is whole",
        ),
        (
            "tree: [[4, x]]\n",
            "t.yaml:3:7: tree: a number of cores or a list of parts was expected, such as \
             [[4, 4], [8]]",
        ),
        (
            "arities: 4:2\nlevels: [core]\n",
            "t.yaml: levels: 1 level names for 2 levels: give one for each",
        ),
        (
            "arities: 4\nmachines: [{cores: 0-3, physical: 0-2}]\n",
            "t.yaml: machines: 3 physical numbers for 4 cores; write one for each",
        ),
        (
            "arities: 4\nmachines: [{cores: 0-4}]\n",
            "t.yaml: machines: core 4 is none of the 4 cores, which count from 0; correct the \
             list",
        ),
        (
            "arities: 4\nmachines: [{host: a, cores: 0}, {host: b, cores: 0}]\n",
            "t.yaml: machines: core 0 is listed twice; keep one of them",
        ),
        (
            "arities: 4\nmachines: [{cores: 0-1, devices: [{kind: disk, name: sda, cores: 0}]}]\n",
            "t.yaml: machines: no kind of device is called `disk`: write one of fabric, ethernet, \
             gpu",
        ),
        (
            "arities: 4\nmachines: [{cores: 0-1, devices: [{kind: gpu, name: g, cores: 2}]}]\n",
            "t.yaml: machines: device g is next to core 2, which is not in this machine; correct \
             one of the two lists",
        ),
        (
            "arities: 4\nforbiden: 3\n",
            "t.yaml:4:1: unknown field `forbiden`, did you mean `forbidden`?; known here are \
             levels, arities, tree, distances, machines, forbidden",
        ),
    ] {
        assert_eq!(read_lines(lines).unwrap_err().to_string(), expected);
    }
}
