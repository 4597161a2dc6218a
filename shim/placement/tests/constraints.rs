//! Placements that must satisfy constraints, and constraints that cannot be satisfied.
#![allow(clippy::unwrap_used)] // a test may panic

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use treepie_base::{Leaf, List, Rank, Slice, Slot};
use treepie_placement::objective::{Objective, dist_comm};
use treepie_placement::{Constraints, Occupant, Options, SlotTree, Strategy, place};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

mod strategies;

/// Strategies that respect constraints on any tree.
const ANY_TREE: [Strategy; 6] = [
    Strategy::Best,
    Strategy::TreeMatch,
    Strategy::TreeMatchConstraints,
    Strategy::Packed,
    Strategy::RoundRobin,
    Strategy::Identity,
];

fn tree(arities: &str) -> Topology {
    Topology::from_arities(arities).unwrap()
}

/// Pairs of communicating ranks: 0 and 1, 2 and 3...
fn pairs(ranks: usize) -> Matrix {
    let entries = (0..ranks / 2).flat_map(|p| [(2 * p, 2 * p + 1, 10.0), (2 * p + 1, 2 * p, 10.0)]);
    Matrix::from_entries(ranks, entries).unwrap()
}

fn placed(
    strategy: Strategy,
    matrix: &Matrix,
    on: &Topology,
    with: &Constraints,
) -> List<Rank, Leaf> {
    let options = Options {
        constraints: Some(with),
        ..Options::default()
    };
    place(strategy, matrix, on, &options)
        .unwrap()
        .placement
        .leaf_of_rank
}

fn fixed<const N: usize>(leaves: [(usize, usize); N]) -> BTreeMap<Rank, Leaf> {
    leaves.map(|(rank, leaf)| (Rank(rank), Leaf(leaf))).into()
}

fn allowed(leaves: impl IntoIterator<Item = (usize, Vec<usize>)>) -> BTreeMap<Rank, Vec<Leaf>> {
    let leaves = leaves.into_iter();
    let of_rank =
        |(rank, leaves): (usize, Vec<usize>)| (Rank(rank), leaves.into_iter().map(Leaf).collect());
    leaves.map(of_rank).collect()
}

fn together(sets: &[&[usize]]) -> Vec<Vec<Rank>> {
    let set = |ranks: &&[usize]| ranks.iter().copied().map(Rank).collect();
    sets.iter().map(set).collect()
}

fn refusal(ranks: usize, on: &Topology, with: &Constraints) -> String {
    let options = Options {
        constraints: Some(with),
        ..Options::default()
    };
    place(Strategy::Best, &Matrix::zero(ranks), on, &options)
        .unwrap_err()
        .to_string()
}

#[test]
fn more_ranks_than_cores_share_cores_and_those_that_talk_share_one() {
    let with = Constraints {
        slots: vec![2; 4].into(),
        ..Constraints::default()
    };
    // 0 communicates with 4, 1 with 5...
    let matrix = Matrix::from_entries(8, (0..4).map(|r| (r, r + 4, 1.0))).unwrap();
    let leaves = placed(Strategy::Best, &matrix, &tree("2:2"), &with);
    assert_eq!(dist_comm(&matrix, &tree("2:2"), &leaves), 0.0);
    for strategy in ANY_TREE {
        let leaves = placed(strategy, &matrix, &tree("2:2"), &with);
        let on = |leaf| leaves.iter().filter(|&&l| l == Leaf(leaf)).count();
        assert_eq!([0, 1, 2, 3].map(on), [2; 4], "{strategy}");
    }
}

#[test]
fn no_core_gets_a_second_rank_while_another_has_none() {
    let with = Constraints {
        slots: vec![8; 4].into(),
        ..Constraints::default()
    };
    for strategy in ANY_TREE {
        let mut leaves = placed(strategy, &pairs(4), &tree("2:2"), &with);
        leaves.sort_unstable();
        assert_eq!(leaves, Leaf::list([0, 1, 2, 3]), "{strategy}");
    }
}

#[test]
fn slots_may_differ_from_core_to_core() {
    let with = Constraints {
        slots: vec![1, 3, 0, 2].into(),
        ..Constraints::default()
    };
    for strategy in ANY_TREE {
        let mut leaves = placed(strategy, &pairs(6), &tree("2:2"), &with);
        leaves.sort_unstable();
        assert_eq!(leaves, Leaf::list([0, 1, 1, 1, 3, 3]), "{strategy}");
    }
}

#[test]
fn fixed_ranks_stay_and_their_partners_come_to_them() {
    let with = Constraints {
        fixed: fixed([(0, 7), (2, 0)]),
        ..Constraints::default()
    };
    for strategy in ANY_TREE {
        let leaves = placed(strategy, &pairs(8), &tree("4:2"), &with);
        assert_eq!(
            (leaves[Rank(0)], leaves[Rank(2)]),
            (Leaf(7), Leaf(0)),
            "{strategy}"
        );
    }
}

