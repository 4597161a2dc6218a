//! Where this process runs: the cores that it may use, and the one that a
//! placement binds it to.

mod allowed;
mod bind;

pub use allowed::{allowed_cores, cores, place_of};
pub use bind::{Bound, Target, bind};
