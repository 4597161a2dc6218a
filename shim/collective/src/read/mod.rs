//! Readings of an algorithm's one description: the traffic that it causes, how long it takes, what it
//! moves through memory, what no algorithm can beat, and the same for other programs. That it is
//! right `treepie-checker` proves.

pub mod bound;
pub mod cost;
pub mod estimate;
pub mod exchanges;
pub mod export;
pub mod moved;
pub mod simulate;
