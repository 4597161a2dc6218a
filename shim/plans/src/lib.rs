//! Collectives replaced by plans: a call becomes a problem, the problem a plan, and
//! the plan is run over the native point-to-point on a communicator of our own.
//!
//! # One rank alone never decides
//!
//! A rank in the native collective and a rank in a plan wait for each other for ever. So each way
//! out of the plan is one that all ranks of the communicator take together, or one that
//! communicates with nobody:
//!
//! | way out | why no rank is alone |
//! |---|---|
//! | nothing is replaced, or not this operation | the settings are rank 0's, and all agree that they are set up (`setup`) |
//! | the communicator has no plans | it is an inter-communicator, of one process, or of several jobs, as all see; or making ours failed somewhere, on which all agree (`attached`) |
//! | the MPI does not reduce this datatype with this operation | both are the same arguments on all ranks |
//! | the guard leaves a call to the MPI | it counts calls, and reads exchanged numbers (`guard`) |
//! | the guard has another algorithm of the MPI's run it | as above; it was made ready at a call at which all ranks said that they can (`guard::forced`), and which operations are open to that, all told each other (`guard::knobs`) |
//! | the program has set an algorithm of the MPI's itself (`MPI_T`) | MPI has it do so on all ranks (the variable's scope), or its own collectives would not work; before the first trial, as the row above |
//! | no algorithm is chosen, or it does not serve | a function of operation, root, bytes and order, which are equal on all ranks, and of nothing that a rank remembers of earlier calls |
//! | sizes are exchanged, or told | settings, guard, number of calls, exchanges (`sizes`) |
//! | `Refused::ByNative` | the native collective returns an error before it communicates |
//! | `Refused::With` | an error is returned, and nothing is called |
//! | the communicator has no topology that all ranks know, or, where the plan is chosen, one whose blocks the MPI may take for each other | what is learnt where it is made is the same on all (`neighbours`) |
//! | data are in memory that the processor can't read (`device`) | where a rank had an accelerator's runtime when the communicator was first used, all tell each other at each call; where one came later, that rank's data are copied by the MPI, and it stays in the plan |
//! | an error inside a plan | the same, as by a native collective; its messages meet no later ones |
//! | no memory | the process is aborted, and with it the job |
//!
//! The layout of data in memory is no way out: counts and datatypes may differ from rank to rank as
//! long as their signatures agree, and what can't be used where it is is copied (`packed`). Plans
//! count bytes where they move data, and elements, which are the same on all ranks, where they
//! reduce.
//!
//! Whether operands must stay in order is asked of the operation. MPI lets ranks give functions of
//! their own that differ (MPI 4.1, 6.9.1) but for one operation; where some say that it commutes
//! and others not, Open MPI and MPICH wait for ever as well, since they choose their algorithms by
//! it.

mod answers;
mod attached;
mod begin;
mod by_request;
mod bytes;
mod call;
mod chosen;
mod clock;
mod communicator;
mod device;
mod eager;
mod errors;
mod execute;
mod ground;
mod guard;
mod guarded;
mod job;
mod left;
mod lock;
mod neighbours;
mod operands;
mod own;
mod packed;
mod place;
mod plans;
pub mod platform;
mod repeated;
mod replace;
mod runtimes;
mod setup;
mod sizes;
mod started;
mod started_calls;
mod summing;
mod sweeps;
mod telling;
mod transport;
mod unit;
mod workplace;

pub use begin::{SetupError, Wanted, begin, end};
pub use clock::now;
pub use device::is_possible as may_have_device_memory;
pub use guard::{Exchange, results as guard_results};
pub use replace::run;
pub use setup::locality;
pub use started::{
    Waits, begin_persistent, cancel, complete, end_guards, end_request, look, look_at,
    make_persistent, prepare, release, start, stop_progress,
};
