//! Progress of plans while the program does other work: if the native MPI calls this library
//! whenever it waits, or a helper thread does, messages of a plan may wait for others.
//!
//! | MPI | how |
//! |---|---|
//! | Open MPI 4 to 6 | [`ProgressHook`] |
//! | MPICH from 4.3 on | the same; not in `MPI_Win_lock`, where MPICH's own do not progress either |
//! | all others | [a thread](helper), on request and if the program may have several |
//!
//! With MPICH from 4.3 on, neither is used in a program that may have several threads.
//!
//! All ranks must have this progress, or none uses such plans ([`agree`]). The callback may come in
//! any call of the MPI, including those of this library, and on several threads concurrently.
//! Therefore it never waits for a lock that is held over a call of the MPI (the locks around plans,
//! which are made here after leaders have received sizes, are not), and a nested call on the same
//! thread returns immediately.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use treepie_choice::Progress;
use treepie_mpi::native::{Native, NativeError, ProgressHook, native};
use treepie_mpi::{Comm, Word, c_int};
use treepie_native::knobs::{Library, Maker, Version};

use super::helper;
use super::running::Running;
use super::waiting::Waiting;

/// First version of MPICH with `MPIX_Async_start`.
const POLLED_FROM: Version = Version(4, 3, 0);

/// True if a helper thread may call the MPI. With some programs MPICH 5.0 found a lock held in
/// `MPI_Finalize`, and ended the job. Open MPI 6.0.0rc2 alone loses messages in a host's memory
/// between ranks of two threads each.
pub fn takes_thread(native: &Native) -> bool {
    let library = Library::called(&native.library_version());
    let bears_none = |library: Library| match library.maker {
        Maker::Mpich => library.version >= POLLED_FROM,
        Maker::OpenMpi => library.version.0 >= 6,
        Maker::IntelMpi => false,
    };
    native.has_many_threads() && !library.is_some_and(bears_none)
}

/// Returns the driver of progress, the same on all ranks; a thread only if one is `wanted`.
/// Collective.
///
/// # Errors
/// A native call that failed.
pub fn agree(native: &Native, world: Comm, wanted: bool) -> Result<Progress, NativeError> {
    let has_hook = ProgressHook::find(native).is_some();
    // A program's level of threads is never raised: that would make its own calls more expensive.
    let is_called = has_hook || wanted && takes_thread(native);
    Ok(match native.least(world, is_called.into())? {
        0 => Progress::Own,
        _ => Progress::Called,
    })
}

/// Starts the calls by the native MPI, or by a thread; true on success. A thread also makes
/// progress while the program is in no call of the MPI.
pub fn begin(native: &Native, wants_thread: bool) -> bool {
    let has_thread = wants_thread && takes_thread(native) && helper::begin(turn_of_helper);
    match ProgressHook::find(native) {
        Some(hook) => hook.begin(on_progress, on_poll),
        None => has_thread,
    }
}

/// True once the native MPI is to make no more calls.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Stops progress, since the application is about to end MPI. MPICH waits there until this library
/// reports that it is done, before any other notification. No plan is active then: one that others
/// wait for would be a request that is not complete.
pub fn stop_progress() {
    IS_OVER.store(true, Ordering::Release);
    helper::wake();
}

/// True once no progress is to be made any more.
fn is_over() -> bool {
    IS_OVER.load(Ordering::Acquire)
}

/// True if there are plans to advance.
fn is_needed() -> bool {
    !WAITING.is_empty()
}

/// Ends progress, since the native MPI is about to end.
pub fn end(native: &Native) {
    stop_progress();
    if let Some(hook) = ProgressHook::find(native) {
        hook.end(on_progress);
    }
    helper::end();
}

/// Operations whose messages wait for others.
static WAITING: Waiting<Running> = Waiting::new();

/// Adds an operation that has begun, which the callback is to advance.
pub fn add(running: &Arc<Running>) {
    WAITING.add(running);
    helper::wake();
}

thread_local! {
    /// True while this thread is in the callback.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

extern "C" fn on_poll(_thing: Word) -> c_int {
    if is_over() {
        return ProgressHook::DONE;
    }
    turn();
    ProgressHook::NO_PROGRESS
}

extern "C" fn on_progress() -> c_int {
    turn()
}

/// Takes a turn of the helper thread.
fn turn_of_helper() -> helper::Turn {
    match (is_over(), is_needed()) {
        (true, _) => helper::Turn::Over,
        (false, false) => helper::Turn::Unneeded,
        (false, true) if turn() == 0 => helper::Turn::Idle,
        (false, true) => helper::Turn::WentOn,
    }
}

/// Advances all, unless this thread is doing so already; returns the number of those that made
/// progress.
fn turn() -> c_int {
    if !is_needed() || INSIDE.replace(true) {
        return 0;
    }
    let done = native().map_or(0, |native| {
        WAITING.turn(
            |running| running.advance(native),
            |running| !running.is_under_way(),
        )
    });
    INSIDE.set(false);
    done as c_int
}
