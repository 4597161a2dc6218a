//! Collectives that are started in one call and completed in another: non-blocking and persistent
//! ones, run by plans.
//!
//! ```text
//! start        calls that start collectives, and those that prepare persistent ones
//! case         selection of the plan that runs a call, if any
//! running      an operation: its plan, its memory, and its progress
//! marker       reports its end to the native MPI
//! open         operations for which the application has requests
//! requests     the application's request for an operation, and its owner
//! completion   calls that complete requests, and advance the plans of these
//! progress     hook that the native MPI calls in whatever it waits
//! waiting      list of operations that others advance
//! helper       a thread that advances them if the native MPI does not
//! objects      datatypes and reductions that the application frees while a plan uses them
//! sizes        of persistent ones, which ranks exchange when the request is created
//! work         work of an operation: a plan, or one after sizes that leaders receive
//! trial        a persistent request whose starts are run by the native MPI or by candidates
//! numbers      values that ranks exchange about such a request
//! ```
//!
//! # No progress by others
//!
//! Unless the native MPI or a thread calls this library ([`progress`]), a rank advances a plan only
//! in the calls that complete its request. Then only plans are chosen whose messages are all sent,
//! and whose receives are all posted, when the operation starts
//! ([`forwards`](treepie_collective::Plan::forwards)): no other rank waits for the progress of this
//! one, whatever it does meanwhile.
//!
//! # One rank alone never decides
//!
//! The decision to start a plan depends on values that all ranks know: the settings, the operation,
//! the bytes, and the existence of the private communicator. That one is created when all wait
//! anyway: at the start for the world, after the application's constructors for others, or in a
//! blocking collective; never in the call that starts, which may not wait.
//!
//! Under a guard it depends on the earlier calls, and on exchanged numbers, which are used from a
//! blocking collective of the same communicator on: `treepie_guard` explains why not sooner. A
//! persistent request may have a separate guard ([`trial`]).

mod case;
mod completion;
mod helper;
mod marker;
mod numbers;
mod objects;
mod open;
pub mod progress;
mod requests;
#[expect(unsafe_code, reason = "moves the application's data, turn by turn")]
mod running;
mod sizes;
mod start;
mod trial;
mod uses;
mod waiting;
mod work;

pub use completion::{Waits, complete, look, look_at};
pub use objects::release;
pub use progress::stop_progress;
pub use requests::{begin_persistent, cancel, end_request};
pub use start::{end_guards, is_wanted, make_persistent, prepare, start};
