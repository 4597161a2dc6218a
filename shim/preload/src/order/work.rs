//! State of the order of receives in this process.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use parking_lot::{Mutex, MutexGuard};
use treepie_mpi::native::{Native, native};
use treepie_process::features::{self, ORDER};

use super::end_job::{DIVERGED, end_job};
use super::recording::Recording;
use super::replaying::Replaying;

/// Recording or replay.
pub(super) enum Work {
    Recording(Recording),
    Replaying(Box<Replaying>),
}

/// Recording or replay of this process. The lock is not held around a call of the native MPI.
pub(super) static WORK: Mutex<Option<Work>> = Mutex::new(None);

/// Thread that receives.
pub(super) static THREAD: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// True if this thread is in a call that is recorded or replayed: its internal calls are not.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Guard of this thread's stay in such a call.
pub(super) struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

/// Returns the native MPI and the guard, for a call of the application on the thread that receives.
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

/// Handles a receive of a second thread: the order of calls is no longer defined.
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

/// Calls `act` on the recording; `None` if the order is not recorded.
pub(super) fn recording<R>(act: impl FnOnce(&mut Recording) -> R) -> Option<R> {
    match &mut *WORK.lock() {
        Some(Work::Recording(recording)) => Some(act(recording)),
        _ => None,
    }
}

/// Returns the replay, locked; `None` if there is none.
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
