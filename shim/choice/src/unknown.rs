//! Choice for blocks whose sizes MPI does not give to all ranks: whether small ones of a cluster
//! are sent to others together ([`told`](treepie_collective::told)), by the time of small ones
//! alone. Large ones are sent directly in either case.
//!
//! The choice depends only on the operation and the network, not even on the root: ranks must know
//! whether leaders receive sizes before they use any value that one rank alone may have.

use crate::choice::{Choice, Considered, Unpredicted};
use crate::class::Class;
use crate::policy::MIN_GAIN_RATIO;
use crate::prices::Prices;
use treepie_collective::algorithms::Price;
use treepie_collective::network::MessageCosts;
use treepie_collective::{Algorithm, Clusters, Uniform, told};

/// Representative bytes of small blocks.
const SMALL: u64 = 64;

/// Representative bytes of blocks that leaders do not relay.
const LARGE: u64 = 64 << 10;

/// Ratio to the time of separate blocks that blocks sent together must reach: they wait for two
/// turns of the leader, which are late if ranks share cores. Eight ranks a host on two cores,
/// predicted at 0.95, took 1.08.
const CLEARLY: f64 = 0.9;

impl Prices {
    /// Choice of small blocks together, in messages of up to `eager` bytes; `None` if that gains
    /// too little.
    pub(super) fn aggregated(
        &self,
        class: Class,
        clusters: &Clusters,
        eager: u64,
    ) -> Option<Choice> {
        let named = |name| Algorithm::find(class.operation, name);
        let together = named("grid-aggregate").filter(|one| one.allows(clusters.ranks()))?;
        let alone = named("flat")?;
        let in_one = self.blocks_of_message(class, clusters);
        let of = |algorithm, bytes, blocks: u64| {
            let message = eager.min(bytes * blocks);
            self.of_blocks(algorithm, class, (bytes, message), clusters)
        };
        let [small, large] = [SMALL, LARGE].map(|bytes| {
            let blocks = match told::goes_along(bytes) {
                true => in_one,
                false => 1,
            };
            [of(together, bytes, blocks), of(alone, bytes, 1)]
        });
        let gains = small[0] < CLEARLY * small[1] && MIN_GAIN_RATIO * large[0] <= large[1];
        let considered = [(together, small[0]), (alone, small[1])];
        gains.then(|| Choice {
            algorithm: Some(together),
            segment: eager,
            seconds: None,
            unpredicted: Unpredicted::UnknownSizes,
            considered: Vec::from(considered.map(|(algorithm, seconds)| Considered {
                algorithm,
                segment: eager,
                seconds,
            })),
            native: None,
        })
    }

    /// Maximum number of blocks that are sent together from one cluster to another.
    fn blocks_of_message(&self, class: Class, clusters: &Clusters) -> u64 {
        let members = clusters.all().map(|c| clusters.members(c).len() as u64);
        let members = members.max().unwrap_or(1);
        match class.operation.has_root() {
            true => members,
            false => members * members,
        }
    }

