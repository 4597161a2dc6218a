//! The order of receives: what a run's non-deterministic calls gave, and the same once more.
//!
//! What MPI leaves open is which message a receive with a wildcard takes, and what polls and calls
//! for any of several requests find. Both are recorded, and forced in a replay. Two facts make the
//! log small (*posting order*):
//!
//! * Each receive with a wildcard is replaced by what it matched, its source and tag, in the order
//!   in which receives were *posted*. For fixed (communicator, source, tag) only receives that
//!   matched that pair accept its messages then; they are posted in the recorded order, and such
//!   messages don't overtake each other: the k-th receive gets the k-th message, as it did. No
//!   clock and no number on messages is needed; `tests` tries that on a model of MPI's matching.
//!   A receive that was cancelled took nothing, and is not posted. One that matched nothing until
//!   the end takes no message of a later one, which it would have got before.
//! * A poll that found nothing is counted only: a run of any length is one number.
//!
//! ```text
//! call       the calls that are recorded, and what they find
//! entry      an entry of a log as bytes
//! log        the log of a rank: compressed blocks of entries
//! record     makes the entries of a run
//! guide      says what a replay has to do, and where it takes another way
//! compare    where two runs part
//! ```
//!
//! All calls of a rank are in one order: it holds for processes in which one thread receives.

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
