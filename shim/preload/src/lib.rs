//! `libtreepie.so`: preloaded into MPI jobs, one file for every MPI.
//!
//! A call comes in at `entry`, is counted in `record`, has its communicator substituted by `world`,
//! and leaves through the next function of its name, or through `collectives`, where a plan does
//! what the native MPI would. `session` decides at `MPI_Init` what is done, and ends it at
//! `MPI_Finalize`. In a process that never calls MPI nothing here runs.
//!
//! A floor may use those below it, and none above it or beside it:
//!
//! ```text
//! entry         the table of the MPI interface, and the entry points made from it under both names
//! session       start-up and end: settings, what all ranks must agree on, what an abnormal exit leaves
//! one_sided     small puts and accumulates kept back, and sent joined
//! collectives   plans run in place of the MPI's own collectives
//! reorder       communicators with a topology, whose ranks are put in a better order
//! binding       each process on the core that a placement gives it
//! platform      the platform file checked, or the platform measured
//! order         the order of receives, recorded and replayed
//! world         the substitution of MPI_COMM_WORLD, and all that follows from it
//! record        counters, and the profile made of them at the end
//! share         values of one rank on others: one format, adopted by all ranks or by none
//! mpi           the native MPI: families, ABI descriptors, its own functions
//! machine       the cores and the hardware of this machine
//! guard         no panic crosses into C
//! log           lines on standard error
//! features      what is done around calls, in one word
//! ```

mod binding;
mod collectives;
mod entry;
mod features;
mod guard;
mod log;
mod machine;
mod mpi;
mod one_sided;
mod order;
mod platform;
mod record;
mod reorder;
mod session;
mod share;
mod world;
