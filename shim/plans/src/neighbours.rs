//! Neighbourhood collectives: the topology of a communicator, and the blocks of a call among its
//! neighbours.
//!
//! All ranks learn the whole topology where our communicator is made, when all wait anyway: no call
//! has to ask others then. Who relays a block, and in how many messages it goes, follows from the
//! topology, the clusters and the sizes that both ends of an edge know.

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

/// A topology of more edges is left to the native MPI: all ranks would hold all of them.
const MOST_EDGES: usize = 1 << 20;

/// The topology of `comm`, if it has one and plans may run its neighbourhood collectives; `private`
/// is our communicator of the same processes. The same on all ranks. Collective where it has one.
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
    // Whether there is a topology, and which kind, all ranks know alike; a rank that can't read its
    // neighbours takes part all the same.
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

/// Whether plans may run a neighbourhood collective, as all ranks know alike. Where two ranks have
/// several edges, MPI libraries differ in which block is for which: a program gets what its own
/// does, unless an algorithm is asked for by name.
pub fn are_served(operation: Operation, clusters: &Clusters, runner: &Runner) -> bool {
    clusters
        .neighbourhoods()
        .is_some_and(|all| *runner != Runner::Auto || all.are_unambiguous(operation))
}

/// How many datatypes each side of a call lists that has one for each block.
pub fn listed(call: &Call, clusters: &Clusters, rank: usize) -> (usize, usize) {
    match clusters.neighbourhoods() {
        Some(all) if call.operation.is_among_neighbours() => {
            (all.outgoing(rank).len(), all.incoming(rank).len())
        }
        _ => (clusters.ranks(), clusters.ranks()),
    }
}

/// The blocks of a call that go to neighbours and come from them.
pub struct Blocks {
    pub input: Packed,
    pub output: Packed,
    pub amount: Amount,
}

impl Blocks {
    /// Those of `rank`.
    ///
    /// # Errors
    /// A call that is wrong.
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
        // A block may be shorter than the place that it is received into; as much of it is known as
        // this rank itself sends.
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

/// Nothing for a neighbour that is none.
fn if_there(end: Option<End>, block: Elements) -> Elements {
    match end {
        Some(_) => block,
        None => Elements { count: 0, ..block },
    }
}

/// Bytes of the first block that has a neighbour; of the only one, where all neighbours get it.
fn first(ends: &[Option<End>], bytes: &[u64], operation: Operation) -> Option<u64> {
    let at = ends.iter().position(Option::is_some)?;
    match operation.gathers_from_neighbours() {
        true => bytes.first().copied(),
        false => bytes.get(at).copied(),
    }
}
