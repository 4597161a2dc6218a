//! Signals that are caught while a job runs, and passed on to it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::error::CommandError;

/// Signals that request the end of a job.
const ENDING: &[i32] = &[SIGINT, SIGTERM, SIGHUP];

/// These signals, and those by which schedulers warn that a job's time is nearly over.
pub const OF_SCHEDULERS: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// Signals that are caught until this is dropped.
pub struct Signals {
    shared: Arc<Shared>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The running job.
    job: Option<Pid>,
    /// The first signal that requested an end.
    end: Option<i32>,
    /// True if such a signal arrived while no job ran, so that the next job is to get it.
    waits: bool,
}

impl Signals {
    /// Catches these signals from before a job starts: a signal that arrives in between must not
    /// end us and leave the job alone.
    ///
    /// # Errors
    /// The system refuses.
    pub fn take_over(signals: &[i32]) -> Result<Self, CommandError> {
        let mut taken = SignalsInfo::<WithOrigin>::new(signals).map_err(|error| {
            CommandError::failed(format!("signals cannot be taken over: {error}"))
        })?;
        let shared = Arc::new(Shared::default());
        let handle = taken.handle();
        let of_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for origin in taken.forever() {
                of_thread.came(&origin);
            }
        });
        Ok(Signals {
            shared,
            handle,
            thread: Some(thread),
        })
    }

    /// Passes signals on to this process, or to none, from now on.
    pub(crate) fn pass_to(&self, job: Option<Pid>) {
        let mut state = self.shared.lock();
        state.job = job;
        if let (Some(job), Some(signal), true) = (job, state.end, state.waits) {
            send(job, signal);
            state.waits = false;
        }
    }

    /// The first signal that has requested an end.
    pub fn asked_to_end(&self) -> Option<u8> {
        let end = self.shared.lock().end?;
        u8::try_from(end).ok()
    }

    /// Waits for this time, or until a signal requests an end.
    pub fn pause(&self, time: Duration) {
        let state = self.shared.lock();
        let goes_on = |state: &mut State| state.end.is_none();
        // The caller does not distinguish the two cases.
        drop(self.shared.changed.wait_timeout_while(state, time, goes_on));
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        // The thread only ends by the line above, and it does not panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on a signal that another process sent to us alone. A signal from a key on the
    /// terminal comes from the kernel and has reached the job already: a second one would make
    /// launchers stop without cleaning up.
    fn came(&self, origin: &Origin) {
        let mut state = self.lock();
        let asks_for_end = ENDING.contains(&origin.signal);
        if asks_for_end {
            state.end.get_or_insert(origin.signal);
            self.changed.notify_all();
        }
        if matches!(origin.cause, Cause::Kernel) {
            return;
        }
        match state.job {
            Some(job) => send(job, origin.signal),
            None => state.waits |= asks_for_end,
        }
    }
}

fn send(job: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // The job may just have ended; then there is no process to signal.
        let _ = kill_process(job, signal);
    }
}
