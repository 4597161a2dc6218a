//! Properties of every placement, for any matrix and tree (thesis digest, appendix C).
#![allow(clippy::unwrap_used)] // a test may panic

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use treepie_base::{Leaf, List};
use treepie_placement::objective::{dist_comm, mean_of_directions};
use treepie_placement::treematch::PossibleGroups;
use treepie_placement::treematch::{
    Buckets, Edge, Hierarchy, Parameters, aggregated, decomposed, exact, extended, fast, group,
    largest_neighbours_first, largest_ratio_first, smallest_first, smallest_maximum,
};
use treepie_placement::{
    Effort, Options, PlacementError, Strategy, check, partition, permutation, place, place_top_down,
};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

mod strategies;
use strategies::{arities_and_matrix, matrix, topology_and_matrix};

fn with_threshold(exact_below: u64) -> Parameters {
    Parameters {
        exact_below,
        ..Parameters::default()
    }
}

/// Summed traffic between groups after each level, the leaf level first.
fn traffic_between_groups(matrix: &Matrix, arities: &[usize], hierarchy: &Hierarchy) -> Vec<f64> {
    let mut matrix = matrix.clone();
    let levels = hierarchy.levels().iter().zip(arities).rev();
    levels
        .map(|(level, &arity)| {
            let before = matrix.total();
            let padded = level.groups.len() * arity;
            matrix = aggregated(&extended(&matrix, padded).unwrap(), &level.groups).unwrap();
            before
        })
        .collect()
}

proptest! {
    // Each case is a dozen searches.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_strategy_gives_each_rank_an_allowed_leaf_of_its_own(
        (topology, matrix) in topology_and_matrix()
    ) {
        let even = topology.pruned().unwrap().arities().is_some();
        for strategy in Strategy::ALL.iter().copied().filter(|s| !s.balances_loads()) {
            let options = Options { effort: Effort::Fast, ..Options::default() };
            let placed = place(strategy, &matrix, &topology, &options);
            let needs_even = [Strategy::TreeMatchExact, Strategy::TreeMatchFast];
            if needs_even.contains(&strategy) && !even && matrix.order() > 0 {
                prop_assert_eq!(placed, Err(PlacementError::UnevenTree { strategy }));
                continue;
            }
            if matches!(placed, Err(PlacementError::TooManyGroups { .. })) {
                prop_assert_eq!(strategy, Strategy::TreeMatchExact);
                continue;
            }
            let outcome = placed.unwrap();
            let leaves = &outcome.placement.leaf_of_rank;
            prop_assert_eq!(check(leaves, matrix.order(), &topology), Ok(()));
            prop_assert_eq!(outcome.cost, dist_comm(&matrix, &topology, leaves));
            prop_assert_ne!(outcome.strategy, Strategy::Best);
        }
    }

    #[test]
    fn best_is_never_worse_than_identity_packed_or_treematch(
        (topology, matrix, seed) in topology_and_matrix().prop_flat_map(|(topology, matrix)| {
            (Just(topology), Just(matrix), any::<u64>())
        }),
        shuffle in any::<prop::sample::Index>(),
    ) {
        let mut leaves = topology.allowed_leaves();
        let by = shuffle.index(leaves.len());
        leaves.rotate_left(by);
        leaves.truncate(matrix.order());
        let current = List::from(leaves);
        let options = Options { current: Some(&current), seed, ..Options::default() };
        let cost = |strategy| place(strategy, &matrix, &topology, &options).unwrap().cost;
        let best = place(Strategy::Best, &matrix, &topology, &options).unwrap();
        for strategy in [Strategy::Identity, Strategy::Packed, Strategy::TreeMatch] {
            prop_assert!(best.cost <= cost(strategy), "{}", strategy);
        }
        prop_assert_eq!(best.identity_cost, dist_comm(&matrix, &topology, &current));
        if best.cost == best.identity_cost {
            prop_assert_eq!(best.strategy, Strategy::Identity);
            prop_assert_eq!(best.placement.leaf_of_rank, current);
        }
    }

}

