//! The report that can be sent to a colleague: one HTML file about a job, what
//! ran where, what crosses what, what was gained, and what is left; or about a job in two ways,
//! and which is quicker.

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
