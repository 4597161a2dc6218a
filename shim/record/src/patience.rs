//! How long a lock is waited for. In a signal handler the thread that holds it
//! may be the one that was interrupted, and would be waited for without end.

use std::thread;
use std::time::Duration;

/// A way to wait for locks.
pub trait Patience: Copy {
    /// The lock that `try_lock` gets, if it is worth the wait.
    fn acquire<G>(self, try_lock: impl FnMut() -> Option<G>) -> Option<G>;
}

/// Waits as long as it takes.
#[derive(Debug, Clone, Copy)]
pub struct Unlimited;

/// Waits some milliseconds, as a signal handler may: other threads are through
/// with these locks in microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Limited;

const STEP: Duration = Duration::from_millis(1);

impl Patience for Unlimited {
    fn acquire<G>(self, mut try_lock: impl FnMut() -> Option<G>) -> Option<G> {
        loop {
            match try_lock() {
                Some(guard) => return Some(guard),
                None => thread::yield_now(),
            }
        }
    }
}

impl Patience for Limited {
    fn acquire<G>(self, mut try_lock: impl FnMut() -> Option<G>) -> Option<G> {
        for _ in 0..20 {
            if let Some(guard) = try_lock() {
                return Some(guard);
            }
            // nanosleep, which signal handlers may call.
            thread::sleep(STEP);
        }
        None
    }
}
