//! Ranks of a node that ascend with the launcher's local numbers, and the cost of that.

use serde::Serialize;
use treepie_base::{Leaf, Process, Rank, Slice};
use treepie_placement::binding::node_of_each;
use treepie_placement::local_order::ascend;
use treepie_placement::permutation;
use treepie_traffic::Matrix;

use super::arguments::OrderOptions;
use super::job::Job;
use super::result::launched_on;
use treepie_launch::error::CommandError;

/// Cost of an order of ranks.
#[derive(Debug, Serialize)]
pub struct Ordered {
    /// Ranks that changed places within their nodes.
    moved: usize,
    /// The objective before and after.
    cost: [f64; 2],
}

impl OrderOptions {
    /// Orders the ranks of each node, if that is asked for.
    ///
    /// # Errors
    /// None after they were placed.
    pub fn order(
        &self,
        job: &Job,
        bytes: &Matrix,
        leaf_of_rank: &mut Slice<Rank, Leaf>,
    ) -> Result<Option<Ordered>, CommandError> {
        if !self.keep_local_order {
            return Ok(None);
        }
        let leaf_of_process = launched_on(job.leaf_of_process.as_deref(), leaf_of_rank);
        let mut new_rank = permutation(leaf_of_rank, &leaf_of_process)?;
        let before = job.value(job.objective, bytes, leaf_of_rank);
        let nodes = node_of_each(&job.topology, &leaf_of_process);
        let moved = ascend(&mut new_rank, &nodes, &[] as &[Process]);
        for (&rank, &leaf) in new_rank.iter().zip(&leaf_of_process) {
            leaf_of_rank[rank] = leaf;
        }
        let cost = [before, job.value(job.objective, bytes, leaf_of_rank)];
        Ok(Some(Ordered { moved, cost }))
    }
}

impl Ordered {
    /// A line for people.
    pub fn text(&self) -> String {
        let [without, with] = self.cost;
        let costs = match without > 0.0 && with > without {
            true => format!("costs {:.1} %", 100.0 * (with / without - 1.0)),
            false => "costs nothing".to_owned(),
        };
        format!(
            "  ranks of each node ascend with the launcher's local numbers ({} moved), which {costs}\n",
            self.moved
        )
    }
}
