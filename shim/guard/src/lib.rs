//! Proof, while a job runs, that a plan or another algorithm of the native MPI is faster than the
//! algorithm that the MPI chooses: measured in pairs, within a budget, the same on all ranks, and
//! revoked if it is no longer valid. Statements about plans also hold for the MPI's other
//! algorithms.
//!
//! ```text
//! the rule    policy: every constant; verdict: conditions for a won pair, and for a decision
//!             evidence: pairs of a candidate in trial, and of the plan in use
//! measuring   call: how ranks wait in a call; times: of a call, on this rank and on all
//!             block: pairs, of calls by the MPI and by a plan, in random order
//! a cell      key: common properties of its calls; cell: its accounts and its state
//!             state: measuring, trying, watching, settled, each with its data
//!             ledger: counts, times, costs, the budget; candidate: trials and use of one
//! a guard     guard: calls of a communicator; cells: their cells; ticket: the runner of a call
//!             agreement: exchanges between ranks, and decisions; exchange: their numbers;
//!             schedule: the calls at which they begin, and at which their numbers are used
//!             contender: possible candidates; results: for profiles and stores
//! persistent  request: guards of requests; request_history: outcomes, for later ones
//! one-sided   epochs: small puts, joined or separate
//! ```
//!
//! The conditions under which a plan is adopted or revoked are in `policy` and `verdict`.
//!
//! # Why ranks never disagree
//!
//! The decision to run a call by the MPI or by a plan follows from the numbers of calls, which all
//! ranks of a correct program count alike, and from exchanged numbers: whole nanoseconds, minimum
//! and maximum over all ranks. No rank decides by its own clock. An exchange begins at the same
//! call of the communicator on all ranks, and is used a fixed number of calls later (`LAG_CALLS`,
//! `LONG_LAG_CALLS`). It carries a hash of all earlier calls: if ranks made different calls, no
//! candidate is tried or adopted.
//!
//! # Collectives that are started
//!
//! A call that starts a collective may not wait. A rank may start any number of them, and complete
//! none, before it has received a single message (MPI 4.1, 6.12): so the runner of a started call
//! can only depend on what the rank knew before. If one rank ran a call differently because of a
//! message that it has received, another one that has not received it yet would disagree: ranks
//! cannot agree on a change without a call in which each may wait for all. Therefore:
//!
//! * started calls are counted and measured, and may begin an exchange as others do: this waits
//!   for no rank, and all ranks start in the same order;
//! * the numbers of an exchange are used only by a call that may wait: the first blocking
//!   collective of the communicator, or creation of a persistent request, that is far enough after
//!   it. MPI lets that call wait for all ranks to enter it, which have begun the exchange by then,
//!   and at which all ranks have made the same calls;
//! * between two such calls all decisions of a rank follow from numbers of calls.
//!
//! In a program that only ever starts collectives on a communicator, they are all run by the native
//! MPI, or by the plans that an earlier run has adopted. A start cannot wait for an old exchange
//! either:
//!
//! ```text
//! program A, rank 0: start 1 to n, send to 1, complete all    rank 1: receive, the same starts
//! program B, rank 0: start 1 to n, complete all               rank 1: complete each start directly
//! ```
//!
//! In A rank 0 must reach its last start before rank 1 begins its first: waiting in one would hang.
//! In B rank 1 has the numbers of all ranks long before its last start, since all have started the
//! collectives that it completes. Rank 0 behaves identically in both until then, and may have
//! received no message in either: it cannot distinguish them. Numbers that it does not use in A it
//! does not use in B, and so rank 1 must not either, although it could.
//!
//! Collectives that were started and are not complete when their block is exchanged count on no
//! rank. The measure is the program's time that a collective takes; a trial is not won if the time
//! from one start to the next becomes longer in more pairs than not.
//!
//! # Persistent requests
//!
//! Each rank may start them in another order: the starts of all requests together are not counted
//! alike. But the k-th start of one request is the same on all ranks, and none starts it again
//! before it is complete. If completion proves that all have started it ([`CellKey::shows_all`]), a
//! rank that starts it for the time k + `LAG_CALLS` knows that all have begun the exchanges of
//! start k, and may wait for such an exchange from there. So each such request has a separate guard
//! ([`Guard::of_request`]), like a communicator whose ranks wait for each other in each call: the
//! runner of a start follows from its number, and from numbers that all ranks have used at the same
//! start. Exchanges of several requests begin in any order: each has separate messages.
//!
//! A later request of a cell begins with the outcome of earlier ones, if ranks agree when it is
//! created ([`RequestHistory`]): it is left to the MPI, or begins with the plan, which is watched.
//!
//! Requests with a root, or with possibly empty blocks, are not tried. A plan that is adopted for
//! collectives that are started once, when such a request is created, runs it for its whole life;
//! this is tested first for all requests.
//!
//! # The promise
//!
//! Trials cost at most one part in `BUDGET_PART` of the time of a cell, exchanges included, plus
//! one block whose calls took longer than any before. A block starts only if the budget covers the
//! additional time of all its calls by the plan, compared with the native ones, at the longest
//! duration so far: one call in a pair, or several in a row. A call between two of the other side
//! is disturbed by the unfinished communication of that side, and by calls that ranks which are
//! ahead start after it, so that a plan may win only there, and lose in a loop. So a blocking
//! collective of more than a few microseconds is judged by rows of calls before which all ranks
//! wait for each other; single calls only find candidates that are worth a row, if no rank leaves
//! before all have entered. If calls overlap, all ranks wait for each other in an exchange: no
//! budget covers the first two of a communicator, and trials begin only then; nor does it cover the
//! waits in the next two if a plan lets ranks run further ahead. A plan stays only if it won pairs
//! by 2 % at the odds of `Policy`, those of a sequential test that may be evaluated after every
//! pair. A plan that has become slower by half is compared immediately, in a block that the budget
//! need not cover. Not covered: time outside the calls, except for the time from one call to the
//! next, and memory.
//!
//! After: Steiner, Hunold, "OMPICollTune", PMBS 2022 (all ranks take the same algorithm); Faraj,
//! Yuan, Lowenthal, "STAR-MPI", ICS 2006 (stages, watch); Howard, Ramdas, McAuliffe, Sekhon, Annals
//! of Statistics 2021 (the test).
//!
//! # Related modules
//!
//! [`learning`] makes between runs the decisions that the guard makes within one; [`one_sided`]
//! joins small puts, and estimates their cost.
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
pub use key::{CellKey, Key, size_class};
pub use policy::{
    BUDGET_PART, EPOCHS_PER_CALL, MAX_CANDIDATES, REINVESTED_PART, VALUES_OF_REQUEST, WARM_UP_CALLS,
};
pub use request_history::{RequestHistory, RequestOutcome};
pub use results::{AdoptedPlan, Event, Mode, State, Summary};
pub use ticket::Ticket;
pub use times::Work;
