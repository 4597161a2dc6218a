//! Standard input of this process.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::stdio::stdin;

/// State of a standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardInput {
    /// No data: it is closed, `/dev/null` or the like, a terminal, or an empty file.
    Nothing,
    /// A stream in which data may still arrive.
    Open,
    /// A stream that has ended, possibly after data.
    Ended,
    /// Data: a file that is not empty, or a stream that contains some.
    Data,
}

/// Returns the state of this process's standard input; reads no data.
pub fn standard_input() -> StandardInput {
    let Ok(about) = fs::metadata("/proc/self/fd/0") else {
        return StandardInput::Nothing;
    };
    let kind = about.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return stream();
    }
    match kind.is_file() && about.len() > 0 {
        true => StandardInput::Data,
        false => StandardInput::Nothing,
    }
}

fn stream() -> StandardInput {
    let input = stdin();
    if ioctl_fionread(input).is_ok_and(|waiting| waiting > 0) {
        return StandardInput::Data;
    }
    let immediately = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(
        &mut [PollFd::new(&input, PollFlags::IN)],
        Some(&immediately),
    ) {
        // All writers have closed it.
        Ok(1) => StandardInput::Ended,
        _ => StandardInput::Open,
    }
}
