//! Choice for a collective that is started and completed later.
//!
//! While the program does something else, its plan may make no progress. A rank that sends or
//! receives only after a message has arrived may then keep others waiting for ever: it may depend
//! on their progress before it calls MPI for its collectives again. Therefore, unless the native
//! MPI calls Treepie, only plans in which no message waits are permitted
//! ([`forwards`](treepie_collective::Plan::forwards)): each rank sends to all that need its data
//! when it starts, and steps after receives are only its own work. Over long links that takes one
//! latency for two to four.

use std::sync::Arc;

use crate::choice::{Choice, Considered};
use crate::chooser::Chooser;
use crate::class::{Class, UNKNOWN, class_bytes};
use crate::form::{Form, Progress, direct};
use crate::policy::MIN_GAIN_RATIO;
use crate::prices::best_of;
use treepie_collective::Operation;
use treepie_collective::algorithms::Price;
use treepie_collective::network::MessageCosts;

use treepie_collective::{Algorithm, Clusters, Uniform};

/// Maximum number of bytes of a rank's messages in a plan if no platform is known: more take longer
/// to send than a latency of the native collective.
const MOST_BY_RULE: u64 = 64 << 10;

/// Ratio that a plan in which messages wait must reach to one in which none does, since that one
/// makes progress without calls of the program.
const WORTH_WAITING: f64 = 0.8;

/// Maximum number of bytes of other ranks' operands that a plan may hold at a time.
const MOST_OPERANDS: u64 = 64 << 20;

/// Maximum number of bytes that a rank sends by [`direct`], and bytes of others' operands that it
/// holds.
fn moved(operation: Operation, bytes: u64, ranks: usize) -> (u64, u64) {
    let others = ranks as u64 - 1;
    let all = bytes.saturating_mul(others);
    let operands = match operation.reduces() {
        true => all,
        false => 0,
    };
    (all, operands)
}

impl Choice {
    /// True if its plan needs calls meanwhile that its gain does not justify.
    fn is_hardly_faster_than(&self, direct: &Considered) -> bool {
        let native = self.native.unwrap_or(f64::INFINITY);
        let is_faster = |best: f64| best < WORTH_WAITING * direct.seconds;
        self.algorithm.is_some()
            && direct.seconds < MIN_GAIN_RATIO * native
            && !self.seconds.is_some_and(is_faster)
    }
}

impl Chooser {
    /// Choice for a started collective, as [`Chooser::choose`]; the algorithm is one that
    /// `progress` allows.
    pub fn choose_started(
        &mut self,
        call: (Operation, Option<u64>, usize),
        ordered: bool,
        clusters: &Clusters,
        progress: Progress,
    ) -> Arc<Choice> {
        let (operation, bytes, root) = call;
        let class = Class {
            operation,
            bytes: bytes.map_or(UNKNOWN, class_bytes),
            root,
            ordered,
            form: Form::Started(progress),
        };
        if let Some(choice) = self.chosen.get(&class) {
            return choice.clone();
        }
        let predicted = match bytes {
            Some(_) if clusters.are_far() => self.predict_started(class, clusters, progress),
            // Leaders forward blocks whose sizes they have received.
            None if clusters.are_far() && progress == Progress::Called => {
                let known = self.known.as_ref();
                known.and_then(|known| known.aggregated(class, clusters, self.eager))
            }
            _ => None,
        };
        let choice = predicted.unwrap_or_else(|| self.started_by_rule(class, clusters));
        self.remember(class, choice)
    }

    fn predict_started(
        &self,
        class: Class,
        clusters: &Clusters,
        progress: Progress,
    ) -> Option<Choice> {
        let known = self.known.as_ref()?;
        let costs = MessageCosts::new(&known.network, class.bytes);
        let call = Uniform {
            operation: class.operation,
            bytes: class.bytes,
            root: class.root,
        };
        let input = known.input(&call, class.ordered, clusters, &costs);
        let (_, operands) = moved(class.operation, class.bytes, clusters.ranks());
        let direct = direct(class.operation);
        let direct = direct.filter(|_| operands <= MOST_OPERANDS);
        let direct = direct.map(|direct| known.priced(direct, Price::Read, &input));
        let mut considered = Vec::from_iter(direct);
        if progress == Progress::Called {
            considered.extend(known.candidates(&input));
        }
        let native = known.native.as_ref();
        let native = native.map(|native| native.started_seconds(&call));
        let best = best_of(considered, native, known.enough(class.bytes, clusters))?;
        Some(match direct {
            Some(direct) if best.is_hardly_faster_than(&direct) => Choice {
                algorithm: Some(direct.algorithm),
                segment: direct.segment,
                seconds: Some(direct.seconds),
                ..best
            },
            _ => best,
        })
    }

