//! Proof, while a job runs, that a plan or another algorithm of the native MPI is quicker than the
//! algorithm that the MPI takes by itself: measured in pairs, paid for as it goes, the same on all
//! ranks, and taken back where it no longer holds. Statements on plans hold for the MPI's other
//! algorithms too.
//!
//! ```text
//! the rule    policy: every constant; verdict: when a pair is won, and when pairs decide
//!             evidence: pairs of a candidate in trial, and of the plan in use
//! measuring   call: how ranks wait in a call; times: of a call, on this rank and on all
//!             block: pairs, of calls by the MPI and by a plan, in an order drawn by lot
//! a cell      key: the common properties of its calls; cell: its accounts and its state
//!             state: measuring, trying, watching, settled, each with its data
//!             ledger: counts, times, costs, the budget; candidate: trials and use of one
//! a guard     guard: calls of a communicator; cells: their cells; ticket: how a call is run
//!             agreement: exchanges between ranks, and decisions; exchange: their numbers;
//!             schedule: when they begin, and when their numbers are used
//!             contender: what may be tried; results: for profiles and stores
//! persistent  request: guards of requests; request_history: outcomes, for later ones
//! one-sided   epochs: small puts joined, or each on its own
//! ```
//!
//! To learn when a plan is adopted or taken back, read `policy` and `verdict`.
//!
//! # Why ranks never disagree
//!
//! Whether a call is run by the MPI or by a plan follows from the numbers of calls, which all ranks
//! of a legal program count alike, and from numbers that were exchanged: whole nanoseconds, least
//! and most of all ranks. No rank decides by its own clock. An exchange begins at the same call of
//! the communicator on all ranks, and is used so many calls later (`LAG_CALLS`, `LONG_LAG_CALLS`).
//! It carries a hash of all calls that there were: where ranks called something else, nothing is
//! tried or adopted.
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
//! ([`CellKey::shows_all`]), a rank that starts it for the time k + `LAG_CALLS` knows that all have
//! begun what they begin in start k, and may wait for an exchange from there. So each such request
//! has a guard of its own ([`Guard::of_request`]), as a communicator has where all wait for each
//! other in each call: what a start is run by follows from its number, and from numbers that all
//! ranks have used at the same start. Exchanges of several requests begin in any order: each has
//! messages of its own.
//!
//! A later request of a cell begins with the outcome of earlier ones, where ranks agree when it is
//! made ([`RequestHistory`]): it is left to the MPI, or begins with the plan, which is watched.
//!
//! Those that have a root, or may be empty, are not tried. What is adopted when such a request is
//! made, of calls that are started once, runs it as long as it lives; that is asked first for all.
//!
//! # The promise
//!
//! Trying costs at most one part in `BUDGET_PART` of the time of a cell, exchanges included, and
//! one block whose calls took longer than any before. A block starts only where the budget covers
//! what all its calls by the plan take longer than the native ones at the longest duration so far:
//! one in a pair, or some in a row. A call between two of the other side is disturbed by what that
//! one has left under way, and by what ranks that are ahead start behind it, so that a plan may win
//! there alone, and lose in a loop. So a blocking collective of more than a few microseconds is
//! judged by rows of calls before which all ranks wait for each other; single calls only find what
//! is worth a row, where nobody leaves before all have entered. Where calls overlap, all ranks wait
//! for each other in an exchange: the first two of a communicator cost what no budget covers, and
//! only then is anything tried; nor is what they wait in the next two where a plan lets ranks run
//! further ahead. A plan stays only if it won pairs by 2 % at the odds of `Policy`, those of a
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

mod agreement;
mod block;
mod call;
mod candidate;
mod cell;
mod cells;
mod contender;
mod epochs;
mod evidence;
mod exchange;
mod guard;
mod hash;
mod key;
pub mod learning;
mod ledger;
pub mod one_sided;
mod policy;
mod request;
mod request_history;
mod results;
mod schedule;
mod state;
#[cfg(test)]
mod tests;
mod ticket;
mod times;
mod verdict;

pub use call::Form;
pub use epochs::{Course, EpochGuard, EpochKey, Gathered};
pub use exchange::Due;
pub use guard::Guard;
pub use key::{CellKey, Key};
pub use policy::{
    BUDGET_PART, EPOCHS_PER_CALL, MAX_CANDIDATES, REINVESTED_PART, VALUES_OF_REQUEST, WARM_UP_CALLS,
};
pub use request_history::{RequestHistory, RequestOutcome};
pub use results::{AdoptedPlan, Event, Mode, State, Summary};
pub use ticket::Ticket;
pub use times::Work;
