//! Trees: their construction, queries, and refused input.
#![allow(clippy::unwrap_used)] // a test may panic

use proptest::prelude::*;
use treepie_base::Leaf;
use treepie_topology::{LEAF_LIMIT, ProcessingUnit, Topology, TopologyError, Tree};

#[path = "../../placement/tests/strategies/mod.rs"]
mod strategies;

fn tree(arities: &str) -> Topology {
    Topology::from_arities(arities).unwrap()
}

fn names(topology: &Topology) -> Vec<&str> {
    topology.levels().iter().map(|l| l.name.as_str()).collect()
}

fn numbers(topology: &Topology) -> Vec<usize> {
    topology
        .leaves()
        .iter()
        .filter_map(|leaf| leaf.os_index)
        .collect()
}

#[test]
fn levels_are_named_by_their_distance_from_the_leaves() {
    assert_eq!(names(&tree("4:2:2")), ["node", "socket", "core"]);
    assert_eq!(names(&tree("8")), ["core"]);
    let deep = tree("2:2:2:2:2");
    assert_eq!(
        names(&deep),
        ["network2", "network", "node", "socket", "core"]
    );
    let renamed = tree("2:2").with_level_names(["package", "pu"]).unwrap();
    assert_eq!(names(&renamed), ["package", "pu"]);
}

#[test]
fn distance_is_two_hops_for_each_level_climbed() {
    let topology = tree("2:3:2");
    assert_eq!(topology.leaf_count(), 12);
    assert_eq!(topology.depth(), 3);
    assert_eq!(topology.distance(Leaf(5), Leaf(5)), 0);
    assert_eq!(topology.distance(Leaf(0), Leaf(1)), 2);
    assert_eq!(topology.distance(Leaf(1), Leaf(2)), 4);
    assert_eq!(topology.distance(Leaf(5), Leaf(6)), 6);
    assert_eq!(topology.common_level(Leaf(5), Leaf(6)), 0);
    assert_eq!(topology.common_level(Leaf(5), Leaf(5)), 3);
    assert_eq!(topology.path(Leaf(9)), [1, 1, 1]);
    assert_eq!(topology.leaf_range(1, 1), 6..12);
    assert!(topology.leaves_below(1, 1).eq((6..12).map(Leaf)));
    assert_eq!(topology.level_distances(), [6., 4., 2.]);
}

#[test]
fn wrong_arities_are_refused_with_the_part_that_is_wrong() {
    for (text, part) in [
        ("", "empty"),
        ("  ", "empty"),
        ("4:x:2", "level 2 of topology \"4:x:2\" is \"x\""),
        ("4::2", "level 2"),
        ("4:2:", "level 3"),
        ("-4", "\"-4\""),
        ("4,2", "\"4,2\""),
        ("2.5", "\"2.5\""),
        ("4:0:2", "level 2 has a node without children"),
        ("100000:100000", "leaves"),
        ("99999999999999999999999", "leaves"),
        ("18446744073709551615:2", "leaves"),
    ] {
        let message = Topology::from_arities(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text:?} gave {message:?}");
        assert!(!message.contains('\n'));
    }
    let too_deep = ["1"; 65].join(":");
    assert_eq!(
        Topology::from_arities(&too_deep),
        Err(TopologyError::TooManyLevels { levels: 65 })
    );
    assert_eq!(tree(" 4 : 2 ").leaf_count(), 8);
    assert!(Topology::from_arity_list(&[LEAF_LIMIT + 1], None).is_err());
    assert!(Topology::from_arity_list(&[2, 2], Some(&["core".to_owned()])).is_err());
}

#[test]
fn a_nested_tree_may_be_uneven_and_its_leaves_are_brought_to_one_depth() {
    let leaf = || Tree::Leaf(ProcessingUnit::default());
    let nested = Tree::Inner(vec![leaf(), Tree::Inner(vec![leaf(), leaf(), leaf()])]);
    let topology = Topology::from_tree(&nested, None).unwrap();
    assert_eq!(topology.leaf_count(), 4);
    assert_eq!(topology.depth(), 2);
    assert_eq!(topology.arities(), None);
    assert_eq!(topology.widest_arities(), [2, 3]);
    assert_eq!(topology.distance(Leaf(1), Leaf(3)), 2);
    assert_eq!(topology.distance(Leaf(0), Leaf(1)), 4);
    let alone = Topology::from_tree(&leaf(), None).unwrap();
    assert_eq!((alone.leaf_count(), alone.depth()), (1, 1));
    let childless = Tree::Inner(vec![leaf(), Tree::Inner(Vec::new())]);
    assert_eq!(
        Topology::from_tree(&childless, None),
        Err(TopologyError::ZeroArity { level: 2 })
    );
}