#[test]
fn two_ranks_fixed_to_one_core_get_its_two_slots() {
    let with = Constraints {
        slots: vec![2; 4].into(),
        fixed: fixed([(1, 3), (2, 3)]),
        ..Constraints::default()
    };
    let leaves = placed(Strategy::Best, &pairs(4), &tree("2:2"), &with);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|rank| leaves[Rank(rank)].0);
    assert_eq!((second, third), (3, 3));
    assert!(first < 3 && fourth < 3 && first != fourth);
}

#[test]
fn ranks_use_only_the_cores_that_they_are_allowed() {
    // Each rank has the cores of one of two partial allocations.
    let leaves = (0..4).map(|rank| {
        (
            rank,
            if rank % 2 == 0 {
                vec![0, 5]
            } else {
                vec![3, 4]
            },
        )
    });
    let with = Constraints {
        allowed: allowed(leaves),
        ..Constraints::default()
    };
    for strategy in ANY_TREE {
        let leaves = placed(strategy, &pairs(6), &tree("2:2:2"), &with);
        for (rank, leaf) in leaves.iter_enumerated().take(4) {
            assert!(with.allowed[&rank].contains(leaf), "{strategy}: {leaves:?}");
        }
    }
}

#[test]
fn a_chain_of_ranks_moves_on_where_the_only_seat_of_a_rank_is_taken() {
    // Packed gives rank i core i; rank 3 may only use core 0, rank 0 only 0 and
    // 1, rank 1 only 1 and 2.
    let leaves = [
        (3, vec![0]),
        (0, vec![0, 1]),
        (1, vec![1, 2]),
        (2, vec![2, 3]),
    ];
    let with = Constraints {
        allowed: allowed(leaves),
        ..Constraints::default()
    };
    let leaves = placed(Strategy::Packed, &pairs(4), &tree("4"), &with);
    assert_eq!(leaves, Leaf::list([1, 2, 3, 0]));
}

#[test]
fn ranks_that_must_be_together_share_a_node() {
    let with = Constraints {
        together: together(&[&[0, 3, 5], &[1, 6]]),
        together_level: Some("node".to_owned()),
        ..Constraints::default()
    };
    let machine = tree("3:2:2");
    for strategy in ANY_TREE {
        let leaves = placed(strategy, &pairs(12), &machine, &with);
        let node = |rank: usize| leaves[Rank(rank)].0 / 4;
        assert_eq!(
            [node(0), node(3), node(1)],
            [node(5), node(5), node(6)],
            "{strategy}"
        );
    }
}

#[test]
fn sets_of_ranks_with_a_rank_in_common_become_one() {
    let with = Constraints {
        together: together(&[&[0, 4], &[8, 9], &[4, 8]]),
        ..Constraints::default()
    };
    let leaves = placed(Strategy::Best, &pairs(12), &tree("3:2:2"), &with);
    let nodes: Vec<usize> = [0, 4, 8, 9].map(|rank| leaves[Rank(rank)].0 / 4).to_vec();
    assert_eq!(nodes, [nodes[0]; 4]);
}

#[test]
fn all_ranks_of_a_single_machine_are_together_anyway() {
    let with = Constraints {
        together: together(&[&[0, 3]]),
        ..Constraints::default()
    };
    let leaves = placed(Strategy::Best, &pairs(4), &tree("2:2"), &with);
    assert_eq!(leaves, Leaf::list([0, 1, 2, 3]));
}

#[test]
fn one_thread_of_each_core_leaves_the_others_idle() {
    let smt = tree("2:2:2")
        .with_level_names(["socket", "core", "pu"])
        .unwrap();
    let with = Constraints {
        threads_per_core: Some(1),
        ..Constraints::default()
    };
    let mut leaves = placed(Strategy::Best, &pairs(4), &smt, &with);
    leaves.sort_unstable();
    assert_eq!(leaves, Leaf::list([0, 2, 4, 6]));
    let message = refusal(5, &smt, &with);
    assert!(
        message.starts_with("5 ranks do not fit into the 4 slots"),
        "{message}"
    );
}

#[test]
fn idle_cores_are_those_that_cost_least() {
    // Two triangles on three nodes of three cores: one node stays idle.
    let triangles = (0..6).map(|rank| (rank, (rank + 2) % 6, 10.0));
    let matrix = Matrix::from_entries(6, triangles).unwrap();
    let outcome = place(Strategy::Best, &matrix, &tree("3:3"), &Options::default()).unwrap();
    // Six messages of 10, each counted half, two hops each.
    assert_eq!(outcome.cost, 60.0);
}

