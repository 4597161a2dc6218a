//! New order of a communicator's ranks: its rank 0 collects the graph, places it, and broadcasts
//! the result.

use serde::{Deserialize, Serialize};
use treepie_base::{Leaf, List, Process};
use treepie_mpi::Comm;
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::share::{Group, Members, ShareError, gather, share};
use treepie_placement::allocation::reordered;
use treepie_process::log;
use treepie_traffic::Matrix;

use super::graph::{Edge, Graph, OWN};
use super::seats::Seats;

/// Order of a communicator's ranks for a graph.
pub enum Order {
    /// Unchanged, since no better order was found.
    AsItIs,
    /// Another order.
    New(NewOrder),
}

/// Another order of the ranks, needed until the topology is created.
pub struct NewOrder {
    /// Communicator with the ranks in this order.
    pub comm: OwnComm,
    /// New rank of each rank.
    pub new_rank: Vec<u32>,
    /// Communicator with the ranks in their old order.
    pub private: OwnComm,
}

/// Result of rank 0 for a communicator.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Answer {
    /// Its ranks stay in order.
    Stay,
    /// New rank of each rank.
    Change(Vec<u32>),
    /// The native MPI creates it as usual.
    Native,
}

/// Orders the ranks of `comm`, an intra-communicator. `None` if the graph is invalid, or some
/// processes are not of this job: then the native MPI is to create the communicator. Collective
/// over `comm`, with the same result on all its ranks.
///
/// # Errors
/// A native call that failed.
pub fn find(
    native: &Native,
    comm: Comm,
    seats: &Seats,
    read: impl FnOnce(usize) -> Option<Graph>,
) -> Result<Option<Order>, ShareError> {
    let (rank, size) = (native.rank(comm)?, native.size(comm)?);
    let private = native.split_quietly(comm, rank)?;
    native.return_errors(private.handle())?;
    let members = Members::new(native, private.handle())?;
    match agreed(native, private.handle(), &members, seats, read(size))? {
        Answer::Native => Ok(None),
        Answer::Stay => Ok(Some(Order::AsItIs)),
        Answer::Change(new_rank) => {
            let made = native.split_quietly(comm, new_rank[rank] as usize)?;
            native.copy_error_handler(comm, made.handle())?;
            Ok(Some(Order::New(NewOrder {
                comm: made,
                new_rank,
                private,
            })))
        }
    }
}

/// Returns the answer of rank 0 of `private` on all its ranks.
fn agreed(
    native: &Native,
    private: Comm,
    members: &Members<'_>,
    seats: &Seats,
    graph: Option<Graph>,
) -> Result<Answer, ShareError> {
    let is_first = members.rank() == 0;
    let mine = graph.map(|graph| match is_first || !graph.is_whole {
        true => graph.edges,
        false => Vec::new(), // all ranks know all edges: rank 0's suffice
    });
    let all = gather(members, &mine)?;
    let answer = match is_first {
        true => Some(answer(native, private, seats, all)?),
        false => None,
    };
    share(members, answer)
}

/// Returns the best answer for the graph whose parts all ranks have sent.
fn answer(
    native: &Native,
    private: Comm,
    seats: &Seats,
    all: Vec<Option<Vec<Edge>>>,
) -> Result<Answer, NativeError> {
    let (Some(leaves), Some(edges)) = (leaves(native, private, seats)?, whole(all)) else {
        return Ok(Answer::Native);
    };
    let entries = edges.filter(|&(from, to, weight)| from != to && weight > 0);
    let entries = entries.map(|(from, to, weight)| (from as usize, to as usize, f64::from(weight)));
    let graph = match Matrix::from_entries(leaves.len(), entries) {
        Ok(graph) => graph,
        Err(_) => return Ok(Answer::Native),
    };
    Ok(match reordered(&graph, &seats.topology, &leaves) {
        Ok(Some(new_rank)) => {
            log::info(&format!(
                "reorder: a communicator of {} ranks is reordered for its topology",
                new_rank.len()
            ));
            Answer::Change(new_rank.into_iter().map(|rank| rank.0 as u32).collect())
        }
        Ok(None) => Answer::Stay,
        Err(error) => {
            log::warn(&format!(
                "reorder: {error}; the MPI makes this communicator as it does"
            ));
            Answer::Native
        }
    })
}

/// Returns the leaf of each member; `None` if one is a process of another job.
fn leaves(
    native: &Native,
    private: Comm,
    seats: &Seats,
) -> Result<Option<List<Process, Leaf>>, NativeError> {
    let (group, world) = (native.group(private)?, native.group(native.world)?);
    let processes = native.translate(group, world);
    native.free_group(group);
    native.free_group(world);
    let leaf = |process: u32| {
        let process = Process(process as usize);
        seats.leaf_of_process.get(process).copied()
    };
    Ok(processes?.into_iter().map(leaf).collect())
}

/// Returns all edges, with the senders' ranks as sources of the edges of their own nodes; `None` if
/// a process had no graph.
fn whole(all: Vec<Option<Vec<Edge>>>) -> Option<impl Iterator<Item = Edge>> {
    let all: Option<Vec<Vec<Edge>>> = all.into_iter().collect();
    let each = all?.into_iter().enumerate().flat_map(|(rank, edges)| {
        edges.into_iter().map(move |(from, to, weight)| match from {
            OWN => (rank as u32, to, weight),
            _ => (from, to, weight),
        })
    });
    Some(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_senders_node_gets_its_rank_and_without_one_graph_there_is_none() {
        let all = vec![Some(vec![(1, 0, 7)]), Some(vec![(OWN, 2, 5), (1, 0, 7)])];
        let edges: Vec<_> = whole(all.clone()).into_iter().flatten().collect();
        assert_eq!(edges, [(1, 0, 7), (1, 2, 5), (1, 0, 7)]);
        assert!(whole([all, vec![None]].concat()).is_none());
    }
}
