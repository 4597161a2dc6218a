//! For many ranks on few cores: a rank that polls repeatedly without finding anything waits in the
//! kernel for a moment, on the same files. An event on them still wakes it immediately, and the
//! others get the core meanwhile. Shared memory wakes no process: messages through it (MPICH's
//! inside a host) are found when the moment is over, so that it must be short there. Open MPI's use
//! TCP on the grid.
//!
//! Preloaded only by `scripts/grid run`; it changes no result.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// Number of successive empty polls after which the next one waits.
const LOOKS: u32 = 2;
/// Maximum waiting time in nanoseconds, if every message wakes it, and if some do not.
const WAIT: libc::c_long = 1_000_000;
const SHORT_WAIT: libc::c_long = 200_000;

thread_local! {
    static EMPTY: Cell<u32> = const { Cell::new(0) };
}

/// True if this poll, which found `found`, is one of many empty ones.
fn in_vain(found: c_int) -> bool {
    EMPTY.with(|empty| {
        empty.set(if found == 0 { empty.get() + 1 } else { 0 });
        empty.get() >= LOOKS
    })
}

/// Maximum waiting time of a poll.
fn wait() -> libc::timespec {
    static LONGEST: OnceLock<libc::c_long> = OnceLock::new();
    let longest = || if is_open_mpi() { WAIT } else { SHORT_WAIT };
    libc::timespec {
        tv_sec: 0,
        tv_nsec: *LONGEST.get_or_init(longest),
    }
}

/// True if the MPI is Open MPI.
fn is_open_mpi() -> bool {
    let world = c"ompi_mpi_comm_world";
    // SAFETY: the name ends in a zero.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, world.as_ptr()) }.is_null()
}

fn found(ready: c_int) -> c_int {
    if ready != 0 {
        EMPTY.with(|empty| empty.set(0));
    }
    ready
}

/// `ppoll` of the kernel, which no other library interposes.
///
/// # Safety
/// See `poll`.
unsafe fn kernel_poll(
    files: *mut libc::pollfd,
    count: libc::nfds_t,
    wait: *const libc::timespec,
) -> c_int {
    // The kernel writes the remaining time into its argument. SAFETY: the caller's pointer is null
    // or valid.
    let mut copy = unsafe { wait.as_ref() }.copied();
    let wait = copy
        .as_mut()
        .map_or(std::ptr::null_mut(), std::ptr::from_mut);
    let nothing = std::ptr::null::<libc::sigset_t>();
    // SAFETY: the arguments are those of the caller.
    unsafe { libc::syscall(libc::SYS_ppoll, files, count, wait, nothing, 0_usize) as c_int }
}

fn timespec(milliseconds: c_int) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::from(milliseconds / 1000),
        tv_nsec: libc::c_long::from(milliseconds % 1000) * 1_000_000,
    }
}

/// `poll` with waiting.
///
/// # Safety
/// See the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(
    files: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: c_int,
) -> c_int {
    let look = |wait: Option<libc::timespec>| {
        let wait = wait.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the files are those of the caller, and the time is ours.
        unsafe { kernel_poll(files, count, wait) }
    };
    match timeout {
        0 => {
            let ready = look(Some(timespec(0)));
            match in_vain(ready) {
                true => found(look(Some(wait()))),
                false => ready,
            }
        }
        negative if negative < 0 => look(None),
        milliseconds => look(Some(timespec(milliseconds))),
    }
}

/// `epoll_wait` with waiting.
///
/// # Safety
/// See the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    let look = |wait: Option<libc::timespec>| {
        let wait = wait.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let nothing = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the arguments are those of the caller, and the time is ours.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll,
                events,
                most,
                wait,
                nothing,
                8_usize,
            ) as c_int
        }
    };
    let ready = look((timeout >= 0).then(|| timespec(timeout)));
    match timeout == 0 && in_vain(ready) {
        true => found(look(Some(wait()))),
        false => ready,
    }
}

/// UCX's `ucp_disconnect_nb`: already complete. MPICH 4.0 closes all endpoints in `MPI_Finalize`
/// and waits for that, which over UCX's TCP never ends in every third job of 16 ranks, with no
/// other library preloaded. All messages have arrived by then: jobs here end with a barrier or have
/// been answered, and MPICH's own barrier through the launcher follows before anything is torn
/// down.
#[unsafe(no_mangle)]
pub extern "C" fn ucp_disconnect_nb(_endpoint: *mut c_void) -> *mut c_void {
    std::ptr::null_mut()
}
