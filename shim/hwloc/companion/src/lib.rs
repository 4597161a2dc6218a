//! `libtreepie_hwloc.so`: the topology of this machine through two C functions.
//!
//! The preloaded library must not need libhwloc: its copy would replace the one of an MPI. It opens
//! this library instead, with `dlopen("libtreepie_hwloc.so", RTLD_NOW | RTLD_LOCAL)`, when it needs
//! a topology, and finds
//!
//! ```c
//! ssize_t treepie_hwloc_topology(char *buffer, size_t length);
//! ssize_t treepie_hwloc_topology_with_devices(char *buffer, size_t length);
//! ```
//!
//! The second one adds network interfaces and accelerators. Their text is that of
//! `treepie_topology::Machine`, which parses it. No other symbol is exported, no state is kept,
//! nothing is printed, and the calling thread is not moved.

use std::ffi::c_char;
use std::panic::catch_unwind;

use treepie_hwloc::{HwlocError, Machine, Source};

/// Writes this machine's topology as text into `buffer`: the first `length` bytes of it, without a
/// final NUL.
///
/// Returns the length of the whole text in bytes. If that is more than `length`, call again with a
/// buffer of that size; 64 KiB suffice for some thousand cores. Each call reads the topology again,
/// which takes some milliseconds.
///
/// A negative result means that the topology could not be read. The buffer then
/// holds the message instead, one line, whose length is the result without its
/// sign. No panic leaves this function; it becomes such a message.
///
/// # Safety
/// `buffer` points to `length` writable bytes, or `length` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treepie_hwloc_topology(buffer: *mut c_char, length: usize) -> isize {
    // SAFETY: the caller's obligation.
    unsafe { answer(buffer, length, || Source::ThisMachine.read()) }
}

/// Adds the machine's network interfaces and accelerators, which takes about twice as long.
///
/// # Safety
/// See [`treepie_hwloc_topology`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treepie_hwloc_topology_with_devices(
    buffer: *mut c_char,
    length: usize,
) -> isize {
    // SAFETY: the caller's obligation.
    unsafe { answer(buffer, length, || Source::ThisMachine.read_with_devices()) }
}

/// Writes the result of `read`, or its error message.
///
/// # Safety
/// See [`treepie_hwloc_topology`].
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
        // SAFETY: `copied` is at most the length of the text and the length that the caller gives
        // for the buffer; a new string and the caller's buffer do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), copied) };
    }
    // A string is never longer than isize::MAX bytes.
    sign * text.len() as isize
}
