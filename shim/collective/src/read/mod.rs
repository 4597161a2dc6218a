//! Readings of an algorithm's one description: the traffic that it causes, whether it is right, how
//! long it takes, what it moves through memory, what no algorithm can beat, and the same for other
//! programs.

pub mod bound;
#[cfg(any(test, feature = "fixtures"))]
pub mod check;
pub mod cost;
pub mod estimate;
pub mod exchanges;
pub mod export;
pub mod moved;
pub mod simulate;
