//! Standard input of this process.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use libc::{FIONREAD, POLLIN, c_int, pollfd};

/// State of a standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardInput {
    /// It brings nothing: it is closed, `/dev/null` or its like, a terminal, or an empty file.
    Nothing,
    /// A stream that may bring something yet.
    Open,
    /// A stream that has ended, and may have brought something before.
    Ended,
    /// Data: a file that is not empty, or a stream in which something is.
    Data,
}

/// State of this process's standard input; nothing is read.
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
    // SAFETY: room for the answer.
    let asked = unsafe { libc::ioctl(0, FIONREAD, &mut waiting) };
    if asked == 0 && waiting > 0 {
        return StandardInput::Data;
    }
    let mut zero = pollfd {
        fd: 0,
        events: POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which is returned at once.
    match unsafe { libc::poll(&mut zero, 1, 0) } {
        // Who writes to it has closed it.
        1 => StandardInput::Ended,
        _ => StandardInput::Open,
    }
}
