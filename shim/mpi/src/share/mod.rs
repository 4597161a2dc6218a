//! Values of one rank, or of each, on other ranks of a communicator.
//!
//! All values use the same encoding: `serde` describes a type, `postcard` writes it, and the ranks
//! determine together whether all could read it. A value is adopted by all ranks or by none, since
//! a rank that continued without it would wait for others for ever. So no function here returns
//! before the verdict, unless the MPI itself fails.
//!
//! ```text
//! share      rank 0 ----------> all             one broadcast of up to 1 KiB, the verdict
//! gather     all -------------> rank 0          a binomial tree, the verdict
//! exchange   each ------------> another rank    two messages, the verdict
//! ```
//!
//! A shared value is preceded by the library's version, since libraries on different hosts may
//! differ. The first collective step of the ranks is to share a value, so that values gathered and
//! exchanged later need no version.

mod adopt;
mod bounded;
mod group;
#[cfg(test)]
mod tests;

pub use adopt::{ShareError, exchange, gather, gather_to_all, share};
pub use bounded::BoundedMembers;
pub use group::{Group, Members, gather_bytes};
