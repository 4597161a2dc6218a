//! Log of a supervised job in plain words: on standard error, and in a file.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use treepie_base::own_directory::{Access, OwnDirectory};
use treepie_base::{date, note};

use treepie_launch::error::CommandError;

/// The log of a supervised job.
pub struct Log {
    file: File,
    quiet: bool,
}

impl Log {
    /// Creates a log in a new directory.
    ///
    /// # Errors
    /// The directory cannot be created, or has files of another job.
    pub fn new(directory: &Path, quiet: bool) -> Result<Self, CommandError> {
        let wrong = |problem: &str| {
            CommandError::usage(format!(
                "{}: {problem}; choose another directory with --output",
                directory.display()
            ))
        };
        let failed = |error: std::io::Error| wrong(&error.to_string());
        fs::create_dir_all(directory).map_err(failed)?;
        if fs::read_dir(directory).map_err(failed)?.next().is_some() {
            return Err(wrong("is not empty"));
        }
        let place = fs::canonicalize(directory).map_err(failed)?;
        let own = OwnDirectory::open(&*place, Access::Umask);
        let own = own.map_err(|refused| wrong(&refused.to_string()))?;
        let file = own.create_new("log.txt", 0o666).map_err(failed)?;
        Ok(Log { file, quiet })
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        if !self.quiet {
            note!("{text}");
        }
        // A full disk must not end the job.
        let _ = writeln!(self.file, "{} {text}", date(SystemTime::now()));
    }
}
