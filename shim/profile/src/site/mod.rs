//! Site policy: the programs for which the library is switched on if nobody else requests it, its
//! work there, and the settings that users may not change.
//!
//! Jobs in whose environment `TREEPIE_SITE` is set read it from [`SITE_FILE`], on process 0 inside
//! `MPI_Init`, and so do jobs with a request of their own, for the locked settings.

mod error;
mod file;
mod policy;
mod rules;
#[cfg(test)]
mod tests;

pub use error::SiteError;
pub use file::SITE_FILE;
pub use policy::{SitePolicy, Verdict};
