//! Neighbourhood collectives: the neighbours are known, so that their messages are counted, not
//! modelled. Those that plans ran are counted with other collectives, as they were run.

use treepie_mpi::native::native;
use treepie_mpi::{Call, Side};

use super::collectives::{Amount, CallTraffic, Reader};
use super::communicators::Communicator;

/// Calls `each` with the messages of one call: receiver as a rank of the application's world, and
/// bytes. Nothing is allocated.
#[inline(always)]
pub fn each_message(communicator: &Communicator, send: &Side, mut each: impl FnMut(u32, u64)) {
    let Some(native) = native() else { return };
    let neighbours = communicator.neighbours();
    let reader = Reader::new(native, send, neighbours.len());
    match reader.to_all() {
        Some(bytes) => neighbours
            .iter()
            .flatten()
            .for_each(|&partner| each(partner, bytes)),
        None => {
            for (at, &partner) in neighbours.iter().enumerate() {
                if let Some(partner) = partner {
                    each(partner, reader.to_one(at));
                }
            }
        }
    }
}

/// Returns this rank's report of a call that a plan ran: bytes to each of its neighbours, by their
/// ranks in the communicator. A block for all neighbours is counted once for each.
pub fn observe(communicator: &Communicator, call: &Call) -> CallTraffic {
    let mut sent = Vec::new();
    each_message(communicator, &call.send, |partner, bytes| {
        if let Some(rank) = communicator.rank_of(partner) {
            sent.push((rank, bytes));
        }
    });
    if call.operation.gathers_from_neighbours() {
        sent.sort_unstable();
        sent.dedup();
    }
    CallTraffic {
        root: None,
        amount: Amount::SentTo(communicator.rank(), sent),
    }
}
