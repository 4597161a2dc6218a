//! Texts printed by Slurm and written by sites, valid and invalid.
#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use std::path::Path;

use crate::formats::from_text;
use crate::networks::network::Network;
use crate::networks::site::Site;
use crate::tree::Topology;
use treepie_base::Leaf;

const SLURM: &str = "\
# two leaf switches below one
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=tux[0-3]
SwitchName=s1 Level=0 LinkSpeed=1 Nodes=tux[4-5]
SwitchName=s2 Level=1 LinkSpeed=1 Nodes=tux[0-5] Switches=s[0-1]
";

fn network(text: &str) -> Result<Topology, String> {
    match site(text, None)?.network() {
        Network::Tree(tree) => Ok(tree.topology().clone()),
        other => Err(format!("{} is no tree", other.describe())),
    }
}

#[test]
fn what_scontrol_shows_is_a_tree_of_switches() {
    let found = network(SLURM).unwrap();
    assert_eq!(
        found.hosts(),
        ["tux0", "tux1", "tux2", "tux3", "tux4", "tux5"]
    );
    let names: Vec<&str> = found.levels().iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["switch", "node"]);
    assert_eq!(found.children(0, 0).len(), 2);
    assert_eq!(found.distance(Leaf(3), Leaf(4)), 4);
}

#[test]
fn switches_that_nothing_joins_are_joined_by_the_root() {
    let found = network("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-4]\n").unwrap();
    assert_eq!(found.children(0, 0).len(), 2);
    assert_eq!(found.leaf_count(), 5);
    let one = network("SwitchName=a Nodes=n[0-1]\n").unwrap();
    assert_eq!(one.arities(), Some(vec![2]));
}

#[test]
fn a_topology_file_whose_leaves_are_hosts_is_a_network() {
    let text = "treepie: topology\nversion: 1\nlevels: [cluster, node]\ntree: [1, 2]\n\
                machines: [{host: a, cores: 0}, {host: b, cores: 1}, {host: c, cores: 2}]\n";
    assert_eq!(network(text).unwrap().hosts(), ["a", "b", "c"]);
    let nameless = network("treepie: topology\nversion: 1\narities: 2\n").unwrap_err();
    assert_eq!(
        nameless,
        "t.conf: machines: no host is named for leaf 0; the leaves of a network are hosts, \
         each written as `- {host: NAME, cores: 0}`"
    );
}

#[test]
fn wrong_networks_name_the_line() {
    for (text, expected) in [
        (
            "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n0\n",
            "t.conf:2: n0 is below both a and b; a tree was expected",
        ),
        (
            "SwitchName=a Switches=b\n",
            "t.conf:1: no line describes b; add one, or leave it out",
        ),
        (
            "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "t.conf:1: every switch is below another one; one has to be at the top",
        ),
        (
            "SwitchName=a Nodes=n[0\n",
            "t.conf:1: `n[0` lacks a closing bracket; write `name[0-3]`",
        ),
        (
            "SwitchName=a Nodes=n0\nNodes=n1\n",
            "t.conf:2: no `SwitchName=` was found; every line describes a switch",
        ),
        (
            "SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n",
            "t.conf:2: a was described on line 1 already; keep one of them",
        ),
        (
            "SwitchName=a\n",
            "t.conf:1: a has neither nodes nor switches; write `Nodes=` or `Switches=`",
        ),
        (
            "SwitchName=a Nodes=n0 up\n",
            "t.conf:1: `up` was found, a word such as `Nodes=tux[0-3]` was expected",
        ),
        (
            "SwitchName=t Switches=a,a\nSwitchName=a Nodes=n0\n",
            "t.conf:1: a is below both t and t; a tree was expected",
        ),
    ] {
        assert_eq!(network(text).unwrap_err(), expected);
    }
}

fn site(text: &str, name: Option<&str>) -> Result<Site, String> {
    let found = from_text(Path::new("t.conf"), text, name);
    found.map_err(|error| error.to_string())
}

#[test]
fn block_sizes_group_consecutive_blocks() {
    let text = "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\n\
                BlockName=b3 Nodes=n[9-12]\nBlockName=b4 Nodes=n[13-16]\nBlockSizes=4,8\n";
    assert_eq!(network(text).unwrap().arities(), Some(vec![2, 2, 4]));
    let flat = text.replace("BlockSizes=4,8", "BlockSizes=4");
    assert_eq!(network(&flat).unwrap().arities(), Some(vec![4, 4]));
    let wrong = text.replace("4,8", "4,9");
    assert_eq!(
        network(&wrong).unwrap_err(),
        "t.conf:5: block size 9 is no power of two times 4, growing; correct `BlockSizes=`"
    );
}

