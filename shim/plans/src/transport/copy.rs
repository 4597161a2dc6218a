//! Memory of another process, read in one copy (`process_vm_readv`). If the system does not permit
//! it (another user, Yama, a seccomp filter), messages go through blocks.

use std::io;

use treepie_mpi::Word;

/// Reads `bytes` bytes at `from` in `process` to `into`; returns the number of bytes read, which is
/// smaller only if the other's memory ends.
///
/// # Errors
/// The system's error.
///
/// # Safety
/// There is live memory of this length at `into`, which nobody else uses.
pub unsafe fn read_from(process: u32, from: Word, into: Word, bytes: usize) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes {
        let part = |start: Word| libc::iovec {
            iov_base: (start + done) as *mut libc::c_void,
            iov_len: bytes - done,
        };
        let (own, theirs) = (part(into), part(from));
        let process = process as libc::pid_t;
        // SAFETY: the caller's promise; the kernel checks addresses of the other process.
        let read = unsafe { libc::process_vm_readv(process, &own, 1, &theirs, 1, 0) };
        match read {
            0 => break,
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            read => done += read as usize,
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_no_memory_of_the_process_is_an_error_and_no_signal() {
        let mut into = [0u8; 64];
        let into = into.as_mut_ptr() as Word;
        // SAFETY: `into` has the stated length.
        let read = |from| unsafe { read_from(std::process::id(), from, into, 64) };
        let held = [7u8; 64];
        // If the system permits it to nobody, there is nothing to test.
        if read(held.as_ptr() as Word).is_ok() {
            assert!(read(0).is_err());
        }
    }
}
