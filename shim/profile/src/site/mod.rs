//! A site's policy: for which programs the library is switched on where nobody else asks for it,
//! what it does then, and which settings users may not change.
//!
//! Jobs in whose environment `TREEPIE_SITE` is set read it from [`SITE_FILE`], on process 0 inside
//! `MPI_Init`, and so do jobs that ask for something themselves, for the settings that are locked.

mod error;
mod file;
mod policy;
mod rules;
#[cfg(test)]
mod tests;

pub use error::SiteError;
pub use file::SITE_FILE;
pub use policy::{SitePolicy, Verdict};
