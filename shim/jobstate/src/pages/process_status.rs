//! Status of a process from Linux's `/proc/PID/stat`.

use serde::{Deserialize, Serialize};

/// Status of a process at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Its state: `R`, `S`, `T`, `Z`, ...
    pub state: char,
    /// Parent process.
    pub parent: u32,
    /// Processor time so far, in clock ticks.
    pub time: u64,
    /// Start time, in clock ticks since the host's.
    pub started: u64,
    /// True if one of its threads is in a read of standard input, as far as that can be seen.
    #[serde(default)]
    pub reads_input: bool,
}

/// Parses the text of `/proc/PID/stat`. The name in parentheses may contain any characters.
pub fn process_of_stat(text: &str) -> Option<ProcessStatus> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(ProcessStatus {
        state: fields.first()?.chars().next()?,
        parent: number(1)? as u32,
        time: number(11)? + number(12)?,
        started: number(19)?,
        reads_input: false,
    })
}

/// True if a thread with this text of `/proc/PID/task/TID/syscall` is in a read of standard input,
/// descriptor 0.
pub fn reads_input(text: &str) -> bool {
    let mut words = text.split(' ');
    let call = words.next().and_then(|word| word.parse::<i64>().ok());
    call.is_some_and(|call| READS.contains(&call)) && words.next() == Some("0x0")
}

/// Numbers of the system calls that read.
#[cfg(target_arch = "x86_64")]
const READS: [i64; 2] = [0, 19];
#[cfg(not(target_arch = "x86_64"))]
const READS: [i64; 2] = [63, 65];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_read_of_descriptor_0_is_one_of_standard_input() {
        assert!(reads_input(
            "0 0x0 0x7fad 0x2000 0x7fb6 0xff 0x0 0x7ffe 0x7fad"
        ));
        for other in [
            "0 0x3 0x7fad 0x2000",
            "7 0x0 0x1",
            "running",
            "-1 0x7f 0x1",
            "",
        ] {
            assert!(!reads_input(other), "{other}");
        }
    }
}
