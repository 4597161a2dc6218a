//! Whether a plan, or another algorithm of the native MPI, may take the place of the algorithm that
//! the MPI takes by itself, decided while the job runs: measured in pairs, paid for as it goes, the
//! same on all ranks, and taken back where it no longer holds. What is said of plans here holds for
//! the MPI's other algorithms too.
//!
//! ```text
//! key        what calls have in common that are judged together: a cell
//! times      measured durations of a call: on this rank, and on all
//! block      pairs, of calls by the MPI and by a plan, in an order drawn by lot
//! tried      a plan in trial, and what was found of it
//! cell       one cell: warm-up, trials, the plan that was adopted
//! watch      the native MPI as the challenger of a plan that runs, and the plan by itself
//! contender  what is tried in the place of the native way
//! earlier    what a persistent request is told of those before it
//! epochs     one-sided epochs: small puts joined, or each on its own
//! exchange   the cells of one communicator, and what its ranks tell each other
//! schedule   when they do so, and when they use it
//! ticket     how one call is run
//! summary    results, for profiles and stores
//! ```
//!
//! # Why ranks never disagree
//!
//! Whether a call is run by the MPI or by a plan follows from the numbers of calls, which all ranks
//! of a legal program count alike, and from numbers that were exchanged: whole nanoseconds, least
//! and most of all ranks. No rank decides by its own clock. An exchange begins at the same call of
//! the communicator on all ranks, and is used so many calls later (`LAG`, `LONG_LAG`). It
//! carries a hash of all calls that there were: where ranks called something else, nothing is tried
//! or adopted.
//!
//! # Collectives that are started
//!
//! A call that starts a collective may not wait. A rank may start any number of them, and complete
//! none, before it has received a single message (MPI 4.1, 6.12): what runs a call that is started
//! can then only follow from what the rank knew before. If one rank would run a call differently
//! for a message that it has received, another one that has not received it yet would disagree:
//! ranks can't agree on a change without a call in which each may wait for all. So
//!
//! * calls that are started count, are measured, and may begin an exchange as others do: that
//!   waits for nobody, and all ranks start in the same order;
//! * the numbers of an exchange are used by a call that may wait alone: the first blocking
//!   collective of the communicator, or making of a persistent request, that is far enough behind
//!   it. MPI lets that one wait for all ranks to enter it, which have begun the exchange by then,
//!   and where all ranks are behind the same calls;
//! * between two such calls all that a rank does follows from numbers of calls.
//!
//! In a program that only ever starts collectives on a communicator, the native MPI runs them all,
//! or what an earlier run has adopted. A start can't wait for an exchange of long ago either:
//!
//! ```text
//! program A, rank 0: start 1 to n, send to 1, complete all    rank 1: receive, the same starts
//! program B, rank 0: start 1 to n, complete all               rank 1: each start completed at once
//! ```
//!
//! In A rank 0 has to get to its last start before rank 1 begins its first: waiting in one hangs.
//! In B rank 1 has the numbers of all ranks long before its last start, since what it completes all
//! have started. Rank 0 does the same in both until then, and may have received nothing in either:
//! it can't tell them apart. What it does not use in A it does not use in B, and so rank 1 may not
//! either, although it could.
//!
//! What was started and is not complete when its block is exchanged counts on no rank. Measured is
//! what a collective takes of the program's time; a trial is not won where the time from one start
//! to the next becomes longer in more pairs than not.
//!
//! # Persistent requests
//!
//! They are started in another order on each rank: the starts of all together are counted alike
//! nowhere. But the k-th start of one request is the same on all ranks, and none starts it again
//! before it is complete. Where that shows that all have started it
//! ([`CellKey::shows_all`]), a rank that starts it for the time k + `LAG` knows that all have
//! begun what they begin in start k, and may wait for an exchange from there. So each such request
//! has a guard of its own ([`Guard::of_request`]), as a communicator has where all wait for each
//! other in each call: what a start is run by follows from its number, and from numbers that all
//! ranks have used at the same start. Exchanges of several requests begin in any order: each has
//! messages of its own.
//!
//! What earlier requests of its cell have come to, a later one begins with, where ranks agree
//! when it is made ([`Earlier`]): it is left to the MPI, or begins with the plan, which is watched.
//!
//! Those that have a root, or may be empty, are not tried. What is adopted when such a request is
//! made, of calls that are started once, runs it as long as it lives; that is asked first for all.
//!
//! # The promise
//!
//! Trying costs at most a part of [`BUDGET`] of the time of a cell, exchanges included, and one
//! block whose calls took longer than any before. A block starts only where the budget covers what
//! all its calls by the plan take longer than the native ones at the longest duration so far: one
//! in a pair, or some in a row. A call between two of the other side is disturbed by what that one
//! has left under way, and by what ranks that are ahead start behind it, so that a plan may win
//! there alone, and lose in a loop. So a blocking collective of more than a few microseconds is
//! judged by rows of calls before which all ranks wait for each other; single calls only find what
//! is worth a row, where nobody leaves before all have entered. Where calls overlap, all ranks wait
//! for each other in an exchange: the first two of a communicator cost what no budget covers, and
//! only then is anything tried; nor is what they wait in the next two where a plan lets ranks run
//! further ahead. A plan stays only if it won pairs by 2 % at odds of [`ODDS`] to 1, those of a
//! sequential test that may be looked at as often as one likes. One that has become half as slow
//! again is compared at once, in a block that the budget need not cover. Not covered: time outside
//! the calls, but for the time from one call to the next, and memory.
//!
//! After: Steiner, Hunold, "OMPICollTune", PMBS 2022 (all ranks take the same algorithm); Faraj,
//! Yuan, Lowenthal, "STAR-MPI", ICS 2006 (stages, watch); Howard, Ramdas, McAuliffe, Sekhon, Annals
//! of Statistics 2021 (the test).
//!
//! # Beside it
//!
//! [`learning`] decides between runs what the guard decides inside one; [`one_sided`] joins small
//! puts, and prices them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod block;
mod cell;
mod contender;
mod earlier;
mod epochs;
mod exchange;
mod key;
pub mod learning;
pub mod one_sided;
mod schedule;
mod summary;
#[cfg(test)]
mod tests;
mod ticket;
mod times;
mod tried;
mod watch;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use treepie_choice::Challenger;

