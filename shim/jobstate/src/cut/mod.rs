//! All ranks stopped where no message is under way: a blocking wave, as of a coordinated
//! checkpoint.
//!
//! Every rank stops before its next call. Where a message was sent and not received, or a
//! collective was begun, those go on, call by call, that have to receive it or to take part, and
//! those whom they wait for. Nothing is drained and delivered again: the application's own receives
//! take each message.
//!
//! ```text
//! channels   what was sent and not received
//! behind     who has to go on
//! wave       from the first look to a quiet cut, or to the reason why there is none in time
//! ```
//!
//! Cuts at which no message is under way are closed under the minimum: where the counts of a pair
//! agree at two cuts, they agree where either side is at the earlier one. So there is a first quiet
//! cut after each moment, if there is one, and who goes on only where no quiet cut can be without
//! finds it. Where it can't be told who has to (`MPI_ANY_SOURCE`, files), everybody goes on.
//!
//! The protocol is that of MPICH2-Pcl (Coti 2006) at the level of calls: counts take the place of
//! markers, since nothing can be put behind a message there (see [`crate::waits`]).

mod behind;
mod channels;
mod wave;

#[cfg(test)]
mod tests;

pub use channels::{Flight, in_flight};
pub use wave::{Reason, Step, Wave, are_alike};
