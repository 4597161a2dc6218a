//! Plans that a guard tries.

use super::*;
use treepie_base::Cluster;
use treepie_collective::Requirement;

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
        assert_eq!(one.candidate.to_string(), considered.algorithm.name);
        // Blocks that are not cut are sent together with others.
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
fn short_messages_between_near_hosts_keep_the_native_collective_and_have_challengers() {
    let [equal, _] = grids::platforms();
    let locality = Locality::Platform {
        platform: equal.clone(),
        eager_limit: 64 * KIB,
    };
    let (clusters, network) = locality.of(&equal.ranks_of(Cluster(1)));
    assert_eq!((clusters.count(), clusters.are_far()), (4, false));
    let family = Some(Family::OpenMpi);
    let mut chooser = Chooser::new(network.map(Arc::new), &clusters, family);
    let bytes = Some(64 * KIB);
    for (bytes, is_native) in [(Some(8), true), (bytes, false)] {
        assert_eq!(
            chooser.is_left_to_native(bytes.unwrap(), &clusters),
            is_native
        );
        let choice = chooser.choose(Operation::Bcast, bytes, 0, false, &clusters);
        assert_eq!(choice.algorithm.is_none(), is_native);
        assert_eq!(choice.seconds == choice.native_seconds(), is_native);
        let challengers = chooser.challengers(&choice, bytes);
        assert!(challengers[0].per_mille < Some(900), "{challengers:?}");
    }
    // Ordered operations are chosen by rule, as always in one cluster.
    let ordered = chooser.choose(Operation::Reduce, bytes, 0, true, &clusters);
    assert!(ordered.considered().is_empty() && ordered.algorithm.is_some());
}

/// Names of the candidates against the native collective on `ranks` ranks of one host that share
/// its memory.
fn tried_in_memory(ranks: usize, operation: Operation, bytes: Option<u64>) -> Vec<String> {
    let clusters = Clusters::one(ranks);
    let network = Arc::new(Network::in_memory(&clusters));
    let mut chooser = Chooser::new(Some(network), &clusters, None);
    let choice = chooser.choose(operation, bytes, 0, false, &clusters);
    // Without a prediction, it is by rule.
    assert_eq!(choice.algorithm.is_some(), bytes.is_none());
    let all = chooser.challengers(&choice, bytes);
    assert!(all.iter().all(|one| one.per_mille.is_none()));
    all.iter().map(|one| one.candidate.to_string()).collect()
}

#[test]
fn in_the_memory_of_a_host_algorithms_by_rank_are_tried_that_serve_and_differ() {
    for ranks in [2, 3, 5, 8, 64] {
        for operation in Operation::all() {
            for bytes in SIZES {
                let tried = tried_in_memory(ranks, operation, Some(bytes));
                assert!(!tried.is_empty(), "{operation} of {bytes} on {ranks}");
                for name in &tried {
                    let algorithm = Algorithm::find(operation, name).unwrap();
                    let is_allowed = |one: &Requirement| one.allows(ranks);
                    assert!(algorithm.is_by_rank(), "{operation}: {name}");
                    assert!(algorithm.requires.iter().all(is_allowed), "{name}");
                }
            }
        }
    }
    // On two ranks most algorithms are identical.
    assert_eq!(tried_in_memory(2, Operation::Barrier, Some(0)).len(), 2);
    let first = |ranks, operation, bytes| tried_in_memory(ranks, operation, Some(bytes)).remove(0);
    assert_eq!(first(64, Operation::Barrier, 0), "dissemination");
    assert_eq!(first(8, Operation::Allreduce, 8), "recursive-doubling");
    let long = first(64, Operation::Allreduce, 1 << 20);
    assert_eq!(long, "reduce-scatter-allgather");
}

#[test]
fn in_memory_sizes_that_not_all_know_and_operands_in_order_are_by_rule() {
    assert_eq!(tried_in_memory(8, Operation::Gatherv, None), ["flat"]);
    let clusters = Clusters::one(8);
    let network = Arc::new(Network::in_memory(&clusters));
    let mut chooser = Chooser::new(Some(network), &clusters, None);
    let choice = chooser.choose(Operation::Reduce, Some(8), 0, true, &clusters);
    assert!(choice.considered().is_empty());
    assert_eq!(choice.algorithm.map(|one| one.name), Some("binomial"));
}
