//! Placements of particular cases, and refused input.
#![allow(clippy::unwrap_used)] // a test may panic

use treepie_base::{Leaf, Rank};
use treepie_placement::objective::dist_comm;
use treepie_placement::treematch::{Parameters, group};
use treepie_placement::{Options, PlacementError, Strategy, permutation, place, place_top_down};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

#[test]
fn a_silent_matrix_stays_where_it_is() {
    for ranks in [0, 1, 7, 12] {
        let topology = Topology::from_arities("2:3:2").unwrap();
        let outcome = place(
            Strategy::Best,
            &Matrix::zero(ranks),
            &topology,
            &Options::default(),
        )
        .unwrap();
        assert_eq!(outcome.strategy, Strategy::Identity);
        assert_eq!(outcome.placement.leaf_of_rank, Leaf::list(0..ranks));
        assert_eq!(outcome.cost, 0.0);
    }
}

#[test]
fn more_ranks_than_allowed_leaves_is_an_error_with_both_numbers() {
    let topology = Topology::from_arities("2:2")
        .unwrap()
        .forbidding(&[3].map(Leaf))
        .unwrap();
    for strategy in Strategy::ALL
        .iter()
        .copied()
        .filter(|s| !s.balances_loads())
    {
        let outcome = place(strategy, &Matrix::zero(4), &topology, &Options::default());
        let expected = PlacementError::TooManyRanks {
            ranks: 4,
            leaves: 3,
        };
        assert_eq!(outcome, Err(expected), "{strategy}");
    }
    let expected = PlacementError::TooManyRanks {
        ranks: 4,
        leaves: 3,
    };
    assert_eq!(
        place_top_down(&Matrix::zero(4), &topology, 0),
        Err(expected)
    );
    assert!(group(&Matrix::zero(5), &[2, 2], &Parameters::default()).is_err());
    assert!(group(&Matrix::zero(0), &[2, 0], &Parameters::default()).is_err());
}

#[test]
fn whole_nodes_that_are_forbidden_leave_treematch_a_symmetric_tree() {
    // Two of four nodes: the pairs (0, 4), (1, 5)... belong together.
    let topology = Topology::from_arities("4:2:2").unwrap();
    let topology = topology
        .forbidding(&[0, 1, 2, 3, 8, 9, 10, 11].map(Leaf))
        .unwrap();
    let pairs = (0..4).map(|rank| (rank, rank + 4, 1.0));
    let matrix = Matrix::from_entries(8, pairs).unwrap();
    let outcome = place(Strategy::TreeMatch, &matrix, &topology, &Options::default()).unwrap();
    let together = |rank: usize| {
        let leaves = &outcome.placement.leaf_of_rank;
        topology.distance(leaves[Rank(rank)], leaves[Rank(rank + 4)])
    };
    assert_eq!([0, 1, 2, 3].map(together), [2; 4]);
}

#[test]
fn ranks_that_talk_end_up_on_one_machine_of_an_uneven_cluster() {
    let machine = |arities| Topology::from_arities(arities).unwrap();
    let cluster = Topology::cluster(vec![
        ("small".into(), machine("1:3")),
        ("large".into(), machine("2:3")),
    ]);
    let cluster = cluster.unwrap();
    // Three triangles, numbered so that packed separates them.
    let triangles = (0..9).map(|rank| (rank, (rank + 3) % 9, 10.0));
    let matrix = Matrix::from_entries(9, triangles).unwrap();
    let outcome = place(Strategy::Best, &matrix, &cluster, &Options::default()).unwrap();
    assert_eq!(outcome.strategy, Strategy::TreeMatch);
    // 9 messages of 10, each direction counted half, two hops each.
    assert_eq!(outcome.cost, 90.0);
}

#[test]
fn a_wrong_current_placement_is_refused_with_the_rank() {
    let topology = Topology::from_arities("2:2")
        .unwrap()
        .forbidding(&[3].map(Leaf))
        .unwrap();
    for (current, part) in [
        (&[0, 1][..], "2 leaves are given for 3 ranks"),
        (&[0, 1, 4], "rank 2 is on leaf 4"),
        (&[0, 1, 3], "rank 2 is on leaf 3, which is forbidden"),
        (&[0, 1, 0], "leaf 0 has both rank 0 and rank 2"),
    ] {
        let options = Options {
            current: Some(&Leaf::list(current.iter().copied())),
            ..Options::default()
        };
        let refused = place(Strategy::Best, &Matrix::zero(3), &topology, &options);
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_permutation_needs_a_process_wherever_a_rank_belongs() {
    assert_eq!(
        permutation(&Leaf::list([4, 5, 6]), &Leaf::list([6, 4, 5])),
        Ok(Rank::list([2, 0, 1]))
    );
    let missing = permutation(&Leaf::list([0, 1]), &Leaf::list([0, 2]));
    assert_eq!(
        missing,
        Err(PlacementError::NoProcess {
            rank: Rank(1),
            leaf: Leaf(1),
        })
    );
    let one_too_many = PlacementError::NoProcess {
        rank: Rank(1),
        leaf: Leaf(0),
    };
    assert_eq!(
        permutation(&Leaf::list([0, 0]), &Leaf::list([0, 1])),
        Err(one_too_many)
    );
    assert!(permutation(&Leaf::list([0]), &Leaf::list([0, 1])).is_err());
}

#[test]
fn processes_that_share_a_leaf_become_its_ranks_in_order() {
    let new_rank = permutation(&Leaf::list([1, 0, 1, 0]), &Leaf::list([0, 1, 0, 1]));
    assert_eq!(new_rank, Ok(Rank::list([1, 0, 3, 2])));
}

#[test]
fn affinities_too_large_to_add_up_are_refused() {
    let huge = Matrix::from_entries(2, [(0, 1, f64::MAX), (1, 0, f64::MAX)]).unwrap();
    let topology = Topology::from_arities("2").unwrap();
    let refused = place(Strategy::Best, &huge, &topology, &Options::default());
    assert!(matches!(refused, Err(PlacementError::TooHeavy { .. })));
}

#[test]
fn distances_of_levels_decide_what_is_cheap() {
    let pair = Matrix::from_entries(2, [(0, 1, 1.0), (1, 0, 1.0)]).unwrap();
    let topology = Topology::from_arities("2:2").unwrap();
    assert_eq!(dist_comm(&pair, &topology, &Leaf::list([0, 2])), 4.0);
    let weighted = topology.with_level_distances(&[100.0, 10.0]).unwrap();
    assert_eq!(dist_comm(&pair, &weighted, &Leaf::list([0, 2])), 100.0);
    assert_eq!(dist_comm(&pair, &weighted, &Leaf::list([0, 1])), 10.0);
}
