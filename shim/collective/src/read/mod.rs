//! Readings of an algorithm's one description: the traffic that it causes, whether it is right, how
//! long it takes, what no algorithm can beat, and the same for other programs.

pub mod bound;
pub mod check;
pub mod cost;
pub mod estimate;
pub mod exchanges;
pub mod export;
pub mod models;
pub mod simulate;
