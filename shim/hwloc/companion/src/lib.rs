//! `libtreepie_hwloc.so`: the topology of this machine behind two C functions.
//!
//! The preloaded library must not need libhwloc: its copy would take the place
//! of the one that an MPI brings. It opens this library instead, with
//! `dlopen("libtreepie_hwloc.so", RTLD_NOW | RTLD_LOCAL)`, when it wants a
//! topology, and finds
//!
//! ```c
//! ssize_t treepie_hwloc_topology(char *buffer, size_t length);
//! ssize_t treepie_hwloc_topology_with_devices(char *buffer, size_t length);
//! ```
//!
//! The second one adds network interfaces and accelerators. Their text is that of
//! `treepie_topology::Machine`, which reads it back. Nothing else is exported, no state is
//! kept, nothing is printed, and the calling thread is not moved.

use std::ffi::c_char;
use std::panic::catch_unwind;

use treepie_hwloc::{HwlocError, Machine, Source};

/// Writes this machine's topology as text into `buffer`: as much as fits into
/// `length` bytes, without a final NUL.
///
/// Returns the length of the whole text in bytes. If that is more than
/// `length`, call again with a buffer that large; 64 KiB do for some thousand
/// cores. Each call reads the topology again, which takes some milliseconds.
///
/// A negative result means that the topology could not be read. The buffer then
/// holds the message instead, one line, whose length is the result without its
/// sign. No panic leaves this function; it becomes such a message.
///
/// # Safety
/// `buffer` points to `length` bytes that may be written, or `length` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treepie_hwloc_topology(buffer: *mut c_char, length: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe { answer(buffer, length, || Source::ThisMachine.read()) }
}

/// The same with the machine's network interfaces and accelerators, which takes about twice as
/// long.
///
/// # Safety
/// As [`treepie_hwloc_topology`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treepie_hwloc_topology_with_devices(
    buffer: *mut c_char,
    length: usize,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe { answer(buffer, length, || Source::ThisMachine.read_with_devices()) }
}

/// Writes what `read` finds, or the message about why there is nothing.
///
/// # Safety
/// As [`treepie_hwloc_topology`].
unsafe fn answer(
    buffer: *mut c_char,
    length: usize,
    read: fn() -> Result<Machine, HwlocError>,
) -> isize {
    let (text, sign) = match catch_unwind(read) {
        Ok(Ok(machine)) => (machine.to_string(), 1),
        Ok(Err(error)) => (error.to_string(), -1),
        Err(_) => (
            "reading this machine's topology failed inside treepie".to_owned(),
            -1,
        ),
    };
    let copied = text.len().min(length);
    if copied > 0 {
        // SAFETY: `copied` is no more than the text has, nor than the caller
        // says that the buffer has; a new string and the caller's buffer do
        // not overlap.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), copied) };
    }
    // A string is never longer than isize::MAX bytes.
    sign * text.len() as isize
}
