//! Replaces collectives by plans: a call becomes a problem, the problem a plan, and the plan runs
//! over native point-to-point messages on a private communicator.
//!
//! # One rank alone never decides
//!
//! A rank in the native collective and a rank in a plan would wait for each other for ever. So each
//! exit from the plan is one that all ranks of the communicator take together, or one without
//! communication:
//!
//! | exit | why no rank is alone |
//! |---|---|
//! | nothing is replaced, or not this operation | the settings are rank 0's, and all ranks agree that they are set up (`setup`) |
//! | the communicator has no plans | it is an inter-communicator, of one process, or of several jobs, which all ranks see; or the creation of the private one failed somewhere, on which all agree (`attached`) |
//! | the MPI does not reduce this datatype with this operation | both are the same arguments on all ranks |
//! | the guard leaves a call to the MPI | it counts calls, and reads exchanged numbers (`guard`) |
//! | the native call comes back through a tool | it has the first call's arguments (`passed_on`) |
//! | the guard selects another algorithm of the MPI | as above; it was prepared at a call at which all ranks agreed that they can (`guard::forced`), and the ranks have exchanged for which operations they may (`guard::knobs`) |
//! | the program itself has selected an algorithm of the MPI (`MPI_T`) | MPI requires it to do so on all ranks (the variable's scope), or its own collectives would not work; before the first trial, as the row above |
//! | no algorithm is chosen, or it does not serve | a function of operation, root, bytes and order, which are equal on all ranks, and independent of a rank's records of earlier calls |
//! | sizes are exchanged, or sent to leaders | settings, guard, number of calls, exchanges (`sizes`) |
//! | `Refused::ByNative` | the native collective returns an error before it communicates |
//! | `Refused::With` | an error is returned without a native call |
//! | the communicator has no topology that all ranks know, or, for an automatic choice, one whose blocks the MPI may confuse | all ranks learn the same at its creation (`neighbours`) |
//! | data are in memory that the processor cannot read (`device`) | if a rank had an accelerator's runtime when the communicator was first used, all ranks exchange this at each call; if one was loaded later, the MPI copies that rank's data, and it stays in the plan |
//! | an error inside a plan | the error is returned, as by a native collective; its messages match no later receives |
//! | no memory | the process is aborted, and with it the job |
//!
//! The layout of data in memory is no exit: counts and datatypes may differ from rank to rank as
//! long as their signatures agree, and data that cannot be used in place is copied (`packed`).
//! Plans that move data count bytes; plans that reduce count elements, which are the same on all
//! ranks.
//!
//! The operation's commutativity decides whether operands must stay in order. MPI lets ranks pass
//! different functions for one operation (MPI 4.1, 6.9.1); if some declare it commutative and
//! others not, Open MPI and MPICH also hang, since they choose their algorithms by it.
#![deny(unsafe_code)]

mod answers;
mod attached;
mod begin;
mod by_request;
mod bytes;
mod call;
mod call_context;
mod chosen;
mod clock;
mod communicator;
mod device;
mod eager;
mod errors;
#[expect(unsafe_code, reason = "moves the application's data")]
mod execute;
mod ground;
mod guard;
mod guarded;
mod job;
mod left;
mod neighbours;
#[expect(unsafe_code, reason = "copies the application's elements")]
mod operands;
mod own;
#[expect(unsafe_code, reason = "copies the application's blocks")]
mod packed;
mod passed_on;
mod plans;
pub mod platform;
mod repeated;
mod replace;
mod setup;
mod sizes;
mod started;
mod started_calls;
#[expect(unsafe_code, reason = "reduces the application's elements")]
mod summing;
mod sweeps;
mod telling;
#[expect(unsafe_code, reason = "memory shared with other processes")]
mod transport;
mod unit;
#[expect(unsafe_code, reason = "starts to move the application's data")]
mod workplace;

pub use begin::{CollectiveSettings, SetupError, begin, end};
pub use clock::now;
pub use device::is_possible as may_have_device_memory;
pub use guard::{AgreedMinimum, results as guard_results};
pub use replace::run;
pub use setup::locality;
pub use started::{
    Waits, begin_persistent, cancel, complete, end_guards, end_request, look, look_at,
    make_persistent, prepare, release, start, stop_progress,
};
