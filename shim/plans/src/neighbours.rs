//! Neighbourhood collectives: the topology of a communicator, and the blocks of a call among its
//! neighbours.
//!
//! All ranks learn the whole topology when the private communicator is created, when all wait
//! anyway: no later call needs communication for it. The topology, the clusters and the sizes that
//! both ends of an edge know determine which rank relays a block, and in how many messages.

use treepie_collective::{Amount, Clusters, End, Neighbourhoods, Operation};
use treepie_mpi::abi::ERR_BUFFER;
use treepie_mpi::native::Native;
use treepie_mpi::share::{Members, gather_to_all};
use treepie_mpi::{Call, Comm};
use treepie_process::log;
use treepie_profile::settings::{Collectives, Runner};

use super::call::{Elements, Refused};
use super::packed::Packed;
use super::unit::Units;

/// Maximum number of edges of a topology for plans; a larger one is left to the native MPI, since
/// all ranks would hold all edges.
const MOST_EDGES: usize = 1 << 20;

/// Returns the topology of `comm`, if it has one and plans may run its neighbourhood collectives;
/// `private` is the private communicator of the same processes. The same on all ranks. Collective
/// if it has one.
pub fn learn(
    native: &Native,
    collectives: &Collectives,
    (comm, private): (Comm, Comm),
) -> Option<Neighbourhoods> {
    let is_native = |runner: &Runner| *runner == Runner::Native;
    let is_left = |one| collectives.runner(one).all().all(is_native);
    if Operation::of_neighbours().all(is_left) {
        return None;
    }
    // All ranks know whether there is a topology, and its kind; a rank that cannot read its
    // neighbours still takes part.
    let mine = native.neighbourhood(comm).unwrap_or_default();
    if mine.is_none() && !native.has_topology(comm) {
        return None;
    }
    let members = Members::new(native, private);
    let all = members
        .map_err(|error| error.into())
        .and_then(|members| gather_to_all(&members, &mine));
    let all = match all {
        Ok(all) => all,
        Err(error) => {
            log::warn(&format!("collectives: topology: {error}"));
            return None;
        }
    };
    let layout = all.first()?.as_ref()?.0;
    let ranks: Option<Vec<_>> = all.into_iter().collect();
    let ranks: Vec<_> = ranks?
        .into_iter()
        .map(|(_, neighbours)| neighbours)
        .collect();
    let edges: usize = ranks.iter().map(|one| one.destinations.len()).sum();
    match edges {
        0..=MOST_EDGES => Neighbourhoods::new(layout, &ranks),
        _ => None,
    }
}

/// True if plans may run a neighbourhood collective; the same on all ranks. If two ranks share
/// several edges, MPI libraries differ in the assignment of blocks: a program gets that of its own
/// library, unless an algorithm is requested by name.
pub fn are_served(operation: Operation, clusters: &Clusters, runner: &Runner) -> bool {
    clusters
        .neighbourhoods()
        .is_some_and(|all| *runner != Runner::Auto || all.are_unambiguous(operation))
}

/// Returns the number of datatypes that each side of a call lists if it has one for each block.
pub fn listed(call: &Call, clusters: &Clusters, rank: usize) -> (usize, usize) {
    match clusters.neighbourhoods() {
        Some(all) if call.operation.is_among_neighbours() => {
            (all.outgoing(rank).len(), all.incoming(rank).len())
        }
        _ => (clusters.ranks(), clusters.ranks()),
    }
}

/// Blocks of a call that go to neighbours and come from them.
pub struct Blocks {
    pub input: Packed,
    pub output: Packed,
    pub amount: Amount,
}

impl Blocks {
    /// Returns those of `rank`.
    ///
    /// # Errors
    /// An erroneous call.
    pub fn new(
        native: &Native,
        call: &Call,
        all: &Neighbourhoods,
        rank: usize,
    ) -> Result<Self, Refused> {
        let in_place = native.abi.in_place;
        if call.send.buffer == in_place || call.receive.buffer == in_place {
            return Err(Refused::With(ERR_BUFFER));
        }
        let (outgoing, incoming) = (all.outgoing(rank), all.incoming(rank));
        let units = &mut Units::new(native);
        let input = match call.operation.gathers_from_neighbours() {
            true => Packed::new(units, 0..1, false, |_, _| {
                Elements::of_only_block(&call.send)
            })?,
            false => Packed::new(units, 0..outgoing.len(), false, |units, at| {
                let block = Elements::of_rank(call, units, &call.send, at)?;
                Ok(if_there(outgoing[at], block))
            })?,
        };
        let has_one_size = call.operation.has_equal_blocks();
        // A block may be shorter than its receive buffer; its size is known as far as this rank
        // itself sends it.
        let sent = first(outgoing, input.bytes(), call.operation);
        let most = sent.filter(|_| has_one_size).unwrap_or(u64::MAX);
        let output = Packed::new(units, 0..incoming.len(), false, |units, at| {
            let block = Elements::of_rank(call, units, &call.receive, at)?;
            Ok(if_there(incoming[at], block).at_most(units, most))
        })?;
        let received = first(incoming, output.bytes(), Operation::NeighborAlltoall);
        let amount = match (has_one_size, sent, received) {
            (true, Some(sent), Some(received)) if sent != received => {
                return Err(Refused::With(native.abi.err_truncate));
            }
            (true, sent, received) => Amount::Each(
                sent.or(received)
                    .unwrap_or_else(|| input.bytes().iter().sum()),
            ),
            (false, ..) => Amount::Exchanged {
                sent: input.bytes().to_vec(),
                received: output.bytes().to_vec(),
            },
        };
        Ok(Blocks {
            input,
            output,
            amount,
        })
    }
}

/// Returns an empty block for a missing neighbour.
fn if_there(end: Option<End>, block: Elements) -> Elements {
    match end {
        Some(_) => block,
        None => Elements { count: 0, ..block },
    }
}

/// Returns the bytes of the first block that has a neighbour; of the only block, if all neighbours
/// get it.
fn first(ends: &[Option<End>], bytes: &[u64], operation: Operation) -> Option<u64> {
    let at = ends.iter().position(Option::is_some)?;
    match operation.gathers_from_neighbours() {
        true => bytes.first().copied(),
        false => bytes.get(at).copied(),
    }
}
