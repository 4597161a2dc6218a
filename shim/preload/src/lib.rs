//! `libtreepie.so`: preloaded into MPI jobs, one file for every MPI.
//!
//! A call comes in at `entry`, is counted by `treepie-record`, has its communicator substituted by
//! `world`, and leaves through the next function of its name, or through `treepie-plans`, where a
//! plan does what the native MPI would. `session` decides at `MPI_Init` what is done, and ends it
//! at `MPI_Finalize`. In a process that never calls MPI nothing here runs.
//!
//! ```text
//! entry         entry points under both names, generated from the table of the interface
//! session       start-up and end: settings, what all ranks must agree on, what an abnormal exit leaves
//! one_sided     small puts and accumulates kept back, and sent joined
//! reorder       communicators with a topology, whose ranks are put in a better order
//! binding       each process on the core that a placement gives it
//! order         the order of receives, recorded and replayed
//! world         the substitution of MPI_COMM_WORLD, and all that follows from it
//! ```

mod binding;
mod entry;
mod one_sided;
mod order;
mod reorder;
mod session;
mod world;