    /// Choice for short messages between clusters, without predictions.
    fn started_by_rule(&self, class: Class, clusters: &Clusters) -> Choice {
        let (sent, _) = moved(class.operation, class.bytes, clusters.ranks());
        // Blocks of unknown sizes are sent directly in the MPI's own collective, too.
        // Those of neighbours are sent in eager messages.
        let is_short = match class.operation.is_among_neighbours() {
            true => clusters.neighbourhoods().is_some(),
            false => class.bytes != UNKNOWN && sent <= MOST_BY_RULE,
        };
        let gains = clusters.are_far() && is_short;
        let is_called = class.form == Form::Started(Progress::Called);
        let algorithm = match class.operation.gathers_from_neighbours() && is_called {
            true => Algorithm::find(class.operation, "grid-relay"),
            false => direct(class.operation),
        };
        Choice {
            algorithm: algorithm.filter(|_| gains),
            segment: self.eager,
            seconds: None,
            unpredicted: class.unpredicted(),
            considered: Vec::new(),
            native: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::Operation::{Allreduce, Bcast};
    use treepie_collective::{Amount, Problem};

    /// Clusters of these sizes.
    fn clusters(sizes: &[usize]) -> Clusters {
        let sizes = sizes.iter().enumerate();
        let of_rank: Vec<usize> = sizes
            .flat_map(|(cluster, &size)| vec![cluster; size])
            .collect();
        Clusters::new(&of_rank)
    }

    #[test]
    fn no_message_of_a_direct_plan_waits_for_another_ranks_and_of_a_tree_some_do() {
        for sizes in [&[2][..], &[3], &[1, 4], &[4, 4, 5], &[2, 1, 7, 6]] {
            let clusters = clusters(sizes);
            let ranks = clusters.ranks();
            for operation in Operation::all() {
                for (bytes, segment) in [(0, 1 << 20), (8, 1 << 20), (100_000, 4096)] {
                    for root in [0, ranks - 1] {
                        let amount = match operation.has_equal_blocks() {
                            true => Amount::Each(bytes),
                            false => Amount::KnownBlocks(vec![bytes; ranks]),
                        };
                        let problem = Problem {
                            operation,
                            root: if operation.has_root() { root } else { 0 },
                            amount: &amount,
                            clusters: &clusters,
                            ordered: true,
                            network: None,
                            unit_bytes: 1,
                        };
                        let algorithm = direct(operation);
                        let algorithm = algorithm.unwrap_or_else(|| panic!("{operation}"));
                        assert!(algorithm.serves(&problem), "{operation}");
                        let plans = algorithm.describe(&problem).plans(segment);
                        assert!(!plans.iter().any(|plan| plan.forwards()), "{operation}");
                    }
                }
            }
            let binomial = Algorithm::find(Bcast, "binomial").map(|binomial| {
                let call = Uniform {
                    operation: Bcast,
                    bytes: 8,
                    root: 0,
                };
                binomial.plans(&call, None, &clusters, 1 << 20)
            });
            let forwards = binomial.is_some_and(|plans| plans.iter().any(|plan| plan.forwards()));
            assert_eq!(forwards, ranks > 3, "{ranks} ranks");
        }
    }

    #[test]
    fn without_a_platform_short_ones_between_clusters_are_direct_and_long_ones_the_mpi_s() {
        let clusters = clusters(&[2, 2]);
        let mut chooser = Chooser::new(None, &clusters, None);
        let mut chosen = |bytes, clusters: &Clusters| {
            let call = (Allreduce, Some(bytes), 0);
            let choice = chooser.choose_started(call, false, clusters, Progress::Own);
            choice.algorithm.map(|algorithm| algorithm.name)
        };
        assert_eq!(chosen(8, &clusters), Some("at-once"));
        assert_eq!(chosen(1 << 20, &clusters), None);
    }
}
