//! Plans that go on while the program is elsewhere: where the native MPI calls us in whatever it
//! waits, messages of a plan may wait for others.
//!
//! | MPI | how |
//! |---|---|
//! | Open MPI 4 and 5 | `opal_progress_register` of its library `libopen-pal`, by its version |
//!
//! All ranks must be called so, or none takes such plans ([`agree`]). The callback may come in any
//! call of the MPI, ours among them, and on several threads at once. So nothing in it waits for a
//! lock, no lock that it takes is held over a call of the MPI, and a thread that is in it already
//! goes no further.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use treepie_core::collective::choose::Progress;

use super::running::Running;
use crate::mpi::abi::Family;
use crate::mpi::lookup::find_in_library;
use crate::mpi::native::{Native, NativeError, native};
use crate::mpi::{Comm, c_int};

/// The libraries of Open MPI 4 and 5 that have the hook in this form.
const LIBRARIES: [&str; 2] = ["libopen-pal.so.40", "libopen-pal.so.80"];

/// `opal_progress_callback_t`: gives how much was done.
type Callback = unsafe extern "C" fn() -> c_int;

/// `opal_progress_register` and `opal_progress_unregister`.
type Register = unsafe extern "C" fn(Callback) -> c_int;

/// Who goes on with plans, the same on all ranks. Collective.
///
/// # Errors
/// A native call that failed.
pub fn agree(native: &Native, world: Comm) -> Result<Progress, NativeError> {
    let has_hook =
        native.abi.family == Family::OpenMpi && find(c"opal_progress_register").is_some();
    let all = native.least(world, has_hook.into())?;
    Ok(match all {
        0 => Progress::Own,
        _ => Progress::Called,
    })
}

fn find(name: &std::ffi::CStr) -> Option<Register> {
    let found = LIBRARIES
        .iter()
        .find_map(|library| find_in_library(library, name))?;
    // SAFETY: both functions take a callback and give an int, in these versions of the library.
    Some(unsafe { std::mem::transmute::<*mut c_void, Register>(found) })
}

/// From now on the native MPI calls us.
pub fn begin() {
    if let Some(register) = find(c"opal_progress_register") {
        // SAFETY: the callback stays, as this library does.
        unsafe { register(on_progress) };
    }
}

/// The native MPI is about to end.
pub fn end() {
    if let Some(unregister) = find(c"opal_progress_unregister") {
        // SAFETY: as above.
        unsafe { unregister(on_progress) };
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
