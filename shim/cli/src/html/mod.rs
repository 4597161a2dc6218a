//! The report that can be sent to a colleague: one HTML file about a job, what
//! ran where, what crosses what, what was gained, and what is left.

mod facts;
mod page;
mod pictures;
mod sections;
mod sources;

use crate::commands::options::MatrixChoice;
use crate::error::CommandError;
use crate::input::plan::Simulated;

pub use facts::OnMachine;
pub use pictures::{bare_tree, heat_maps, tree};
pub use sources::Sources;

use facts::Facts;
use page::Page;

/// The report as the text of a file, with a plan on its platform if there is one.
///
/// # Errors
/// Files that do not fit each other; what cannot be drawn.
pub fn report(
    sources: &Sources,
    plan: Option<&Simulated>,
    choice: &MatrixChoice,
) -> Result<String, CommandError> {
    let facts = Facts::new(sources, choice)?;
    let mut page = Page::new(&sections::title(&facts), &sections::facts_line(&facts));
    sections::write(&mut page, &facts, sources, plan).map_err(CommandError::failed)?;
    Ok(page.text(&sections::footer(sources)))
}
