//! Constructors of communicators with a topology, in an improved order of ranks.

use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use treepie_base::{FileError, Leaf};
use treepie_mpi::native::native;
use treepie_mpi::{AppComm, Comm, HandleAddress, Word, c_int};
use treepie_placement::allocation::Allocation;
use treepie_plans as plans;
use treepie_process::features::{self, REORDERING};
use treepie_process::log;
use treepie_record::{self as record, Note, Procedure, procedures};

use super::edges::Adjacent;
use super::graph::Graph;
use super::order::Order;
use super::seats::Seats;
use super::{edges, order};
use crate::world;

/// Locations of the processes of the launcher's world, as process 0 shares them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Places {
    /// Text of a topology file.
    pub topology: String,
    /// Leaf of each process.
    pub leaf_of_process: Vec<u32>,
}

impl Places {
    /// Returns the locations of the processes of an allocation.
    ///
    /// # Errors
    /// None for an allocation that was built.
    pub fn of(allocation: &Allocation) -> Result<Places, FileError> {
        let leaves = allocation.leaf_of_process().iter();
        Ok(Places {
            topology: treepie_topology::file::to_text(
                Path::new(NAME),
                allocation.topology(),
                "treepie",
                "now",
            )?,
            leaf_of_process: leaves.map(|leaf| leaf.0 as u32).collect(),
        })
    }
}

/// Name of the topology in messages, since it has no file.
pub(super) const NAME: &str = "the hosts of this job";

/// Set before `REORDERING` is.
pub(super) static SEATS: OnceLock<Seats> = OnceLock::new();

/// Reorders communicators from now on.
pub fn begin(places: &Places) {
    match treepie_topology::file::from_text(Path::new(NAME), &places.topology) {
        Ok(topology) => {
            let leaves = places.leaf_of_process.iter();
            // Init runs once; a second value would be the same.
            let _ = SEATS.set(Seats {
                topology,
                leaf_of_process: Leaf::list(leaves.map(|&leaf| leaf as usize)),
            });
            features::begin(REORDERING);
        }
        // All ranks have read the same text.
        Err(error) => log::error(&format!("reorder: {error}; reordering is left to the MPI")),
    }
}

/// Stops reordering: the constructors are the native MPI's again.
pub fn end() {
    features::end(REORDERING);
}

pub(super) fn seats() -> Option<&'static Seats> {
    match features::any(REORDERING) {
        true => SEATS.get(),
        false => None,
    }
}

/// Finds the order for `comm` with the graph that `read` returns, and calls `make` to create the
/// communicator: with the order, or with `None` if the call goes to the native MPI as the program
/// made it.
pub(super) fn ordered(
    comm: Comm,
    reorder: Word,
    read: impl FnOnce(usize) -> Option<Graph>,
    make: impl FnOnce(Option<&Order>) -> c_int,
) -> c_int {
    let (true, Some(seats), Some(native)) = (reorder as c_int != 0, seats(), native()) else {
        return make(None);
    };
    if native.is_null_communicator(comm) || native.is_inter(comm).unwrap_or(true) {
        return make(None);
    }
    match order::find(native, comm, seats, read) {
        Ok(Some(found)) => make(Some(&found)),
        Ok(None) => make(None),
        Err(error) => {
            if error.is_reported_here() {
                log::warn(&format!(
                    "reorder: {error}; the MPI makes this communicator as it does"
                ));
            }
            make(None)
        }
    }
}

/// Creates a communicator whose arguments are valid in any order of the ranks: `call` takes a
/// communicator with the same members, and the reorder argument.
pub(super) fn made_in_any_order(
    procedure: Procedure,
    comm: AppComm,
    (reorder, made): (Word, HandleAddress<Comm>),
    read: impl FnOnce(usize) -> Option<Graph>,
    call: impl FnOnce(Comm, Word) -> c_int,
) -> c_int {
    let comm = world::substitute(comm);
    let create = |order: Option<&Order>| match order {
        Some(Order::New(new)) => call(new.comm.handle(), 0),
        Some(Order::AsItIs) => call(comm, 0),
        None => call(comm, reorder),
    };
    let make = || ordered(comm, reorder, read, create);
    plans::prepare(made, || {
        record::communicator_start(Note::on(procedure, comm), make, made)
    })
}

/// `MPI_Cart_create`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Cart_create`.
pub unsafe fn cart_create(
    next: unsafe extern "C-unwind" fn(Comm, Word, Word, Word, Word, Word) -> c_int,
    comm: AppComm,
    dimensions: Word,
    sizes: Word,
    periods: Word,
    reorder: Word,
    made: Word,
) -> c_int {
    // SAFETY: the caller's promise: arrays of `dimensions` ints.
    let read = |members| unsafe { Graph::cartesian(members, dimensions, sizes, periods) };
    // SAFETY: the caller's promise; the communicator has the same members.
    let call = |comm, reorder| unsafe { next(comm, dimensions, sizes, periods, reorder, made) };
    // SAFETY: the caller's promise: the address of a communicator.
    let made_at = unsafe { HandleAddress::from_word(made) };
    made_in_any_order(
        procedures::MPI_Cart_create,
        comm,
        (reorder, made_at),
        read,
        call,
    )
}

