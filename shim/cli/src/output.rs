//! Writing answers: to standard output, which a reader may close early.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::CommandError;

/// Prints an answer.
///
/// # Errors
/// A standard output that cannot be written. One that was closed by its reader
/// (`treepie show ... | head`) is no error.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::failed(format!(
            "standard output: cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints an answer for a program to read: JSON on one line.
///
/// # Errors
/// As [`print()`].
pub fn print_json(answer: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string(answer).map_err(|error| {
        CommandError::failed(format!("the answer cannot be written as JSON: {error}"))
    })?;
    print(&(text + "\n"))
}

/// Shows on a terminal, and nowhere else, that something is being worked on.
/// It goes away when it is dropped.
pub struct Working(ProgressBar);

impl Working {
    /// Starts to show `what`.
    pub fn on(what: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Working(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::new_spinner()
            .with_style(style)
            .with_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Working(bar)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
