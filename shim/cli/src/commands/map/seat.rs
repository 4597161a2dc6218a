//! Cost of keeping rank 0 on process 0, where it stays in a replay if input arrives there.

use serde::Serialize;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_placement::NetworkNodes;
use treepie_placement::objective::Objective;
use treepie_placement::seat::{Change, Seats, keep};
use treepie_traffic::Matrix;

use crate::commands::map::job::Job;

/// A placement in which rank 0 stays, if no part of the machine is equivalent to that of process 0.
#[derive(Debug, Serialize)]
pub struct Seat {
    /// The rank that takes the planned core of rank 0.
    exchanged_with: Rank,
    /// Bytes times distance, with rank 0 on its planned core and on process 0.
    cost: [f64; 2],
    /// The leaf of process 0.
    leaf: Leaf,
}

impl Seat {
    /// Computes it from the new ranks of the processes; `None` if rank 0 can stay at no cost.
    pub fn new(
        job: &Job,
        bytes: &Matrix,
        leaf_of_process: &Slice<Process, Leaf>,
        mut new_rank: List<Process, Rank>,
    ) -> Option<Seat> {
        let seats = Seats {
            topology: &job.topology,
            leaf_of_process,
            depth: job.network.as_ref().map_or(0, NetworkNodes::depth),
        };
        let cost = |new_rank: &Slice<Process, Rank>| {
            let mut leaves = List::from(vec![Leaf(0); new_rank.len()]);
            for (&rank, &leaf) in new_rank.iter().zip(leaf_of_process) {
                leaves[rank] = leaf;
            }
            job.value(Objective::Sum, bytes, &leaves)
        };
        if new_rank.is_empty() {
            return None;
        }
        let before = cost(&new_rank);
        let Change::Exchange(exchanged_with) = keep(&mut new_rank, Process(0), Some(seats)) else {
            return None;
        };
        let cost = [before, cost(&new_rank)];
        (cost[1] > cost[0]).then_some(Seat {
            exchanged_with,
            cost,
            leaf: leaf_of_process[Process(0)],
        })
    }

    /// Formats two lines of text.
    pub fn text(&self) -> String {
        let [without, with] = self.cost;
        let more = if without > 0.0 {
            format!("{:.1} % more", 100.0 * (with / without - 1.0))
        } else {
            "more".to_owned()
        };
        format!(
            "  with input on standard input, rank 0 stays on process 0, which costs {more} bytes x \
             distance;\n  `--fix 0={}` places the others around it\n",
            self.leaf
        )
    }
}
