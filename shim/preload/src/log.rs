//! What the library says, on standard error, and when it keeps silent.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

use treepie_core::files::configuration::LogLevel;

/// The level below which nothing is said; warnings until settings are read.
static LEVEL: AtomicU8 = AtomicU8::new(LogLevel::Warn as u8);

/// Sets the level.
pub fn set_level(level: LogLevel) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

fn say(level: LogLevel, word: &str, text: &str) {
    if level as u8 > LEVEL.load(Ordering::Relaxed) {
        return;
    }
    // One write for one line, so that lines of several ranks do not mix; a
    // closed standard error is no reason to disturb the job.
    let _ = std::io::stderr().write_all(format!("treepie: {word}{text}\n").as_bytes());
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
