//! Neighbourhood collectives without relay: each block directly to its neighbour, far ones first,
//! in messages that are all sent immediately.
//!
//! ```text
//!   to other clusters   a1 b1 c1 a2 b2 c2 ...   one message of each, round-robin
//!   to its own          d e                     whole
//! ```
//!
//! A block that several edges to one rank share is sent once.

use crate::algorithms::by_neighbour::own::Own;
use crate::problem::Problem;
use crate::steps::Steps;
use std::collections::VecDeque;

/// Exchanges all blocks, all sends started together.
pub fn exchange(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
    let Some(own) = Own::new(problem, rank) else {
        return;
    };
    let gathers = problem.operation.gathers_from_neighbours();
    for from in own.in_turn(&own.all.senders(rank), true) {
        let mut places = own.places_from(from);
        if gathers {
            places.truncate(1);
        }
        for place in places {
            for message in own.messages(own.output[place], own.are_near(from, rank), steps) {
                steps.receive_segment(from, message);
            }
        }
    }
    let to = own.in_turn(&own.all.receivers(rank), false);
    let what = to.into_iter().map(|to| {
        let ends = own.all.outgoing(rank).iter().zip(&own.input);
        let ends = ends.filter(|(end, _)| end.is_some_and(|end| end.rank == to));
        let most = if gathers { 1 } else { usize::MAX };
        let messages = ends
            .take(most)
            .flat_map(|(_, &block)| own.messages(block, own.are_near(rank, to), steps));
        (to, messages.collect::<VecDeque<_>>())
    });
    let what = what.collect();
    own.send(what, steps);
    own.copy_own(steps);
    if gathers {
        own.copy_repeated(steps);
    }
}

impl Own<'_> {
    /// Places of the blocks from a rank, in the order in which it sends them.
    pub(super) fn places_from(&self, from: usize) -> Vec<usize> {
        let ends = self.all.incoming(self.rank).iter().enumerate();
        let ends = ends.filter_map(|(place, end)| Some((place, (*end)?)));
        let mut found: Vec<(usize, usize)> = ends
            .filter(|(_, end)| end.rank == from)
            .map(|(place, end)| (end.block, place))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, place)| place).collect()
    }

    /// Copies the blocks that the rank sends to itself.
    pub(super) fn copy_own(&self, steps: &mut dyn Steps) {
        for (place, end) in self.all.incoming(self.rank).iter().enumerate() {
            if let Some(end) = end.filter(|end| end.rank == self.rank) {
                steps.copy(self.input[end.block], self.output[place]);
            }
        }
    }

    /// Copies blocks that arrived for one edge to the other edges that share them.
    pub(super) fn copy_repeated(&self, steps: &mut dyn Steps) {
        for from in self.all.senders(self.rank) {
            if let [first, others @ ..] = &self.places_from(from)[..] {
                for &other in others {
                    steps.copy(self.output[*first], self.output[other]);
                }
            }
        }
    }
}
