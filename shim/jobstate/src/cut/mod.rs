//! Stop of all ranks where no message is in flight: a blocking wave, like that of a coordinated
//! checkpoint.
//!
//! Every rank stops before its next call. If a message was sent and not received, or a collective
//! was begun, then the ranks that must receive it or take part continue, call by call, and so do
//! the ranks that they wait for. No message is drained and delivered again: the application's own
//! receives take each message.
//!
//! ```text
//! channels   messages that were sent and not received
//! behind     ranks that must continue
//! wave       from the first reading to a quiet cut, or to the reason why there is none in time
//! ```
//!
//! Cuts at which no message is in flight are closed under the minimum: if the counts of a pair
//! agree at two cuts, they also agree at the cut that takes the earlier position of each side. So
//! there is a first quiet cut after each moment, if there is any, and the wave finds it if only
//! those ranks continue without which there is no quiet cut. If these are unknown
//! (`MPI_ANY_SOURCE`, files), all ranks continue.
//!
//! The protocol is that of MPICH2-Pcl (Coti 2006) at the level of calls: counts replace markers,
//! since no marker can follow a message there (see [`crate::waits`]).

mod behind;
mod channels;
mod wave;

#[cfg(test)]
mod tests;

pub use channels::{Flight, in_flight};
pub use wave::{Reason, Step, Wave, are_alike};
