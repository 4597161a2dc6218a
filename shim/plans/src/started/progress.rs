//! Plans that go on while the program is elsewhere: where the native MPI calls us in whatever it
//! waits, or a thread of ours does, messages of a plan may wait for others.
//!
//! | MPI | how |
//! |---|---|
//! | Open MPI 4 to 6 | `opal_progress_register` of its library `libopen-pal`, by its version |
//! | MPICH from 4.3 on | `MPIX_Async_start`; not in `MPI_Win_lock`, nor do its own go on there |
//! | all others | [a thread](helper), where that is asked for and the program may have several |
//!
//! MPICH from 4.3 on does neither in a program that may have several threads.
//!
//! All ranks must be called so, or none takes such plans ([`agree`]). The callback may come in any
//! call of the MPI, ours among them, and on several threads at once. So nothing in it waits for a
//! lock that is held over a call of the MPI (those around plans, which are made here where leaders
//! are told sizes, are not), and a thread that is in it already goes no further.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use treepie_choice::Progress;
use treepie_mpi::abi::Family;
use treepie_mpi::lookup::{self, find_in_opal};
use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_native::knobs::{Library, Maker, Version};

use super::helper;
use super::running::Running;
use super::waiting::Waiting;

/// `opal_progress_callback_t`: gives how much was done.
type Callback = unsafe extern "C" fn() -> c_int;

/// `opal_progress_register` and `opal_progress_unregister`.
type Register = unsafe extern "C" fn(Callback) -> c_int;

/// `MPIX_Async_poll_function`.
type Poll = unsafe extern "C" fn(Word) -> c_int;

/// `MPIX_Async_start`.
type AsyncStart = unsafe extern "C" fn(Poll, Word, c_int) -> c_int;

/// From here on MPICH has `MPIX_Async_start`.
const POLLED_FROM: Version = Version(4, 3, 0);

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
            if native.is_open_mpi {
                return Some(Hook::OpenMpi {
                    begin: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_register",
                    )?),
                    end: mem::transmute::<*mut c_void, Register>(find_in_opal(
                        c"opal_progress_unregister",
                    )?),
                });
            }
            match native.abi.family {
                // MPICH 5.0 locks what it polls where there are several threads, and polls it in
                // calls that ours makes: "Resource deadlock avoided".
                Family::Mpich if native.has_many_threads() => None,
                Family::Mpich => {
                    let start = lookup::find(c"PMPIX_Async_start")?;
                    Some(Hook::Mpich(mem::transmute::<*mut c_void, AsyncStart>(
                        start,
                    )))
                }
                Family::OpenMpi | Family::Standard => None,
            }
        }
    }
}

/// Whether a thread of ours may call the MPI. Behind some programs MPICH 5.0 found a lock held in
/// `MPI_Finalize`, and ended the job. Open MPI 6.0.0rc2 loses messages in a host's memory between
/// ranks of two threads each, by itself.
pub fn takes_thread(native: &Native) -> bool {
    let library = Library::called(&native.library_version());
    let bears_none = |library: Library| match library.maker {
        Maker::Mpich => library.version >= POLLED_FROM,
        Maker::OpenMpi => library.version.0 >= 6,
        Maker::IntelMpi => false,
    };
    native.has_many_threads() && !library.is_some_and(bears_none)
}

/// Who goes on with plans, the same on all ranks; a thread only where one is `wanted`. Collective.
///
/// # Errors
/// A native call that failed.
pub fn agree(native: &Native, world: Comm, wanted: bool) -> Result<Progress, NativeError> {
    let has_hook = Hook::find(native).is_some();
    // A program's level of threads is never raised: that makes its own calls dearer.
    let is_called = has_hook || wanted && takes_thread(native);
    Ok(match native.least(world, is_called.into())? {
        0 => Progress::Own,
        _ => Progress::Called,
    })
}

/// From now on the native MPI calls us, or a thread does; whether it is so. A thread also goes on
/// where the program is in no call of the MPI.
pub fn begin(native: &Native, wants_thread: bool) -> bool {
    let has_thread = wants_thread && takes_thread(native) && helper::begin(turn_of_helper);
    let code = match Hook::find(native) {
        // SAFETY: the callback stays, as this library does.
        Some(Hook::OpenMpi { begin, .. }) => unsafe { begin(on_progress) },
        // SAFETY: as above.
        Some(Hook::Mpich(start)) => unsafe { start(on_poll, 0, STREAM_NULL) },
        None => return has_thread,
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
    helper::wake();
}

/// Whether nobody is to go on with plans any more.
fn is_over() -> bool {
    IS_OVER.load(Ordering::Acquire)
}

/// Whether there are plans to go on with.
fn is_needed() -> bool {
    !WAITING.is_empty()
}

/// The native MPI is about to end.
pub fn end(native: &Native) {
    stop_progress();
    if let Some(Hook::OpenMpi { end, .. }) = Hook::find(native) {
        // SAFETY: as above.
        unsafe { end(on_progress) };
    }
    helper::end();
}

/// Operations whose messages wait for others.
static WAITING: Waiting<Running> = Waiting::new();

/// An operation has begun with which the callback goes on.
pub fn add(running: &Arc<Running>) {
    WAITING.add(running);
    helper::wake();
}

thread_local! {
    /// Whether this thread is in the callback.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn on_poll(_thing: Word) -> c_int {
    if is_over() {
        return DONE;
    }
    turn();
    NO_PROGRESS
}

unsafe extern "C" fn on_progress() -> c_int {
    turn()
}

/// A turn of the helper thread.
fn turn_of_helper() -> helper::Turn {
    match (is_over(), is_needed()) {
        (true, _) => helper::Turn::Over,
        (false, false) => helper::Turn::Unneeded,
        (false, true) if turn() == 0 => helper::Turn::Idle,
        (false, true) => helper::Turn::WentOn,
    }
}

/// Goes on with all, unless this thread does already; how many have done something.
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
