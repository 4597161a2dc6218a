//! The whole page, and its file.

use std::path::Path;

use treepie_base::write_atomically;
use treepie_launch::error::CommandError;

use crate::html::facts::Facts;
use crate::html::page::Page;
use crate::html::sources::Sources;
use crate::html::{heading, sections};
use crate::input::choice::MatrixChoice;
use crate::input::plan::Simulated;
use crate::units;

/// Formats the report as the text of a file, with a plan on its platform if there is one.
///
/// # Errors
/// The files do not fit each other, or drawing fails.
pub fn report(
    sources: &Sources,
    plan: Option<&Simulated>,
    choice: &MatrixChoice,
) -> Result<String, CommandError> {
    let facts = Facts::new(sources, choice)?;
    let summary = &facts.summary;
    let (title, line) = (heading::title(summary), heading::facts_line(summary));
    let mut page = Page::new(&title, &line, heading::method(sources));
    sections::write(&mut page, &facts, sources, plan).map_err(CommandError::failed)?;
    Ok(page.text(&heading::footer(&heading::files_of(sources))))
}

/// Writes a report atomically, and returns the line that reports it.
///
/// # Errors
/// The file cannot be written.
pub fn write(text: &str, path: &Path) -> Result<String, CommandError> {
    write_atomically(path, |out| out.write_all(text.as_bytes()))?;
    Ok(format!(
        "{}: written, {}; open it in a browser\n",
        path.display(),
        units::bytes(text.len() as f64)
    ))
}