    /// Seconds of an algorithm for equal blocks in messages of `message` bytes, from the cluster in
    /// the centre.
    fn of_blocks(
        &self,
        algorithm: &'static Algorithm,
        class: Class,
        (bytes, message): (u64, u64),
        clusters: &Clusters,
    ) -> f64 {
        let costs = MessageCosts::new(&self.network, message);
        let call = Uniform {
            operation: class.operation,
            bytes,
            root: clusters.leader(self.network.centre()),
        };
        let input = self.input(&call, false, clusters, &costs);
        match algorithm.candidate.price(false) {
            Some(Price::Estimated(estimate)) => estimate(&input),
            Some(Price::Read) | None => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chooser::Chooser;
    use crate::form::Progress;
    use treepie_collective::read::simulate::{Options, simulate};
    use treepie_collective::{Amount, Network, Operation, Problem, grids};
    use treepie_native::Family;

    const UNEVEN: [Operation; 4] = [
        Operation::Gatherv,
        Operation::Scatterv,
        Operation::Alltoallv,
        Operation::Alltoallw,
    ];

    fn chooser(network: &Network) -> (Chooser, Clusters) {
        let clusters = Clusters::of_network(network);
        let network = Some(Arc::new(network.clone()));
        (
            Chooser::new(network, &clusters, Some(Family::OpenMpi)),
            clusters,
        )
    }

    #[test]
    fn small_blocks_of_many_go_together_from_any_root_and_both_ways_are_tried() {
        let network = grids::hosts_of_eight();
        let (mut chooser, clusters) = chooser(&network);
        for root in [0, 13, 31] {
            let choice = chooser.choose(Operation::Alltoallv, None, root, false, &clusters);
            let name = choice.algorithm.map(|algorithm| algorithm.name);
            assert_eq!(name, Some("grid-aggregate"), "{}", choice.reason());
            assert!(choice.reason().contains("together"), "{}", choice.reason());
            let tried = chooser.challengers(&choice, None);
            let names: Vec<String> = tried.iter().map(|one| one.candidate.to_string()).collect();
            assert_eq!(names, ["grid-aggregate", "flat"]);
            assert!(tried.iter().all(|one| one.per_mille.is_none()));
        }
    }

    #[test]
    fn started_ones_go_together_only_where_the_mpi_calls_us() {
        let network = grids::hosts_of_eight();
        let (mut chooser, clusters) = chooser(&network);
        for (progress, expected) in [
            (Progress::Called, Some("grid-aggregate")),
            (Progress::Own, None),
        ] {
            let call = (Operation::Alltoallv, None, 0);
            let choice = chooser.choose_started(call, false, &clusters, progress);
            let name = choice.algorithm.map(|algorithm| algorithm.name);
            assert_eq!(name, expected, "{progress}: {}", choice.reason());
        }
    }

    #[test]
    fn blocks_go_alone_to_a_root_that_gains_less_than_leaders_may_lose() {
        let network = grids::hosts_of_eight();
        let (mut chooser, clusters) = chooser(&network);
        for operation in [Operation::Gatherv, Operation::Scatterv] {
            let choice = chooser.choose(operation, None, 0, false, &clusters);
            let name = choice.algorithm.map(|algorithm| algorithm.name);
            assert_eq!(name, Some("flat"), "{}", choice.reason());
        }
    }

    #[test]
    fn blocks_of_few_and_those_of_no_known_network_go_alone() {
        let few = grids::network(&[1, 1, 1], |_| grids::lan(), |_, _| grids::wan(10.0, 100.0));
        let (mut on_network, clusters) = chooser(&few);
        let mut by_rule = Chooser::new(None, &clusters, None);
        for operation in UNEVEN {
            for chooser in [&mut on_network, &mut by_rule] {
                let choice = chooser.choose(operation, None, 0, false, &clusters);
                let name = choice.algorithm.map(|algorithm| algorithm.name);
                assert_eq!(name, Some("flat"), "{operation}");
            }
        }
    }

    /// The simulator follows every message of the plans.
    #[test]
    fn what_is_chosen_is_faster_in_the_simulator_for_blocks_of_any_small_size() {
        for network in [
            grids::hosts_of_eight(),
            grids::four_by_four(),
            grids::many(4, 12),
        ] {
            let (mut chooser, clusters) = chooser(&network);
            for operation in UNEVEN {
                let root = clusters.leader(network.centre());
                let choice = chooser.choose(operation, None, root, false, &clusters);
                if choice.algorithm.is_some_and(|one| one.name == "flat") {
                    continue;
                }
                for bytes in [1, 64, 512] {
                    let amount = Amount::Each(bytes);
                    let problem = Problem {
                        operation,
                        root: if operation.has_root() { root } else { 0 },
                        amount: &amount,
                        clusters: &clusters,
                        ordered: false,
                        network: Some(&network),
                        unit_bytes: 1,
                    };
                    let [together, alone] = ["grid-aggregate", "flat"].map(|name| {
                        let algorithm = Algorithm::find(operation, name).unwrap();
                        let plans = algorithm.describe(&problem).plans(choice.segment);
                        let outcome = simulate(&network, &plans, 1, Options::default());
                        outcome.unwrap().seconds
                    });
                    assert!(
                        together < 1.01 * alone,
                        "{operation} of {bytes}: {together} {alone}; {}",
                        choice.reason()
                    );
                }
            }
        }
    }
}