#[test]
fn shown_aggregates_stand_above_each_other() {
    let text = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n\
                BlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n\
                BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2\n\
                BlockName=b4 BlockIndex=3 Nodes=n[7-8] BlockSize=2\n\
                AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[1-4] BlockSize=4\n\
                AggregatedBlock=b[3-4] BlockIndex=5 Nodes=n[5-8] BlockSize=4\n\
                AggregatedBlock=b[1-4] BlockIndex=6 Nodes=n[1-8] BlockSize=8\n";
    assert_eq!(network(text).unwrap().arities(), Some(vec![2, 2, 2]));
}

#[test]
fn keys_come_in_any_case_lines_go_on_and_one_switch_may_have_two() {
    let text = "switchname=s0 NODES=n[0-1]\nSWITCHNAME=s1 nodes=\\\n n[2-3]\n\
                SwitchName=s2 Switches=s[0-1]\nSwitchName=s2 Nodes=n[4-5]\n";
    let text = text.replace("nodes=\\\n n", "nodes=\\\nn");
    let found = network(&text).unwrap();
    assert_eq!(found.hosts(), ["n0", "n1", "n2", "n3", "n4", "n5"]);
}

#[test]
fn several_tops_over_the_same_switches_are_a_fat_tree() {
    let text = "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n\
                SwitchName=t0 Switches=s[0-1]\nSwitchName=t1 Switches=s[0-1]\n";
    let found = site(text, None).unwrap();
    assert_eq!(found.network().describe(), "fat tree 2;2,2;1,2");
    assert_eq!(found.positions_of(&["n3"]).unwrap(), [3]);
}

#[test]
fn switches_below_several_that_are_not_alike_are_a_graph() {
    let text = "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=c Nodes=n2\n\
                SwitchName=t Switches=a,b\nSwitchName=u Switches=b,c\n";
    let found = site(text, None).unwrap();
    let at = found.positions_of(&["n0", "n1", "n2"]).unwrap();
    assert_eq!(found.network().distance(at[0], at[2]), 6);
    assert_eq!(found.network().distance(at[0], at[1]), 4);
}

#[test]
fn rings_and_tori_are_lattices_with_their_hosts_in_order() {
    let ring = site("RingName=r0 Nodes=n[0-7] RingSize=8\n", None).unwrap();
    assert_eq!(ring.network().describe(), "torus 8");
    assert_eq!(ring.network().distance(0, 7), 1);
    let shown = "TorusName=pod1 Dims=4x4x2 Nodes=n[0-31]\n  PlacementDims=2x2x1(4) Anchors=8\n";
    let torus = site(shown, None).unwrap();
    assert_eq!(torus.network().describe(), "torus 4x4x2");
    assert_eq!(torus.positions_of(&["n5"]).unwrap(), [5]);
    let pods = "TorusName=p Dims=2x2x2 Nodes=a[0-7]\nTorusName=q Dims=2x2x2 Nodes=b[0-7]\n";
    let both = site(pods, None).unwrap();
    let at = both.positions_of(&["a0", "a7", "b0"]).unwrap();
    assert_eq!(both.network().distance(at[0], at[1]), 3);
    assert!(both.network().distance(at[0], at[2]) > 3);
    assert_eq!(site(pods, Some("q")).unwrap().hosts().len(), 8);
    assert_eq!(
        site(pods, Some("r")).unwrap_err(),
        "t.conf: network: has no r; there are p, q"
    );
    assert_eq!(
        site("TorusName=p Dims=2x2 Nodes=a[0-7]\n", None).unwrap_err(),
        "t.conf:1: p has 8 hosts for the cells of 2x2; correct its sizes or its hosts"
    );
}

#[test]
fn a_line_that_was_cut_off_says_why() {
    let nodes: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let text = format!("SwitchName=s0 Nodes=n[{}", nodes.join(","));
    assert_eq!(
        network(&text).unwrap_err(),
        "t.conf:1: the line ends inside a bracket; print it again with SLURM_TOPO_LEN=100000"
    );
}

proptest! {
    #[test]
    fn damaged_networks_are_read_or_refused_in_one_line(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..8),
    ) {
        let mut text: Vec<char> = SLURM.chars().collect();
        for (place, letter) in damage {
            let place = place.index(text.len());
            text[place] = letter;
        }
        let text: String = text.into_iter().collect();
        match site(&text, None) {
            Ok(found) => prop_assert_eq!(found.hosts().len(), found.nodes()),
            Err(message) => prop_assert!(!message.contains('\n'), "{}", message),
        }
    }
}
