//! What the library says, on standard error, and when it keeps silent.

use std::sync::atomic::{AtomicU8, Ordering};

use treepie_base::printable::lines;
use treepie_profile::settings::LogLevel;

/// The level below which nothing is said; warnings until settings are read.
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

/// The line of a warning, for [`write_line`]; empty where warnings are not shown.
pub fn line_of_warning(text: &str) -> String {
    match LogLevel::Warn as u8 <= LEVEL.load(Ordering::Relaxed) {
        true => line("", text),
        false => String::new(),
    }
}

/// Writes a line. Callable in a signal handler.
pub fn write_line(line: &str) {
    // One write for one line, so that lines of several ranks do not mix; a
    // closed standard error is no reason to disturb the job.
    // SAFETY: the line is live for the call.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}

/// Something that was asked for is not done.
pub fn error(text: &str) {
    say(LogLevel::Error, "error: ", text);
}

/// Something that is likely not what was meant.
pub fn warn(text: &str) {
    say(LogLevel::Warn, "", text);
}

/// What is being done.
pub fn info(text: &str) {
    say(LogLevel::Info, "", text);
}

/// What it was decided from.
pub fn debug(text: &str) {
    say(LogLevel::Debug, "", text);
}
