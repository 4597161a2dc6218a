//! Unnamed files in memory: they end with the last process that has them open.

use std::ffi::CStr;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Creates one, called `label` in `/proc`; programs that this process starts do not inherit it.
///
/// # Errors
/// The system's error.
pub fn unnamed_file(label: &CStr) -> io::Result<OwnedFd> {
    let name = label.as_ptr();
    // By its number: the C library has a function for it only from 2.27 on.
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) };
    match i32::try_from(descriptor) {
        // SAFETY: the descriptor is new, and nobody else has it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the size in bytes of the largest file that this process may have; the kernel ends
/// processes that exceed it.
pub fn file_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: memory for the answer.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => 0,
    }
}
