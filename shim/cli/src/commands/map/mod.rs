//! `treepie map`: the core of each rank, and the expected gain.

pub(crate) mod arguments;
mod constraints;
mod containment;
mod job;
mod local_order;
mod near;
mod replaced;
mod result;
mod rounds;
mod run;
mod search;
mod seat;
mod worth;

pub use arguments::Arguments;
pub use run::run;