#[test]
fn an_identity_that_breaks_a_rule_is_left_with_few_moves() {
    let with = Constraints {
        excluded: vec![Leaf(1)],
        ..Constraints::default()
    };
    let options = Options {
        constraints: Some(&with),
        current: Some(&Leaf::list([0, 1, 2])),
        ..Options::default()
    };
    let outcome = place(Strategy::Identity, &pairs(3), &tree("2:2"), &options).unwrap();
    assert_eq!(outcome.placement.leaf_of_rank, Leaf::list([0, 3, 2]));
    assert_eq!(outcome.identity_cost, 20.0);
}

#[test]
fn the_objective_decides_which_candidate_is_chosen() {
    // Identity: all traffic between 0 and 2 crosses the root.
    let matrix = Matrix::from_entries(4, [(0, 2, 8.0), (2, 0, 8.0)]).unwrap();
    for &objective in Objective::ALL {
        let options = Options {
            objective,
            ..Options::default()
        };
        let outcome = place(Strategy::Best, &matrix, &tree("2:2"), &options).unwrap();
        assert!(outcome.cost < outcome.identity_cost, "{objective}");
    }
}

#[test]
fn contradictions_are_refused_with_what_contradicts_what() {
    let none = Constraints::default;
    let machine = tree("2:2:2");
    for (ranks, with, expected) in [
        (
            4,
            Constraints {
                fixed: fixed([(2, 5)]),
                excluded: vec![Leaf(5)],
                ..none()
            },
            "rank 2 is fixed to core 5, which is excluded: fix it to another core or let that one \
             be used",
        ),
        (
            4,
            Constraints {
                fixed: fixed([(2, 9)]),
                ..none()
            },
            "--fix names core 9, but the topology's 8 cores count from 0",
        ),
        (
            4,
            Constraints {
                fixed: fixed([(4, 0)]),
                ..none()
            },
            "--fix names rank 4, but the job's 4 ranks count from 0",
        ),
        (
            4,
            Constraints {
                fixed: fixed([(0, 1), (3, 1)]),
                ..none()
            },
            "2 ranks are fixed to core 1, which takes 1: fix some of them elsewhere or allow more \
             slots",
        ),
        (
            4,
            Constraints {
                fixed: fixed([(0, 1)]),
                allowed: allowed([(0, vec![2, 3])]),
                ..none()
            },
            "rank 0 is fixed to core 1, which is none of those that the rank may use: fix it to \
             another core or let that one be used",
        ),
        (
            4,
            Constraints {
                fixed: fixed([(0, 1)]),
                slots: vec![1, 0, 1, 1, 1, 1, 1, 1].into(),
                ..none()
            },
            "rank 0 is fixed to core 1, which is given no slot: fix it to another core or let that \
             one be used",
        ),
        (
            4,
            Constraints {
                allowed: allowed([(1, vec![3])]),
                excluded: vec![Leaf(3)],
                ..none()
            },
            "rank 1 has no core left: none of those that it may use can be used; allow it others",
        ),
        (
            5,
            Constraints {
                allowed: allowed([(0, vec![3, 4]), (1, vec![3]), (4, vec![4, 3])]),
                ..none()
            },
            "ranks 0, 1, 4 may only use cores 3, 4, which take 2 ranks: allow some of them other \
             cores",
        ),
        (
            9,
            Constraints {
                slots: vec![1; 8].into(),
                ..none()
            },
            "9 ranks do not fit into the 8 slots of the cores that may be used: allow more slots \
             or cores, or use fewer ranks",
        ),
        (
            4,
            Constraints {
                slots: vec![1; 7].into(),
                ..none()
            },
            "7 numbers of slots are given for 8 cores: give one for each",
        ),
        (
            8,
            Constraints {
                together: together(&[&[0, 1, 2, 3, 4]]),
                ..none()
            },
            "ranks 0, 1, 2, 3, 4 must share a node, but no node has room for all 5: the largest \
             takes 4 of them",
        ),
        (
            8,
            Constraints {
                together: together(&[&[0, 1]]),
                fixed: fixed([(0, 0), (1, 7)]),
                ..none()
            },
            "ranks 0, 1 must share a node, but no node has room for all 2: the largest takes 1 of \
             them",
        ),
        (
            8,
            Constraints {
                together: together(&[&[0, 1, 2], &[3, 4, 5], &[6, 7]]),
                ..none()
            },
            "no node was found for ranks 6, 7, which must share one, beside the other ranks that \
             must share theirs: make some of these sets smaller",
        ),
        (
            8,
            Constraints {
                together: together(&[&[0, 8]]),
                ..none()
            },
            "--together names rank 8, but the job's 8 ranks count from 0",
        ),
        (
            4,
            Constraints {
                together_level: Some("rack".to_owned()),
                ..none()
            },
            "no level is called \"rack\": the levels are node, socket, core",
        ),
        (
            4,
            Constraints {
                threads_per_core: Some(0),
                ..none()
            },
            "0 threads of each core would leave nothing to use: allow at least 1",
        ),
    ] {
        assert_eq!(refusal(ranks, &machine, &with), expected);
    }
}

