//! `Alltoall`, `Alltoallv` and `Alltoallw` without relay: a rank has a window of messages in
//! flight, in an order that may alternate between clusters (TWILL, HLC-Lab/pico,
//! `libpico/twill.md`, 2026).
//!
//! ```text
//!   3 clusters of 4    order of ranks      0 1 2 3 4 5 6 7 8 9 10 11    all of a cluster at once
//!                      spread over them    0 4 8 1 5 9 2 6 10 3 7 11    a third to each, always
//! ```
//!
//! The n-th message is sent to the n-th rank after the sender in the cyclic order: each rank
//! receives from one rank at a time.

use std::cmp::Reverse;

use crate::algorithms::by_rank::pairwise::buffers;
use crate::clusters::Clusters;
use crate::problem::Problem;
use crate::steps::Steps;
use treepie_base::{Cluster, List};

/// Number of a rank's messages in flight: enough that none waits for the answer of a receiver, too
/// few to fill its memory.
pub(crate) const WINDOW: u32 = 32;

/// All ranks, with those of each cluster spread evenly: in each of P turns, every cluster receives
/// a credit of its size, and the cluster with the most credit gives its next rank, which costs P.
pub(crate) fn spread(clusters: &Clusters) -> Vec<usize> {
    let sizes: List<Cluster, i64> = clusters
        .all()
        .map(|cluster| clusters.members(cluster).len() as i64)
        .collect();
    let mut credit: List<Cluster, i64> = vec![0; sizes.len()].into();
    let mut given: List<Cluster, usize> = vec![0; sizes.len()].into();
    let next = |_| {
        for (credit, size) in credit.iter_mut().zip(&sizes) {
            *credit += size;
        }
        let most = sizes
            .keys()
            .max_by_key(|&cluster| (credit[cluster], Reverse(cluster)));
        let cluster = most.unwrap_or_default();
        credit[cluster] -= clusters.ranks() as i64;
        given[cluster] += 1;
        clusters.members(cluster)[given[cluster] - 1]
    };
    (0..clusters.ranks()).map(next).collect()
}

/// Sends to each rank in an order of all.
pub(crate) fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps, order: &[usize]) {
    let ranks = problem.ranks();
    let (input, output) = buffers(problem, rank);
    let place = order.iter().position(|&other| other == rank).unwrap_or(0);
    steps.copy(input[rank], output[rank]);
    for distance in 1..ranks {
        let from = order[problem.before(place, distance)];
        steps.receive(from, output[from]);
    }
    let window = problem.parameter(WINDOW) as usize;
    let mut sent = Vec::with_capacity(ranks);
    for distance in 1..ranks {
        let to = order[problem.after(place, distance)];
        if input[to].length == 0 {
            continue;
        }
        let before = sent.len().checked_sub(window);
        let after = before.and_then(|before: usize| sent[before]);
        for segment in steps.segments(input[to]) {
            steps.send_segment_after(to, segment, after);
        }
        sent.push(steps.last_step());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::algorithm::Algorithm;
    use crate::operation::Operation;
    use crate::plan::step::Action;
    use crate::problem::Uniform;

    #[test]
    fn clusters_are_spread_as_in_the_description() {
        let of_sizes = |sizes: &[usize]| {
            let all = sizes.iter().enumerate();
            let numbers: Vec<usize> = all
                .flat_map(|(cluster, &size)| vec![cluster; size])
                .collect();
            spread(&Clusters::new(&numbers))
        };
        assert_eq!(of_sizes(&[4, 4]), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(of_sizes(&[4, 4, 4]), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        assert_eq!(of_sizes(&[5, 4, 3]), [0, 5, 9, 1, 6, 2, 10, 7, 3, 11, 8, 4]);
        assert_eq!(of_sizes(&[1, 5, 1]), [1, 2, 0, 3, 6, 4, 5]);
    }

    #[test]
    fn a_message_waits_for_the_one_that_is_a_window_before_it() {
        let algorithm = Algorithm::find(Operation::Alltoall, "windowed").unwrap();
        let call = Uniform {
            operation: Operation::Alltoall,
            bytes: 8,
            root: 0,
        };
        let plan = &algorithm.plans(&call, None, &Clusters::one(40), 8)[0];
        let is_send = |step: &u32| {
            let action = plan.steps()[*step as usize].action;
            matches!(action, Action::Send { .. })
        };
        let sends: Vec<u32> = (0..plan.steps().len() as u32).filter(is_send).collect();
        for (number, &step) in sends.iter().enumerate() {
            let before = number
                .checked_sub(WINDOW as usize)
                .map(|before| sends[before]);
            let needs = plan.needs(&plan.steps()[step as usize]);
            assert_eq!(needs, before.as_slice(), "message {number}");
        }
    }
}