#[test]
fn a_cluster_keeps_its_machines_apart_and_fills_in_levels_they_lack() {
    let small = tree("3");
    let cluster = Topology::cluster(vec![("a".into(), tree("2:2")), ("b".into(), small)]).unwrap();
    assert_eq!(names(&cluster), ["node", "socket", "core"]);
    assert_eq!(cluster.leaf_count(), 7);
    assert_eq!(cluster.arities(), None);
    assert_eq!(cluster.leaf(Leaf(3)).host.as_deref(), Some("a"));
    assert_eq!(cluster.leaf(Leaf(4)).host.as_deref(), Some("b"));
    assert_eq!(cluster.distance(Leaf(3), Leaf(4)), 6);
    assert_eq!(cluster.distance(Leaf(4), Leaf(6)), 2); // as on one socket
    assert_eq!(cluster.path(Leaf(5)), [1, 0, 1]);
    let same = vec![("a".into(), tree("2:4")), ("b".into(), tree("2:4"))];
    assert_eq!(
        Topology::cluster(same).unwrap().arities(),
        Some(vec![2, 2, 4])
    );
    assert_eq!(Topology::cluster(Vec::new()), Err(TopologyError::Empty));
}

#[test]
fn a_level_that_is_missing_at_the_bottom_is_filled_in_there() {
    let threads = tree("2:2").with_level_names(["core", "pu"]).unwrap();
    let grid = Topology::join("node", &[threads, tree("2")]).unwrap();
    assert_eq!(grid.path(Leaf(5)), [1, 1, 0]);
    assert_eq!(grid.distance(Leaf(4), Leaf(5)), 4); // different cores
    let strange = tree("2").with_level_names(["tile"]).unwrap();
    let grid = Topology::join("node", &[tree("2:2"), strange]).unwrap();
    assert_eq!(grid.path(Leaf(5)), [1, 0, 1]);
}

