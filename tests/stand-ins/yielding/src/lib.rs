//! For more ranks than cores under MPICH over UCX, which has no setting for it: a rank that polls
//! repeatedly without finding messages yields its core to the rank for which it waits. A barrier of
//! four ranks on two cores takes 10 microseconds instead of 8 milliseconds, the scheduler's time
//! slices.
//!
//! Preloaded only by the tests; it changes no result.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Number of successive empty polls after which each further one yields.
const LOOKS: u32 = 20;
const NAME: &CStr = c"ucp_worker_progress";

type Progress = unsafe extern "C" fn(*mut c_void) -> c_uint;

thread_local! {
    static EMPTY: Cell<u32> = const { Cell::new(0) };
}

/// UCX's `ucp_worker_progress`, which returns the number of events found.
///
/// # Safety
/// See UCX's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ucp_worker_progress(worker: *mut c_void) -> c_uint {
    static NEXT: OnceLock<Option<Progress>> = OnceLock::new();
    let Some(progress) = NEXT.get_or_init(next) else {
        return 0;
    };
    // SAFETY: it is UCX's function, with the arguments of its caller.
    let found = unsafe { progress(worker) };
    EMPTY.with(|empty| {
        empty.set(if found == 0 { empty.get() + 1 } else { 0 });
        if empty.get() > LOOKS {
            empty.set(LOOKS);
            std::thread::yield_now();
        }
    });
    found
}

/// UCX's own function: of the libraries after this one, or of one that was opened privately, like
/// Python opens an extension and its dependencies.
fn next() -> Option<Progress> {
    // SAFETY: the name ends in a zero.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr()) };
    if found.is_null() {
        // SAFETY: the callback has the required type, and `found` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look_into), (&raw mut found).cast()) };
    }
    // SAFETY: a function with that name has this type; a null pointer is `None`.
    unsafe { std::mem::transmute::<*mut c_void, Option<Progress>>(found) }
}

/// Stores in `found` the function of a loaded library, and stops there.
unsafe extern "C" fn look_into(
    library: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description, whose name ends in a zero.
    let name = unsafe { (*library).dlpi_name };
    // SAFETY: only libraries that are already loaded are opened.
    let handle = unsafe { libc::dlopen(name, libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if handle.is_null() {
        return 0;
    }
    // SAFETY: the handle is valid, and the name ends in a zero.
    let symbol = unsafe { libc::dlsym(handle, NAME.as_ptr()) };
    if symbol.is_null()
        || std::ptr::fn_addr_eq(ucp_worker_progress as Progress, unsafe {
            // SAFETY: it is not null.
            std::mem::transmute::<*mut c_void, Progress>(symbol)
        })
    {
        return 0;
    }
    // SAFETY: it is the pointer that `next` passed.
    unsafe { *found.cast::<*mut c_void>() = symbol };
    1
}