proptest! {
    #[test]
    fn groups_of_every_level_are_disjoint_whole_and_cover_all(
        (arities, matrix) in arities_and_matrix(), threshold in prop::sample::select(vec![0, 30_000])
    ) {
        let affinity = mean_of_directions(&matrix).unwrap();
        let hierarchy = group(&affinity, &arities, &with_threshold(threshold)).unwrap();
        prop_assert_eq!(hierarchy.levels().len(), arities.len());
        for (level, &arity) in hierarchy.levels().iter().zip(&arities) {
            prop_assert!(level.groups.iter().all(|members| members.len() == arity));
            let mut members = level.groups.concat();
            members.sort();
            prop_assert_eq!(&members, &(0..members.len()).collect::<Vec<_>>());
            prop_assert!(members.len() >= level.entities);
            prop_assert!(members.len() < level.entities.max(1) + arity);
        }
    }

    #[test]
    fn aggregation_keeps_symmetry_and_loses_only_what_is_inside(
        matrix in (1..40_usize).prop_flat_map(matrix), size in 1..6_usize
    ) {
        let affinity = mean_of_directions(&matrix).unwrap();
        let padded = extended(&affinity, affinity.order().next_multiple_of(size)).unwrap();
        let groups = fast::group(&padded, size, 8, 0).groups;
        let whole = aggregated(&padded, &groups).unwrap();
        for (a, b, value) in whole.entries() {
            prop_assert_eq!(whole.get(b, a), value);
            prop_assert_ne!(a, b);
        }
        let inside: f64 = groups
            .iter()
            .flat_map(|members| members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b))))
            .map(|(a, b)| padded.get(a, b))
            .sum();
        prop_assert_eq!(whole.total(), padded.total() - inside);
    }

    #[test]
    fn the_cost_is_twice_the_traffic_left_between_groups_summed_over_levels(
        (arities, matrix) in arities_and_matrix(), threshold in prop::sample::select(vec![0, 30_000])
    ) {
        // On the tree for which groups were made, decomposed or not.
        for arities in [decomposed(&arities), arities] {
            if arities.is_empty() {
                continue;
            }
            let affinity = mean_of_directions(&matrix).unwrap();
            let hierarchy = group(&affinity, &arities, &with_threshold(threshold)).unwrap();
            let topology = Topology::from_arity_list(&arities, None).unwrap();
            let cost = dist_comm(&matrix, &topology, &Leaf::list(hierarchy.leaf_of_entity()));
            // Totals hold each pair in both triangles.
            let left = traffic_between_groups(&affinity, &arities, &hierarchy);
            prop_assert_eq!(cost, left.iter().sum::<f64>());
        }
    }

    #[test]
    fn on_two_halves_the_cost_is_twice_the_total_and_the_cut(
        matrix in (1..12_usize).prop_flat_map(|half| matrix(2 * half))
    ) {
        let half = matrix.order() / 2;
        let topology = Topology::from_arity_list(&[2, half], None).unwrap();
        let leaves = Leaf::list(0..2 * half);
        let affinity = mean_of_directions(&matrix).unwrap();
        let total = affinity.total() / 2.0;
        let crossing = affinity.entries().filter(|&(a, b, _)| a < half && b >= half);
        let cut: f64 = crossing.map(|(_, _, value)| value).sum();
        prop_assert_eq!(dist_comm(&matrix, &topology, &leaves), 2.0 * cut + 2.0 * total);
    }

    #[test]
    fn scale_and_diagonal_do_not_change_the_placement(
        (arities, matrix) in arities_and_matrix(), power in 1..10, own in 1..500_u32
    ) {
        let topology = Topology::from_arity_list(&arities, None).unwrap();
        let scaled = matrix.entries().map(|(a, b, value)| (a, b, value * 2.0_f64.powi(power)));
        let scaled = Matrix::from_entries(matrix.order(), scaled).unwrap();
        let diagonal = (0..matrix.order()).map(|rank| (rank, rank, f64::from(own)));
        let heavier = Matrix::from_entries(matrix.order(), matrix.entries().chain(diagonal)).unwrap();
        let leaves = |matrix| {
            let outcome = place(Strategy::TreeMatch, matrix, &topology, &Options::default());
            outcome.unwrap().placement
        };
        prop_assert_eq!(leaves(&scaled), leaves(&matrix));
        prop_assert_eq!(leaves(&heavier), leaves(&matrix));
    }

    #[test]
    fn renumbered_ranks_get_the_same_partners(
        weights in Just((0..28_u32).collect::<Vec<_>>()).prop_shuffle(),
        names in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        // Distinct powers of two: no two sums of affinities are equal.
        let pairs = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
        let entries = pairs.zip(&weights).flat_map(|((a, b), &power)| {
            let value = 2.0_f64.powi(power as i32);
            [(a, b, value), (b, a, value)]
        });
        let matrix = Matrix::from_entries(8, entries).unwrap();
        let renamed = matrix.renumbered(&names).unwrap();
        let topology = Topology::from_arities("2:2:2").unwrap();
        let leaves = |matrix| {
            let grouped = group(matrix, &[2, 2, 2], &with_threshold(0)).unwrap();
            grouped.leaf_of_entity().into_iter().map(Leaf).collect::<Vec<_>>()
        };
        let (before, after) = (leaves(&matrix), leaves(&renamed));
        for a in 0..8 {
            for b in 0..8 {
                prop_assert_eq!(
                    topology.distance(before[a], before[b]),
                    topology.distance(after[names[a]], after[names[b]])
                );
            }
        }
    }

    #[test]
    fn every_heuristic_chooses_whole_disjoint_groups(
        size in 1..5_usize, groups in 1..4_usize, seed_matrix in matrix(16)
    ) {
        let order = size * groups;
        let entries = seed_matrix.entries().map(|(a, b, value)| (a % order, b % order, value));
        let affinity = mean_of_directions(&Matrix::from_entries(order, entries).unwrap()).unwrap();
        let possible = PossibleGroups::new(&affinity, size);
        let first = possible.total_weight(&smallest_first(&possible));
        let heaviest = |chosen: &[usize]| {
            chosen.iter().map(|&g| possible.weight(g)).fold(0.0, f64::max)
        };
        for heuristic in [
            smallest_first,
            smallest_maximum,
            largest_ratio_first,
            largest_neighbours_first,
        ] {
            let chosen = heuristic(&possible);
            let mut members: Vec<usize> =
                chosen.iter().flat_map(|&g| possible.members(g).to_vec()).collect();
            members.sort();
            prop_assert_eq!(members, (0..order).collect::<Vec<_>>());
        }
        prop_assert!(heaviest(&smallest_maximum(&possible)) <= heaviest(&smallest_first(&possible)));
        let kept = exact::group(&affinity, size);
        let weight_of = |members: &Vec<usize>| {
            let group = (0..possible.len()).find(|&g| possible.members(g) == members);
            possible.weight(group.unwrap())
        };
        prop_assert!(kept.iter().map(weight_of).sum::<f64>() <= first);
    }

    #[test]
    fn fast_groups_do_not_depend_on_seed_or_buckets(
        matrix in (0..60_usize).prop_flat_map(matrix), size in 1..8_usize,
        buckets in 1..12_usize, seed in any::<u64>()
    ) {
        let affinity = mean_of_directions(&matrix).unwrap();
        let padded = extended(&affinity, affinity.order().next_multiple_of(size)).unwrap();
        let grouping = fast::group(&padded, size, buckets, seed);
        prop_assert_eq!(grouping.groups.len(), padded.order() / size);
        prop_assert!(grouping.groups.iter().all(|members| members.len() == size));
        prop_assert!(grouping.buckets_sorted <= buckets);
        prop_assert_eq!(&grouping, &fast::group(&padded, size, buckets, seed));
        prop_assert_eq!(&grouping.groups, &fast::group(&padded, size, 1, 0).groups);
    }

    #[test]
    fn buckets_hold_all_edges_in_descending_order(
        values in prop::collection::vec(0..20_u32, 0..200),
        count in 1..10_usize, sample in 0..50_usize, seed in any::<u64>()
    ) {
        let edges: Vec<Edge> = values
            .iter()
            .enumerate()
            .map(|(low, &value)| Edge { low, high: low + 1, value: f64::from(value) })
            .collect();
        let mut expected = edges.clone();
        expected.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut buckets = Buckets::new(edges, count, sample, seed);
        let mut found = Vec::new();
        while let Some(sorted) = buckets.next_sorted() {
            found.extend_from_slice(sorted);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(buckets.sorted(), count);
        prop_assert_eq!(buckets.pivots().len(), count - 1);
    }

    #[test]
    fn a_partition_has_exactly_the_sizes_that_were_asked_for(
        sizes in prop::collection::vec(0..6_usize, 1..6), seed in any::<u64>()
    ) {
        let order: usize = sizes.iter().sum();
        let ring = (0..order).map(|rank| (rank, (rank * 3 + 1) % order, 1.0));
        let ring = Matrix::from_entries(order, ring).unwrap();
        let affinity = mean_of_directions(&ring).unwrap();
        let parts = partition(&affinity, &sizes, seed);
        for (part, &size) in sizes.iter().enumerate() {
            prop_assert_eq!(parts.iter().filter(|&&p| p == part).count(), size);
        }
        prop_assert_eq!(&parts, &partition(&affinity, &sizes, seed));
    }

    #[test]
    fn a_full_tree_without_constraints_is_filled_by_a_permutation(
        (arities, seed) in (strategies::arities(), any::<u64>())
    ) {
        let topology = Topology::from_arity_list(&arities, None).unwrap();
        let leaves = topology.leaf_count();
        let ring = (0..leaves).map(|rank| (rank, (rank + leaves / 2 + 1) % leaves, 1.0));
        let ring = Matrix::from_entries(leaves, ring).unwrap();
        let mut used = place_top_down(&ring, &topology, seed).unwrap();
        used.sort();
        prop_assert_eq!(used, Leaf::list(0..leaves));
    }

    #[test]
    fn new_ranks_put_each_rank_on_its_leaf(
        placed in Just((0..20_usize).collect::<Vec<_>>()).prop_shuffle(),
        launched in Just((0..20_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (placed, launched) = (Leaf::list(placed), Leaf::list(launched));
        let new_rank = permutation(&placed, &launched).unwrap();
        for (process, &rank) in new_rank.iter_enumerated() {
            prop_assert_eq!(placed[rank], launched[process]);
        }
    }
}
