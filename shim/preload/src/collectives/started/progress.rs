//! Plans that go on while the program is elsewhere: where the native MPI calls us in whatever it
//! waits, messages of a plan may wait for others.
//!
//! | MPI | how |
//! |---|---|
//! | Open MPI 4 and 5 | `opal_progress_register` of its library `libopen-pal`, by its version |
//! | MPICH from 4.3 on | `MPIX_Async_start`; not in `MPI_Win_lock`, nor do its own go on there |
//!
//! All ranks must be called so, or none takes such plans ([`agree`]). The callback may come in any
//! call of the MPI, ours among them, and on several threads at once. So nothing in it waits for a
//! lock that is held over a call of the MPI (those around plans, which are made here where leaders
//! are told sizes, are not), and a thread that is in it already goes no further.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use treepie_core::collective::choose::Progress;

use super::running::Running;
use crate::mpi::abi::Family;
use crate::mpi::lookup::{self, find_in_opal};
use crate::mpi::native::{Native, NativeError, native};
use crate::mpi::{Comm, SUCCESS, Word, c_int};

/// `opal_progress_callback_t`: gives how much was done.
type Callback = unsafe extern "C" fn() -> c_int;

/// `opal_progress_register` and `opal_progress_unregister`.
type Register = unsafe extern "C" fn(Callback) -> c_int;

/// `MPIX_Async_poll_function`.
type Poll = unsafe extern "C" fn(Word) -> c_int;

/// `MPIX_Async_start`.
type AsyncStart = unsafe extern "C" fn(Poll, Word, c_int) -> c_int;

/// `MPIX_STREAM_NULL`, `MPIX_ASYNC_NOPROGRESS` and `MPIX_ASYNC_DONE`.
const STREAM_NULL: c_int = 0x3c00_0000;
const NO_PROGRESS: c_int = 0;
const DONE: c_int = 1;

/// What has the native MPI call us.
enum Hook {
    OpenMpi { begin: Register, end: Register },
    Mpich(AsyncStart),
}

impl Hook {
    /// That of the MPI in this process.
    fn find(native: &Native) -> Option<Hook> {
        // SAFETY: both functions take a callback and give an int, in these versions of the
        // library; MPICH declares its own like this.
        unsafe {
            match native.abi.family {
                Family::OpenMpi => Some(Hook::OpenMpi {
                    begin: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_register",
                    )?),
                    end: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_unregister",
                    )?),
                }),
                Family::Mpich => {
                    let start = lookup::find(c"PMPIX_Async_start")?;
                    Some(Hook::Mpich(mem::transmute::<*mut c_void, AsyncStart>(
                        start,
                    )))
                }
                Family::Standard => None,
            }
        }
    }
}

/// Who goes on with plans, the same on all ranks. Collective.
///
/// # Errors
/// A native call that failed.
pub fn agree(native: &Native, world: Comm) -> Result<Progress, NativeError> {
    let has_hook = Hook::find(native).is_some();
    Ok(match native.least(world, has_hook.into())? {
        0 => Progress::Own,
        _ => Progress::Called,
    })
}

/// From now on the native MPI calls us; whether it does.
pub fn begin(native: &Native) -> bool {
    let code = match Hook::find(native) {
        // SAFETY: the callback stays, as this library does.
        Some(Hook::OpenMpi { begin, .. }) => unsafe { begin(on_progress) },
        // SAFETY: as above.
        Some(Hook::Mpich(start)) => unsafe { start(on_poll, 0, STREAM_NULL) },
        None => return false,
    };
    code == SUCCESS
}

/// Whether the native MPI is to call us no more.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// The application is about to end MPI. MPICH waits in that for us to say that we are done, before
/// it tells us so in any other way. No plan is under way then: one that others wait for is a
/// request that is not complete.
pub fn stop_progress() {
    IS_OVER.store(true, Ordering::Release);
}

/// The native MPI is about to end.
pub fn end(native: &Native) {
    stop_progress();
    if let Some(Hook::OpenMpi { end, .. }) = Hook::find(native) {
        // SAFETY: as above.
        unsafe { end(on_progress) };
    }
}

/// Operations whose messages wait for others.
static WAITING: Mutex<Vec<Arc<Running>>> = Mutex::new(Vec::new());

/// Their number.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// An operation has begun with which the callback goes on.
pub fn add(running: &Arc<Running>) {
    let mut waiting = WAITING.lock();
    waiting.push(Arc::clone(running));
    COUNT.store(waiting.len(), Ordering::Release);
}

thread_local! {
    /// Whether this thread is in the callback.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn on_poll(_thing: Word) -> c_int {
    if IS_OVER.load(Ordering::Acquire) {
        return DONE;
    }
    // SAFETY: it takes nothing.
    unsafe { on_progress() };
    NO_PROGRESS
}

unsafe extern "C" fn on_progress() -> c_int {
    if COUNT.load(Ordering::Acquire) == 0 || INSIDE.replace(true) {
        return 0;
    }
    let done = native().map_or(0, go_on);
    INSIDE.set(false);
    done
}

/// Goes on with all; how many have done something.
#[cold]
fn go_on(native: &Native) -> c_int {
    let (mut at, mut done) = (0, 0);
    loop {
        let next = match WAITING.try_lock() {
            Some(waiting) => waiting.get(at).cloned(),
            None => return done,
        };
        let Some(running) = next else {
            break;
        };
        done += c_int::from(running.advance(native));
        at += 1;
    }
    if done > 0 {
        forget_ended();
    }
    done
}

fn forget_ended() {
    let Some(mut waiting) = WAITING.try_lock() else {
        return;
    };
    // What is dropped here may end more, but not under the lock.
    let ended: Vec<_> = waiting
        .extract_if(.., |running| !running.is_under_way())
        .collect();
    COUNT.store(waiting.len(), Ordering::Release);
    drop(waiting);
    drop(ended);
}
