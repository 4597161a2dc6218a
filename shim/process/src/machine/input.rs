//! Standard input of this process.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use libc::{FIONREAD, POLLIN, c_int, pollfd};

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
    let mut waiting: c_int = 0;
    // SAFETY: memory for the answer.
    let asked = unsafe { libc::ioctl(0, FIONREAD, &mut waiting) };
    if asked == 0 && waiting > 0 {
        return StandardInput::Data;
    }
    let mut zero = pollfd {
        fd: 0,
        events: POLLIN,
        revents: 0,
    };
    // SAFETY: one entry; the call returns immediately.
    match unsafe { libc::poll(&mut zero, 1, 0) } {
        // All writers have closed it.
        1 => StandardInput::Ended,
        _ => StandardInput::Open,
    }
}
