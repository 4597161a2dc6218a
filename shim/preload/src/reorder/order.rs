//! The new order of a communicator's ranks: its rank 0 hears of the graph, places it,
//! and tells all.

use treepie_core::affinity::Matrix;
use treepie_core::placement::allocation::reordered;

use super::Seats;
use super::graph::{Graph, OWN};
use crate::log;
use crate::mpi::Word;
use crate::mpi::native::gather::{broadcast_numbers, gather};
use crate::mpi::native::{Native, NativeError};

/// In which order the ranks are.
pub enum Order {
    /// As they were, which is as well as it gets.
    AsItIs,
    /// The new rank of each.
    New(Vec<usize>),
}

/// A communicator whose ranks are in order for a graph.
pub struct Ordered {
    /// It.
    pub comm: Word,
    /// The order.
    pub order: Order,
    /// A communicator of our own with the ranks in their old order.
    pub private: Word,
}

impl Ordered {
    /// Frees what is not needed once the topology is made.
    pub fn forget(&self, native: &Native) {
        if matches!(self.order, Order::New(_)) {
            native.free_communicator(self.comm);
        }
        native.free_communicator(self.private);
    }
}

/// What rank 0 tells before the new ranks.
const STAY: usize = 0;
const CHANGE: usize = 1;
const HOST: usize = 2;

/// Puts the ranks of `comm`, an intra-communicator, in order. `None` where the graph
/// makes no sense, or the processes are not all of this job: then the native MPI is to make
/// the communicator. Collective over `comm`, and the same on all its ranks.
///
/// # Errors
/// A native call that failed.
pub fn find(
    native: &Native,
    comm: Word,
    seats: &Seats,
    read: impl FnOnce(usize) -> Option<Graph>,
) -> Result<Option<Ordered>, NativeError> {
    let (rank, members) = (native.rank(comm)?, native.size(comm)?);
    let private = native.split_quietly(comm, rank)?;
    let found = native
        .return_errors(private)
        .and_then(|()| agreed(native, private, seats, read(members)))
        .and_then(|told| match told.split_first() {
            Some((&STAY, _)) => Ok(Some((comm, Order::AsItIs))),
            Some((&CHANGE, new_rank)) => {
                let made = native.split_quietly(comm, new_rank[rank])?;
                native.copy_error_handler(comm, made)?;
                Ok(Some((made, Order::New(new_rank.to_vec()))))
            }
            _ => Ok(None),
        });
    match found {
        Ok(Some((comm, order))) => Ok(Some(Ordered {
            comm,
            order,
            private,
        })),
        other => {
            native.free_communicator(private);
            other.map(|_| None)
        }
    }
}

/// What rank 0 of `private` finds, on all its ranks.
fn agreed(
    native: &Native,
    private: Word,
    seats: &Seats,
    graph: Option<Graph>,
) -> Result<Vec<usize>, NativeError> {
    let rank = native.rank(private)?;
    let whole = graph.as_ref().is_none_or(|graph| graph.is_whole);
    // Nobody needs to hear what all know.
    let mine = match rank == 0 || !whole || graph.is_none() {
        true => encoded(rank, graph),
        false => Vec::new(),
    };
    let all = gather(native, private, mine)?;
    let answer = match rank {
        0 => answer(native, private, seats, &all)?,
        _ => Vec::new(),
    };
    broadcast_numbers(native, private, answer)
}

fn answer(
    native: &Native,
    private: Word,
    seats: &Seats,
    all: &[u8],
) -> Result<Vec<usize>, NativeError> {
    let (Some(leaves), Some(edges)) = (leaves(native, private, seats)?, decoded(all)) else {
        return Ok(vec![HOST]);
    };
    let entries = edges.filter(|&(from, to, weight)| from != to && weight > 0);
    let entries = entries.map(|(from, to, weight)| (from as usize, to as usize, f64::from(weight)));
    let graph = match Matrix::from_entries(leaves.len(), entries) {
        Ok(graph) => graph,
        Err(_) => return Ok(vec![HOST]),
    };
    Ok(match reordered(&graph, &seats.topology, &leaves) {
        Ok(Some(new_rank)) => {
            log::info(&format!(
                "reorder: a communicator of {} ranks is reordered for its topology",
                new_rank.len()
            ));
            std::iter::once(CHANGE).chain(new_rank).collect()
        }
        Ok(None) => vec![STAY],
        Err(error) => {
            log::warn(&format!(
                "reorder: {error}; the MPI makes this communicator as it does"
            ));
            vec![HOST]
        }
    })
}

/// The leaf of each member; `None` if one is a process of another job.
fn leaves(
    native: &Native,
    private: Word,
    seats: &Seats,
) -> Result<Option<Vec<usize>>, NativeError> {
    let (group, world) = (native.group(private)?, native.group(native.world)?);
    let processes = native.translate(group, world);
    native.free_group(group);
    native.free_group(world);
    let leaf = |process: u32| seats.leaf_of_process.get(process as usize).copied();
    Ok(processes?.into_iter().map(leaf).collect())
}

/// An edge that says that there is no graph.
const NONE: (u32, u32, u32) = (OWN, OWN, OWN);

fn encoded(rank: usize, graph: Option<Graph>) -> Vec<u8> {
    let edges = graph.map_or_else(|| vec![NONE], |graph| graph.edges);
    let own = |(from, to, weight): (u32, u32, u32)| match (from, to) {
        (OWN, OWN) => [from, to, weight],
        (OWN, _) => [rank as u32, to, weight],
        _ => [from, to, weight],
    };
    edges
        .into_iter()
        .flat_map(own)
        .flat_map(u32::to_le_bytes)
        .collect()
}

/// All edges; `None` if a process had no graph.
fn decoded(bytes: &[u8]) -> Option<impl Iterator<Item = (u32, u32, u32)>> {
    let (words, _) = bytes.as_chunks::<4>();
    let (edges, _) = words.as_chunks::<3>();
    let number = u32::from_le_bytes;
    let edges = edges
        .iter()
        .map(move |&[a, b, c]| (number(a), number(b), number(c)));
    (!edges.clone().any(|edge| edge == NONE)).then_some(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_across_and_the_senders_node_gets_its_rank() {
        let graph = Graph {
            edges: vec![(OWN, 2, 5), (1, 0, 7)],
            is_whole: false,
        };
        let mut all = encoded(3, Some(graph));
        let edges: Vec<_> = decoded(&all).into_iter().flatten().collect();
        assert_eq!(edges, [(3, 2, 5), (1, 0, 7)]);
        all.extend(encoded(4, None));
        assert!(decoded(&all).is_none());
    }
}