use treepie_base::from_name;

pub(crate) use contender::Contender;
pub use earlier::{Earlier, Found};
pub use epochs::{Course, EPOCHS, EpochGuard, EpochKey, Gathered};
pub use exchange::{Due, Event, Guard, VALUES_OF_REQUEST};
pub use key::{CellKey, Form, Key};
pub use summary::{Known, Summary};
pub use ticket::Ticket;
pub use times::Work;

/// Calls of a cell that are measured first, all by the MPI.
pub const WARM_UP: u64 = 8;

/// Calls of a cell before something is tried in it.
pub(crate) const ELIGIBLE: u64 = 100;

/// Trying may cost one part of so many of a cell's time.
pub const BUDGET: u64 = 100;

/// And one part of so many of what plans have saved in all cells of the communicator.
pub const REINVESTED: u64 = 10;

/// Calls of a communicator from the start of an exchange until its numbers are used.
pub(crate) const LAG: u64 = 8;

/// The same where calls may overlap, since not all of them make ranks wait for all others: fewer
/// where calls are long, more where ranks were found to be further ahead of each other.
pub(crate) const LONG_LAG: u64 = 128;

/// Odds that a plan is quicker, for one that is adopted; times the number of challengers.
pub const ODDS: u32 = 20;

/// Candidates that are tried in a cell, at most.
pub const MOST_CHALLENGERS: usize = 6;

/// How a call is run.
#[derive(Debug, Clone, Copy)]
pub enum Way<C = Challenger> {
    /// By the native MPI, as it is.
    Native,
    /// By this plan, or this algorithm of the native MPI.
    By(C),
}

/// State of a cell, or of a candidate in it. Where states and times speak of a plan, another
/// algorithm of the native MPI may stand for it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray, Serialize, Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing was tried yet: too few calls, or not enough time in them.
    Warming,
    /// Being compared, or not done with when another one was adopted.
    Trying,
    /// The plan is quicker, and runs.
    Adopted,
    /// The plan is quicker, and does not run, since the guard only reports.
    Proven,
    /// The plan is slower, or not quicker by enough to be seen.
    Dropped,
    /// The plan ran, and was no longer quicker.
    TakenBack,
    /// Left to the MPI: no plan is predicted to be worth it, or ranks or calls did not fit.
    Closed,
}

from_name!(State, "state of a cell");
