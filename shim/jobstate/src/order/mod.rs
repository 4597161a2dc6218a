//! Order of receives: the results of a run's non-deterministic calls, recorded and replayed.
//!
//! MPI leaves open which message a receive with a wildcard takes, and the results of polls and of
//! calls for any of several requests. Both are recorded, and forced in a replay. Two facts make the
//! log small (*posting order*):
//!
//! * Each receive with a wildcard is replaced by its match, a source and a tag, in the order
//!   in which receives were *posted*. For fixed (communicator, source, tag) only receives that
//!   matched that pair then accept its messages; they are posted in the recorded order, and such
//!   messages do not overtake each other: the k-th receive gets the k-th message, as it did. No
//!   clock and no number on messages is needed; `tests` checks that on a model of MPI's matching.
//!   A receive that was cancelled took no message, and is not posted. One that had no match until
//!   the end takes no message of a later one, since it would have got that message before.
//! * A poll that found nothing is only counted: a run of any length is one number.
//!
//! ```text
//! call       recorded calls, and their results
//! entry      an entry of a log as bytes
//! log        the log of a rank: compressed blocks of entries
//! record     makes the entries of a run
//! guide      returns recorded results, and detects differences
//! compare    the first difference of two runs
//! ```
//!
//! All calls of a rank are in one order, which is defined for processes in which one thread
//! receives.

mod call;
mod compare;
mod entry;
pub mod file;
mod guide;
mod log;
mod record;
#[cfg(test)]
mod tests;

pub use call::{Call, CallKind, Outcome};
pub use compare::{EmptyPolls, Parting, parting};
pub use entry::Damaged;
pub use guide::{Diverged, Guide, Posting};
pub use log::{BLOCK, Counts, Ended, Log, Totals};
pub use record::Recorder;
