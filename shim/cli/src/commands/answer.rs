//! Outputs of a comparison of a job with two configurations: terminal, JSON, picture, page.

use std::path::Path;

use treepie_launch::error::CommandError;
use treepie_report::html;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::proof::Comparison;

use crate::commands::options::require_directory;
use crate::output;

/// Outputs requested for a comparison.
pub struct RequestedOutputs<'a> {
    /// Picture of both distributions.
    pub picture: Option<&'a Path>,
    /// Report as one HTML file.
    pub html: Option<&'a Path>,
    /// JSON instead of text.
    pub json: bool,
}

impl RequestedOutputs<'_> {
    /// Refuses files that cannot be written, before any work.
    ///
    /// # Errors
    /// The name is not that of a picture, or the directory does not exist.
    pub fn check(&self) -> Result<(), CommandError> {
        self.picture.map(Format::from_path).transpose()?;
        let picture = self.picture.map(|path| (path, "--picture"));
        let mut files = picture
            .into_iter()
            .chain(self.html.map(|path| (path, "--html")));
        files.try_for_each(|(path, option)| match path.parent() {
            // In the current directory.
            Some(parent) if parent.as_os_str().is_empty() => Ok(()),
            _ => require_directory(path, option),
        })
    }

    /// Writes and prints the answer.
    ///
    /// # Errors
    /// A file or output cannot be written.
    pub fn give(&self, comparison: &Comparison) -> Result<(), CommandError> {
        if let Some(path) = self.picture {
            write_drawing(&comparison.drawing(), Format::from_path(path)?, path)?;
        }
        let written = match self.html {
            Some(path) => html::write(&html::comparison(comparison)?, path)?,
            None => String::new(),
        };
        if self.json {
            output::print_json(&comparison.json())
        } else {
            output::print(&comparison.text(&written))
        }
    }
}
