//! What Linux says of a process in `/proc/PID/stat`.

use serde::{Deserialize, Serialize};

/// A process at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its state: `R`, `S`, `T`, `Z`, ...
    pub state: char,
    /// The process that started it.
    pub parent: u32,
    /// Processor time so far, in clock ticks.
    pub time: u64,
    /// When it started, in clock ticks since the host did.
    pub started: u64,
}

/// Reads the text of `/proc/PID/stat`. The name in parentheses may hold anything.
pub fn process_of_stat(text: &str) -> Option<Process> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process {
        state: fields.first()?.chars().next()?,
        parent: number(1)? as u32,
        time: number(11)? + number(12)?,
        started: number(19)?,
    })
}
