//! The plans that a guard tries.

use super::*;

#[test]
fn challengers_come_with_their_part_of_the_native_time_the_best_first() {
    let network = grids::four_by_four();
    let clusters = Clusters::of_network(&network);
    let family = Some(Family::OpenMpi);
    let mut chooser = Chooser::new(Some(Arc::new(network)), &clusters, family);
    let bytes = Some(64 * KIB);
    let choice = chooser.choose(Operation::Bcast, bytes, 0, false, &clusters);
    let challengers = chooser.challengers(&choice, bytes);
    assert_eq!(challengers.len(), choice.considered().len());
    let parts: Vec<Option<u32>> = challengers.iter().map(|one| one.per_mille).collect();
    assert!(parts.is_sorted() && parts[0] < Some(1000), "{parts:?}");
    for (one, considered) in challengers.iter().zip(choice.considered()) {
        assert_eq!(one.candidate.to_string(), considered.strategy.name);
        // Blocks that are sent whole go together with others.
        assert!(one.candidate.segment() >= considered.segment);
    }
}

#[test]
fn by_rule_the_one_that_is_chosen_is_tried_and_nothing_where_there_is_none() {
    let clusters = Clusters::new(&[0, 0, 1, 1]);
    let mut chooser = Chooser::new(None, &clusters, Some(Family::Mpich));
    let mut named = |operation, bytes| {
        let choice = chooser.choose(operation, Some(bytes), 0, false, &clusters);
        let all = chooser.challengers(&choice, Some(bytes));
        all.iter()
            .map(|one| (one.candidate.to_string(), one.per_mille))
            .collect::<Vec<_>>()
    };
    let by_rule = ("grid-exchange".to_owned(), None);
    assert_eq!(named(Operation::Allreduce, 8), [by_rule]);
    assert_eq!(named(Operation::Scan, 1 << 20), []);
}

#[test]
fn near_hosts_of_one_cluster_keep_the_native_collective_and_have_challengers() {
    let [equal, _] = grids::platforms();
    let locality = Locality::Platform {
        platform: equal.clone(),
        eager_limit: 64 * KIB,
    };
    let (clusters, network) = locality.of(&equal.ranks_of(1));
    assert_eq!((clusters.count(), clusters.are_far()), (4, false));
    let family = Some(Family::OpenMpi);
    let mut chooser = Chooser::new(network.map(Arc::new), &clusters, family);
    let bytes = Some(64 * KIB);
    let choice = chooser.choose(Operation::Bcast, bytes, 0, false, &clusters);
    assert!(choice.strategy.is_none() && choice.seconds == choice.native_seconds());
    let challengers = chooser.challengers(&choice, bytes);
    assert!(challengers[0].per_mille < Some(900), "{challengers:?}");
    // What has to keep its order is by rule, as everywhere in one cluster.
    let ordered = chooser.choose(Operation::Reduce, bytes, 0, true, &clusters);
    assert!(ordered.considered().is_empty() && ordered.strategy.is_some());
}
