//! Messages of the library on standard error, and their levels.

use std::sync::atomic::{AtomicU8, Ordering};

use treepie_base::printable::lines;
use treepie_profile::settings::LogLevel;

/// Level of messages that are shown; warnings until settings are read.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);

/// Sets the level.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn say(level: LogLevel, word: &str, text: &str) {
    if level as u8 <= LEVEL.load(Ordering::Relaxed) {
        write_line(&line(word, text));
    }
}

fn line(word: &str, text: &str) -> String {
    format!("treepie: {word}{}\n", lines(text))
}

/// Returns the line of a warning, for [`write_line`]; empty if warnings are not shown.
pub fn line_of_warning(text: &str) -> String {
    match LogLevel::Warn as u8 <= LEVEL.load(Ordering::Relaxed) {
        true => line("", text),
        false => String::new(),
    }
}

/// Writes a line. Callable in a signal handler.
pub fn write_line(line: &str) {
    // One write for one line, so that lines of several ranks do not mix; a closed standard error
    // must not disturb the job.
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
}

/// Logs that a request is not carried out.
pub fn error(text: &str) {
    say(LogLevel::Error, "error: ", text);
}

/// Logs a likely mistake.
pub fn warn(text: &str) {
    say(LogLevel::Warn, "", text);
}

/// Logs an action.
pub fn info(text: &str) {
    say(LogLevel::Info, "", text);
}

/// Logs the reason of a decision.
pub fn debug(text: &str) {
    say(LogLevel::Debug, "", text);
}
