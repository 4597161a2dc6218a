//! Output of the command: tables of numbers in units that people read.

pub mod before_after;
pub mod clusters;
pub mod collectives;
pub mod containment;
pub mod cut;
pub mod experience;
pub mod gain;
pub mod guard;
pub mod levels;
pub mod matrix;
pub mod phases;
pub mod placement;
pub mod plan;
pub mod platform;
pub mod proof;
pub mod redundancy;
pub mod summary;
pub mod supervised;
pub mod table;
pub mod times;
pub mod tuning;
pub mod units;
pub mod verdict;
pub mod waits;
pub mod windows;
pub mod words;
