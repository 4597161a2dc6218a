//! The report that can be sent to a colleague: one HTML file about a job, what
//! ran where, what crosses what, what was gained, and what is left; or about a job in two ways,
//! and which is quicker.

mod comparison;
mod facts;
mod page;
mod pictures;
mod sections;
mod sources;

use std::path::Path;

use treepie_base::write_atomically;

use crate::input::choice::MatrixChoice;
use crate::input::plan::Simulated;
use crate::units;
use treepie_launch::error::CommandError;

pub use comparison::comparison;
pub use facts::OnMachine;
pub use pictures::{bare_tree, heat_maps, links, tree};
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
    let summary = &facts.summary;
    let mut page = Page::new(&sections::title(summary), &sections::facts_line(summary));
    sections::write(&mut page, &facts, sources, plan).map_err(CommandError::failed)?;
    Ok(page.text(&sections::footer(&sections::files_of(sources))))
}

/// Writes a report whole, or not at all, and returns the line that says so.
///
/// # Errors
/// A file that cannot be written.
pub fn write(text: &str, path: &Path) -> Result<String, CommandError> {
    write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    Ok(format!(
        "{}: written, {}; open it in a browser\n",
        path.display(),
        units::bytes(text.len() as f64)
    ))
}
