//! Outputs of a comparison of a job with two configurations: terminal, JSON, picture, page.

use std::path::{Path, PathBuf};

use treepie_launch::error::CommandError;
use treepie_report::html;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::proof::Comparison;

use crate::commands::options::{Printing, require_directory};

/// Outputs requested for a comparison.
pub struct RequestedOutputs<'a> {
    /// Pictures and pages.
    pub files: &'a [PathBuf],
    /// Answer on standard output.
    pub printing: Printing,
}

impl RequestedOutputs<'_> {
    /// Refuses files that cannot be written, before any work.
    ///
    /// # Errors
    /// A name of another form; a directory that is not there.
    pub fn check(&self) -> Result<(), CommandError> {
        self.files.iter().try_for_each(|path| {
            if !is_page(path) {
                Format::from_path(path)?;
            }
            match path.parent() {
                // Beside the command.
                Some(parent) if parent.as_os_str().is_empty() => Ok(()),
                _ => require_directory(path, "--output"),
            }
        })
    }

    /// Writes and prints the answer.
    ///
    /// # Errors
    /// A file or output cannot be written.
    pub fn give(&self, comparison: &Comparison) -> Result<(), CommandError> {
        let mut written = String::new();
        for path in self.files {
            match is_page(path) {
                true => written += &html::write(&html::comparison(comparison)?, path)?,
                false => write_drawing(&comparison.drawing(), Format::from_path(path)?, path)?,
            }
        }
        self.printing
            .answer(|| comparison.json(), || comparison.text(&written))
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "html")
}
