//! Edges of a node, as `MPI_Dist_graph_create_adjacent` takes them, moved to the process that gets
//! the node.

use serde::{Deserialize, Serialize};
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, exchange};
use treepie_mpi::{Comm, Word, c_int};

use super::graph::numbers;
use super::weights::are_absent;

/// Neighbours and weights, in the program's order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Adjacent {
    sources: Vec<c_int>,
    source_weights: Vec<c_int>,
    destinations: Vec<c_int>,
    destination_weights: Vec<c_int>,
}

impl Adjacent {
    /// Reads the program's description of a node: number, neighbours and weights of incoming and of
    /// outgoing edges.
    ///
    /// # Safety
    /// The arrays have these lengths, and the lengths are not negative.
    pub unsafe fn read(incoming: [Word; 3], outgoing: [Word; 3]) -> Adjacent {
        let list = |[count, neighbours, weights]: [Word; 3]| {
            let count = usize::try_from(count as c_int).unwrap_or(0);
            // SAFETY: the caller's promise.
            unsafe {
                let weights = match are_absent(weights) {
                    true => &[],
                    false => numbers(weights, count),
                };
                (numbers(neighbours, count).to_vec(), weights.to_vec())
            }
        };
        let (sources, source_weights) = list(incoming);
        let (destinations, destination_weights) = list(outgoing);
        Adjacent {
            sources,
            source_weights,
            destinations,
            destination_weights,
        }
    }

    /// Returns the arguments for the native MPI. If the node has no weights, because it has no
    /// edges or the graph is unweighted, the program's weights stay.
    pub fn arguments(&self, own_ins: Word, own_outs: Word) -> ([Word; 3], [Word; 3]) {
        let address = |list: &Vec<c_int>| list.as_ptr() as Word;
        let weights = |list: &Vec<c_int>, own: Word| match list.is_empty() {
            true => own,
            false => address(list),
        };
        (
            [
                self.sources.len() as Word,
                address(&self.sources),
                weights(&self.source_weights, own_ins),
            ],
            [
                self.destinations.len() as Word,
                address(&self.destinations),
                weights(&self.destination_weights, own_outs),
            ],
        )
    }
}

/// Returns the edges of the node that this process gets: the description by the process whose old
/// rank is this one's new rank. Collective over `private`, whose ranks are the old ones.
///
/// # Errors
/// A native call that failed; edges that some process could not read, on all of them.
pub fn exchanged(
    native: &Native,
    private: Comm,
    new_rank: &[u32],
    mine: &Adjacent,
) -> Result<Adjacent, ShareError> {
    let members = Members::new(native, private)?;
    let rank = members.rank();
    let from = new_rank[rank] as usize;
    // A permutation: every node has a process.
    let to = new_rank.iter().position(|&new| new as usize == rank);
    exchange(&members, to.unwrap_or(rank), from, mine)
}
