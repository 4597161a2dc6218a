//! `libtreepie.so`: preloaded into MPI jobs, one file for every MPI.
//!
//! A call comes in at `entry`, is counted by `treepie-record`, has its communicator substituted by
//! `world`, and leaves through the next function of its name, or through `treepie-plans` if a plan
//! replaces the native procedure. `session` decides at `MPI_Init` which features are on, and ends
//! them at `MPI_Finalize`. In a process that never calls MPI nothing here runs.
//!
//! ```text
//! entry         entry points under both names, generated from the table of the interface
//! session       start-up and end: settings, agreement of all ranks, files left by an abnormal exit
//! one_sided     small puts and accumulates, held back and sent together
//! reorder       communicators with a topology, whose ranks are put in a better order
//! binding       each process on the core that a placement gives it
//! order         the order of receives, recorded and replayed
//! world         the substitution of MPI_COMM_WORLD, and its consequences
//! ```

mod binding;
mod entry;
mod one_sided;
mod order;
mod reorder;
mod session;
mod world;