#[test]
fn numbering_orders_of_table_1_1_give_its_numbers() {
    let x7460 = tree("4:4:6")
        .with_level_names(["numa", "socket", "core"])
        .unwrap();
    let x7460 = x7460.with_numbering(&["socket", "core", "numa"]).unwrap();
    let expected = [
        0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23,
    ];
    assert_eq!(numbers(&x7460)[..24], expected);
    assert_eq!(numbers(&x7460)[24], 24);
    let x5550 = tree("2:4").with_numbering(&["socket", "core"]).unwrap();
    assert_eq!(numbers(&x5550), [0, 2, 4, 6, 1, 3, 5, 7]);
    let linear = tree("2:4").with_numbering(&["core", "socket"]).unwrap();
    assert_eq!(numbers(&linear), [0, 1, 2, 3, 4, 5, 6, 7]);
    let threads = tree("8:2").with_level_names(["core", "thread"]).unwrap();
    let threads = threads.with_numbering(&["core", "thread"]).unwrap();
    assert_eq!(
        numbers(&threads),
        [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
    );
    assert!(matches!(
        tree("2:4").with_numbering(&["numa"]),
        Err(TopologyError::NoSuchLevel { .. })
    ));
}

#[test]
fn numbers_start_again_on_every_machine_and_are_followed_machine_by_machine() {
    let interleaved = tree("2:2:2").with_numbering(&["socket", "core"]).unwrap();
    assert_eq!(numbers(&interleaved), [0, 2, 1, 3, 0, 2, 1, 3]);
    assert_eq!(
        interleaved.physical_order(),
        [0, 2, 1, 3, 4, 6, 5, 7].map(Leaf)
    );
    let machine = |numbers: &[usize]| tree("2").with_os_indices(numbers).unwrap();
    let cluster = vec![
        ("z".into(), machine(&[9, 4])),
        ("a".into(), machine(&[2, 1])),
    ];
    let cluster = Topology::cluster(cluster).unwrap();
    assert_eq!(cluster.physical_order(), [1, 0, 3, 2].map(Leaf));
    assert_eq!(tree("2:2").physical_order(), [0, 1, 2, 3].map(Leaf));
}

#[test]
fn a_physical_number_twice_on_one_machine_is_refused() {
    let twice = tree("2:2").with_os_indices(&[0, 1, 2, 2]);
    assert_eq!(
        twice,
        Err(TopologyError::NumberTwice {
            os_index: 2,
            first: Leaf(2),
            second: Leaf(3)
        })
    );
    let host = Topology::cluster(vec![("a".into(), tree("2:2"))]).unwrap();
    assert!(host.with_os_indices(&[0, 1, 0, 1]).is_err());
    assert!(tree("2:2").with_os_indices(&[0, 1]).is_err());
}

#[test]
fn level_distances_must_not_grow_towards_the_leaves() {
    let weighted = tree("2:2").with_level_distances(&[100., 1.]).unwrap();
    assert_eq!(weighted.level_distances(), [100., 1.]);
    assert_eq!(weighted.distance(Leaf(0), Leaf(3)), 4); // still hops
    for wrong in [
        &[1., 2.][..],
        &[1.],
        &[f64::NAN, 1.],
        &[2., -1.],
        &[f64::INFINITY, 1.],
    ] {
        assert!(
            tree("2:2").with_level_distances(wrong).is_err(),
            "{wrong:?}"
        );
    }
}

#[test]
fn forbidden_leaves_leave_a_smaller_tree_with_the_same_distances() {
    let topology = tree("3:2:2")
        .forbidding(&[0, 4, 5, 6, 7].map(Leaf))
        .unwrap();
    assert_eq!(topology.allowed_leaves(), [1, 2, 3, 8, 9, 10, 11].map(Leaf));
    let pruned = topology.pruned().unwrap();
    assert_eq!(pruned.leaf_count(), 7);
    assert_eq!(pruned.node_count(1), 2);
    for (a, &leaf_a) in topology.allowed_leaves().iter().enumerate() {
        for (b, &leaf_b) in topology.allowed_leaves().iter().enumerate() {
            assert_eq!(
                pruned.distance(Leaf(a), Leaf(b)),
                topology.distance(leaf_a, leaf_b)
            );
        }
    }
    let half = tree("2:2:2")
        .allowing_only(&[0, 2, 4, 6].map(Leaf))
        .unwrap()
        .pruned();
    assert_eq!(half.unwrap().arities(), Some(vec![2, 2, 1]));
    assert!(tree("2").forbidding(&[2].map(Leaf)).is_err());
    let none = tree("2").forbidding(&[0, 1].map(Leaf)).unwrap();
    assert_eq!(none.pruned(), Err(TopologyError::Empty));
}

proptest! {
    #[test]
    fn a_tree_is_the_same_after_nesting_and_unnesting(nested in strategies::uneven_tree()) {
        let topology = Topology::from_tree(&nested, None).unwrap();
        prop_assert_eq!(&Topology::from_tree(&topology.to_tree(), None).unwrap(), &topology);
    }

    #[test]
    fn common_level_is_the_length_of_the_common_path(nested in strategies::uneven_tree()) {
        let topology = Topology::from_tree(&nested, None).unwrap();
        for a in topology.leaves().keys() {
            for b in topology.leaves().keys() {
                let (path_a, path_b) = (topology.path(a), topology.path(b));
                let common = path_a.iter().zip(&path_b).take_while(|(x, y)| x == y).count();
                prop_assert_eq!(topology.common_level(a, b), common);
                prop_assert_eq!(topology.ancestor(a, common), topology.ancestor(b, common));
                let below = topology.leaf_range(common, topology.ancestor(a, common));
                prop_assert!(below.contains(&a.0) && below.contains(&b.0));
            }
        }
    }

    #[test]
    fn arities_are_told_exactly_for_symmetric_trees(arities in strategies::arities()) {
        let topology = Topology::from_arity_list(&arities, None).unwrap();
        prop_assert_eq!(topology.arities(), Some(arities.clone()));
        prop_assert_eq!(topology.widest_arities(), arities);
    }
}