/// Random constraints, many of which contradict each other.
fn constraints(
    ranks: usize,
    leaves: usize,
) -> impl proptest::strategy::Strategy<Value = Constraints> {
    let rank = (0..ranks.max(1)).prop_map(Rank);
    let leaf = (0..leaves).prop_map(Leaf);
    let slots = prop_oneof![Just(Vec::new()), prop::collection::vec(0usize..4, leaves),];
    let fixed = prop::collection::btree_map(rank.clone(), leaf.clone(), 0..3);
    let some_leaves = prop::collection::vec(leaf.clone(), 1..=leaves);
    let allowed = prop::collection::btree_map(rank.clone(), some_leaves, 0..4);
    let together = prop::collection::vec(prop::collection::vec(rank, 2..4), 0..3);
    let excluded = prop::collection::vec(leaf, 0..2);
    (slots, fixed, allowed, together, excluded).prop_map(
        |(slots, fixed, allowed, together, excluded)| Constraints {
            slots: slots.into(),
            excluded,
            fixed,
            allowed,
            together,
            ..Constraints::default()
        },
    )
}

proptest! {
    /// Either all constraints are satisfied, or the error has one line.
    #[test]
    fn a_placement_keeps_all_rules_or_is_refused(
        (topology, matrix, with) in strategies::topology_and_matrix()
            .prop_flat_map(|(topology, matrix)| {
                let with = constraints(matrix.order(), topology.leaf_count());
                (Just(topology), Just(matrix), with)
            }),
    ) {
        let ranks = matrix.order();
        for strategy in ANY_TREE {
            let options = Options { constraints: Some(&with), ..Options::default() };
            let outcome = match place(strategy, &matrix, &topology, &options) {
                Ok(outcome) => outcome,
                Err(error) => {
                    prop_assert!(!error.to_string().contains('\n'));
                    prop_assert!(SlotTree::new(&with, ranks, &topology).is_err(), "{}", error);
                    continue;
                }
            };
            let leaves = outcome.placement.leaf_of_rank;
            prop_assert_eq!(leaves.len(), ranks);
            let mut taken = List::from(vec![0; topology.leaf_count()]);
            leaves.iter().for_each(|&leaf| taken[leaf] += 1);
            for (leaf, &count) in taken.iter_enumerated() {
                let usable = !topology.leaf(leaf).forbidden && !with.excluded.contains(&leaf);
                let slots = with.slots.get(leaf).copied().unwrap_or(1);
                let room = if usable { slots } else { 0 };
                prop_assert!(count <= room);
            }
            for (&rank, &leaf) in &with.fixed {
                prop_assert_eq!(leaves[rank], leaf);
            }
            for (rank, allowed) in &with.allowed {
                prop_assert!(allowed.contains(&leaves[*rank]));
            }
            let node = topology.levels().iter().position(|level| level.name == "node");
            let depth = node.map_or(0, |level| level + 1);
            for set in &with.together {
                let at = |rank: Rank| topology.ancestor(leaves[rank], depth);
                prop_assert!(set.iter().all(|&rank| at(rank) == at(set[0])));
            }
        }
    }

    /// Checks the property on which a search by swaps relies.
    #[test]
    fn allowed_swaps_keep_all_rules(
        (topology, matrix, with) in strategies::topology_and_matrix()
            .prop_flat_map(|(topology, matrix)| {
                let with = constraints(matrix.order(), topology.leaf_count());
                (Just(topology), Just(matrix), with)
            }),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 30),
    ) {
        let Ok(slot_tree) = SlotTree::new(&with, matrix.order(), &topology) else {
            return Ok(());
        };
        let slots = slot_tree.topology().leaf_count();
        let mut slot_of = slot_tree.admit(Slot::list(vec![slots; matrix.order()])).unwrap();
        prop_assert!(slot_tree.keeps_rules(&slot_of));
        for (a, b) in picks {
            let (a, b) = (Slot(a.index(slots)), Slot(b.index(slots)));
            let on = |slot: Slot, slot_of: &Slice<Rank, Slot>| slot_of.position(|&s| s == slot);
            let (one, other) = (on(a, &slot_of), on(b, &slot_of));
            let occupant = |rank, slot| Occupant { rank, slot };
            if a != b && slot_tree.may_swap(occupant(one, a), occupant(other, b)) {
                one.into_iter().for_each(|rank| slot_of[rank] = b);
                other.into_iter().for_each(|rank| slot_of[rank] = a);
                prop_assert!(slot_tree.keeps_rules(&slot_of));
            }
        }
    }
}
