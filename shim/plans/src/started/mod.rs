//! Collectives that are started in one call and completed in another: non-blocking and persistent
//! ones, run by plans.
//!
//! ```text
//! start        the calls that start, and those that prepare persistent ones
//! case         whether a plan runs a call, and which
//! running      an operation: its plan, its memory, and how far it is
//! marker       what tells the native MPI of its end
//! open         those that the application has requests for
//! requests     the request that the application has for it, and whose it is
//! completion   calls that complete requests, which go on with the plans of theirs
//! progress     where the native MPI calls us in whatever it waits
//! waiting      the list of those that others go on with
//! helper       a thread that does so where the native MPI does not
//! objects      datatypes and reductions that the application frees while a plan uses them
//! sizes        of persistent ones, which ranks tell each other where the request is made
//! work         what an operation runs: a plan, or one behind sizes that leaders are told
//! trial        a persistent request whose starts the native MPI runs, or plans that are tried
//! numbers      what ranks tell each other of such a request
//! ```
//!
//! # Nobody else goes on
//!
//! Unless the native MPI or a thread calls us ([`progress`]), a rank goes on with a plan in the
//! calls that complete its request, and nowhere else. Then only such plans are taken whose messages
//! are all sent, and whose receives are all posted, when the operation starts
//! ([`forwards`](treepie_collective::Plan::forwards)): no other rank waits for this one to go
//! on, whatever it does meanwhile.
//!
//! # One rank alone never decides
//!
//! Whether a plan starts hangs on what all ranks know: the settings, the operation, the bytes, and
//! whether our communicator was made, which is done where all wait anyway: at the start for the
//! world, behind the application's constructors for others, or in a blocking collective. Never in
//! the call that starts, which may not wait.
//!
//! Under a guard it hangs on the calls that there were, and on exchanged numbers, which are used
//! from a blocking collective of the same communicator on: in `treepie_guard` it is said why
//! not sooner. A persistent request may have a guard of its own ([`trial`]).

mod case;
mod completion;
mod helper;
mod marker;
mod numbers;
mod objects;
mod open;
pub mod progress;
mod requests;
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