/// `MPI_Graph_create`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Graph_create`.
pub unsafe fn graph_create(
    next: unsafe extern "C-unwind" fn(Comm, Word, Word, Word, Word, Word) -> c_int,
    comm: AppComm,
    nodes: Word,
    index: Word,
    edges: Word,
    reorder: Word,
    made: Word,
) -> c_int {
    // SAFETY: the caller's promise: `nodes` ints, of which the last is the number of
    // edges.
    let read = |members| unsafe { Graph::listed(members, nodes, index, edges) };
    // SAFETY: the caller's promise; the communicator has the same members.
    let call = |comm, reorder| unsafe { next(comm, nodes, index, edges, reorder, made) };
    // SAFETY: the caller's promise: the address of a communicator.
    let made_at = unsafe { HandleAddress::from_word(made) };
    made_in_any_order(
        procedures::MPI_Graph_create,
        comm,
        (reorder, made_at),
        read,
        call,
    )
}

/// `MPI_Dist_graph_create`: any process may name any edge, by its nodes, and so the same arguments
/// are valid in any order.
///
/// # Safety
/// The caller keeps the contract of `MPI_Dist_graph_create`.
#[allow(clippy::too_many_arguments)] // they are MPI's
pub unsafe fn dist_graph_create(
    next: unsafe extern "C-unwind" fn(
        Comm,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
    ) -> c_int,
    comm: AppComm,
    count: Word,
    sources: Word,
    degrees: Word,
    targets: Word,
    weights: Word,
    info: Word,
    reorder: Word,
    made: Word,
) -> c_int {
    let list = [count, sources, degrees, targets, weights];
    // SAFETY: the caller's promise: arrays whose lengths the other arguments give.
    let read = |members| unsafe { Graph::distributed(members, list) };
    // SAFETY: the caller's promise; the communicator has the same members.
    let call = |comm, reorder| unsafe {
        next(
            comm, count, sources, degrees, targets, weights, info, reorder, made,
        )
    };
    // SAFETY: the caller's promise: the address of a communicator.
    let made_at = unsafe { HandleAddress::from_word(made) };
    made_in_any_order(
        procedures::MPI_Dist_graph_create,
        comm,
        (reorder, made_at),
        read,
        call,
    )
}

/// `MPI_Dist_graph_create_adjacent`: each process names the edges of one node, which
/// another process gets.
///
/// # Safety
/// The caller keeps the contract of `MPI_Dist_graph_create_adjacent`.
#[allow(clippy::too_many_arguments)] // they are MPI's
pub unsafe fn dist_graph_create_adjacent(
    next: unsafe extern "C-unwind" fn(
        Comm,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
        Word,
    ) -> c_int,
    comm: AppComm,
    indegree: Word,
    sources: Word,
    source_weights: Word,
    outdegree: Word,
    destinations: Word,
    destination_weights: Word,
    info: Word,
    reorder: Word,
    made: Word,
) -> c_int {
    let comm = world::substitute(comm);
    let incoming = [indegree, sources, source_weights];
    let outgoing = [outdegree, destinations, destination_weights];
    // SAFETY: the caller's promise; the reordered communicator has the same members, and the arrays
    // received for a node are those that its process has given.
    let call_next = |comm,
                     [indegree, sources, ins]: [Word; 3],
                     [outdegree, targets, outs]: [Word; 3],
                     reorder| unsafe {
        next(
            comm, indegree, sources, ins, outdegree, targets, outs, info, reorder, made,
        )
    };
    let create = |order: Option<&Order>| {
        let (Some(order), Some(native)) = (order, native()) else {
            return call_next(comm, incoming, outgoing, reorder);
        };
        match order {
            Order::AsItIs => call_next(comm, incoming, outgoing, 0),
            Order::New(new) => {
                // SAFETY: the caller's promise: arrays of these lengths.
                let mine = unsafe { Adjacent::read(incoming, outgoing) };
                match edges::exchanged(native, new.private.handle(), &new.new_rank, &mine) {
                    Ok(theirs) => {
                        let (ins, outs) = theirs.arguments(incoming[2], outgoing[2]);
                        call_next(new.comm.handle(), ins, outs, 0)
                    }
                    Err(error) => {
                        if error.is_reported_here() {
                            log::error(&format!("reorder: {error}"));
                        }
                        native.abi.err_intern
                    }
                }
            }
        }
    };
    // SAFETY: the caller's promise: arrays of these lengths.
    let read = |members| unsafe { Graph::adjacent(members, incoming, outgoing) };
    let call = || ordered(comm, reorder, read, create);
    let note = Note::on(procedures::MPI_Dist_graph_create_adjacent, comm);
    // SAFETY: the caller's promise: the address of a communicator.
    let made_at = unsafe { HandleAddress::from_word(made) };
    plans::prepare(made_at, || record::communicator_start(note, call, made_at))
}
