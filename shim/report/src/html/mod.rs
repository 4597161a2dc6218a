//! The report as one HTML file: on a job (location of processes, traffic across levels, the gain,
//! and the remaining potential), or on a comparison of a job with two configurations.

mod cards;
mod comparison;
mod facts;
mod file;
mod gains;
mod heading;
mod page;
mod pictures;
mod sections;
mod sources;

pub use comparison::comparison;
pub use facts::OnMachine;
pub use file::{report, write};
pub use pictures::{bare_tree, heat_maps, links, tree};
pub use sources::Sources;
