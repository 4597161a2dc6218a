//! The life of a job under Treepie: settings and what all ranks must agree on
//! when MPI starts, the profile when it ends, and what is left of it where the job
//! has no orderly end.

mod above;
pub mod agreement;
pub mod errors;
pub mod exits;
pub mod finish;
mod hosts;
mod keeper;
mod launched;
mod parts;
mod replay;
pub mod request;
mod signals;
pub mod start;
