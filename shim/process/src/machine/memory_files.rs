//! Files in memory: unnamed ones, which end with the last process that has them open, and the
//! memory of all.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Creates an unnamed file, called `label` in `/proc`; programs that this process starts do not
/// inherit it.
///
/// # Errors
/// The system's error.
pub fn unnamed_file(label: &CStr) -> io::Result<OwnedFd> {
    Ok(memfd_create(label, MemfdFlags::CLOEXEC)?)
}

/// Returns the size in bytes of the largest file that this process may have; the kernel ends
/// processes that exceed it.
pub fn file_limit() -> u64 {
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Reserves the memory of a new file, all zeros: memory that is only promised would end the process
/// if the system ran out of it.
///
/// # Errors
/// The system's error; a limit of files' sizes.
pub fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    if bytes as u64 > file_limit() {
        return Err(io::Error::other("files may not be so large (ulimit -f)"));
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes as u64) {
        // A file system without this call.
        Err(Errno::OPNOTSUPP) => file.write_all_at(&vec![0; bytes], 0),
        reserved => Ok(reserved?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_memory_that_was_reserved() {
        let file = File::from(unnamed_file(c"treepie-test").expect("a file in memory"));
        reserve(&file, 10_000).expect("memory");
        let about = file.metadata().expect("a file");
        assert_eq!(about.len(), 10_000);
        // No larger one: the kernel would reserve all memory there is before it fails.
    }
}
