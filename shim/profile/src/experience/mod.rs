//! Experiences: knowledge about applications, one small file for each run, in a store.
//!
//! ```text
//! STORE/v1/salt                             the key of all hashes
//! STORE/v1/5f/5f0c.../NAME.yaml             a run, or several that were merged
//! STORE/v1/5f/5f0c.../NAME.profile.yaml     the traffic of a run that was counted
//! STORE/v1/a3/a31b.../NAME.platform.yaml    the links of hosts, as a run measured them
//! STORE/v1/c7/c702.../NAME.yaml             guard results there, for other applications
//!
//! document    the text of a file
//! elsewhere   guard results of other applications
//! key         identity of an application
//! owner       trust in the owners of files
//! platforms   jobs' measurements of their hosts' links
//! store       directories and files
//! upkeep      merging and removal
//! ```
//!
//! A file is written once, under a temporary name, and renamed; there are no locks, so that many
//! jobs may write concurrently, on any file system, and none waits for another. A file holds no
//! command line, no name of a host or a user, and no path; nothing in it is executed or followed.

mod document;
mod elsewhere;
mod key;
mod owner;
mod platforms;
mod store;
#[cfg(test)]
mod tests;
mod upkeep;

pub use document::{Application, ExperienceFile, Guarded};
pub use elsewhere::{Elsewhere, guards_key};
pub use key::{Key, Salt};
pub use platforms::{KeptPlatform, platform_key};
pub use store::{Store, StoreContents, StoreError, run_name};
