//! `libtreepie.so`: preloaded into MPI jobs, one file for every MPI.
//!
//! A call comes in at `api`, is counted in `record`, has its communicator
//! substituted by `world`, and leaves through the next function of its name, or
//! through `collectives`, where a plan does what the host would.
//! `session` decides at `MPI_Init` what is done, and ends it at `MPI_Finalize`.
//!
//! In a process that never calls MPI nothing here runs.

mod api;
mod binding;
mod collectives;
mod platform;
mod record;
mod reorder;
mod session;
mod world;
