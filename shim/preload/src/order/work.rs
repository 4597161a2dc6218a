//! Work on the order of receives in this process.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use parking_lot::{Mutex, MutexGuard};
use treepie_mpi::native::{Native, native};
use treepie_process::features::{self, ORDER};

use super::end_job::{DIVERGED, end_job};
use super::recording::Recording;
use super::replaying::Replaying;

/// Work on the order.
pub(super) enum Work {
    Recording(Recording),
    Replaying(Box<Replaying>),
}

/// The order of this process. It is not held around a call of the native MPI.
pub(super) static WORK: Mutex<Option<Work>> = Mutex::new(None);

/// The thread that receives.
pub(super) static THREAD: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// Whether this thread is in a call that is recorded or replayed: what that calls is not.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread's stay in such a call.
pub(super) struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

/// The native MPI and the order, for a call of the application's own on the thread that receives.
pub(super) fn enter() -> Option<(&'static Native, Inside)> {
    let nested = INSIDE.try_with(|inside| inside.replace(true)).ok()?;
    if nested {
        return None;
    }
    let inside = Inside;
    let own = thread::current().id();
    if *THREAD.get_or_init(|| own) != own {
        second_thread();
        return None;
    }
    Some((native()?, inside))
}

/// A second thread receives: an order of calls is no more.
#[cold]
pub(super) fn second_thread() {
    features::end(ORDER);
    match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => recording.give_up(),
        Some(Work::Replaying(replaying)) => {
            let rank = replaying.rank;
            end_job(
                &format!("rank {rank}: order: more than one thread receives, as none did before"),
                DIVERGED,
            );
        }
        None => (),
    }
}

/// Acts on the recording; `None` if the order is not recorded.
pub(super) fn recording<R>(act: impl FnOnce(&mut Recording) -> R) -> Option<R> {
    match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => Some(act(recording)),
        _ => None,
    }
}

/// The replay, locked; `None` where none is.
pub(super) fn replaying() -> Option<impl std::ops::DerefMut<Target = Replaying>> {
    MutexGuard::try_map(WORK.lock(), |work| match work {
        Some(Work::Replaying(replaying)) => Some(&mut **replaying),
        _ => None,
    })
    .ok()
}

pub(super) fn is_replayed() -> bool {
    replaying().is_some()
}
