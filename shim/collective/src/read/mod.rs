//! Readings of an algorithm's one description: its traffic, its time, its copies through memory,
//! the lower bound of all algorithms, and exports for other programs. `treepie-checker` proves it
//! correct.

pub mod bound;
pub mod cost;
pub mod estimate;
pub mod exchanges;
pub mod export;
pub mod moved;
pub mod simulate;
