//! Algorithms on more ranks, in random clusters. A failing case is shrunk and printed with all its
//! parameters; its seed is kept in `proptest-regressions`.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::tests::{Arrangement, check_one, orders, roots};
use treepie_base::{Cluster, List};
use treepie_collective::grids::scattered_on;
use treepie_collective::{Algorithm, Clusters, Flow, Operation};

/// Number of arrangements per test.
const CASES: u32 = 5;

/// Random arrangement.
#[derive(Debug, Clone)]
struct Drawn {
    /// Cluster of each rank.
    numbers: Vec<usize>,
    /// Ranks on a host.
    on_host: usize,
    /// True if the links are known.
    on_network: bool,
    /// Determines the leader of each cluster, if no network does.
    leaders: usize,
    units: u64,
    flow: Flow,
}

impl Drawn {
    fn arrangement(&self) -> Arrangement {
        if self.on_network {
            let network = scattered_on(&self.numbers, self.on_host);
            return Arrangement {
                clusters: Clusters::of_network(&network),
                network: Some(network),
            };
        }
        let hosts: Vec<usize> = (0..self.numbers.len()).map(|r| r / self.on_host).collect();
        let clusters = Clusters::new(&self.numbers).with_closer(&hosts);
        let leader = |cluster: Cluster| {
            let members = clusters.members(cluster);
            members[(self.leaders + cluster.0) % members.len()]
        };
        let leaders: List<Cluster, usize> = clusters.all().map(leader).collect();
        Arrangement {
            clusters: clusters.with_leaders(&leaders),
            network: None,
        }
    }
}

prop_compose! {
    fn drawn()(ranks in 17_usize..=40, clusters in 1_usize..=9)
        (
            numbers in prop::collection::vec(0..clusters, ranks),
            on_host in 1_usize..=5,
            on_network in any::<bool>(),
            leaders in 0_usize..40,
            units in 0_u64..12,
            segment in prop_oneof![1_u64..4, Just(5000)],
            in_flight in prop_oneof![Just(0_u64), 1_u64..9],
            late in 0_usize..4,
        ) -> Drawn {
            let flow = Flow { segment, in_flight: Some(in_flight), late };
            Drawn { numbers, on_host, on_network, leaders, units, flow }
        }
}

/// Checks all algorithms of some operations, from every root.
fn check(drawn: &Drawn, which: impl Fn(Operation) -> bool) -> Result<(), TestCaseError> {
    let at = drawn.arrangement();
    let ranks = at.clusters.ranks();
    for operation in Operation::all().filter(|&operation| which(operation)) {
        for algorithm in Algorithm::of(operation) {
            for root in roots(operation, ranks) {
                for &ordered in orders(operation) {
                    let (units, flow) = (drawn.units, drawn.flow);
                    let result = check_one(algorithm, operation, &at, root, units, flow, ordered);
                    let name = algorithm.name;
                    prop_assert_eq!(
                        result,
                        Ok(()),
                        "{} {}, root {}, ordered: {}",
                        operation,
                        name,
                        root,
                        ordered
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_that_moves_is_right_from_every_root_in_any_arrangement_of_17_to_40_ranks(
        drawn in drawn()
    ) {
        check(&drawn, |operation| !operation.reduces())?;
    }

    #[test]
    fn every_algorithm_that_reduces_is_right_from_every_root_in_any_arrangement_of_17_to_40_ranks(
        drawn in drawn()
    ) {
        check(&drawn, Operation::reduces)?;
    }
}
