//! Lock acquisition with or without a timeout. In a signal handler, the interrupted thread may hold
//! the lock, and a wait for it would never end.

use std::thread;
use std::time::Duration;

/// Policy of waiting for locks.
pub trait Patience: Copy {
    /// Acquires the lock by `try_lock`, or gives up according to the policy.
    fn acquire<G>(self, try_lock: impl FnMut() -> Option<G>) -> Option<G>;
}

/// Waits without a limit.
#[derive(Debug, Clone, Copy)]
pub struct Unlimited;

/// Waits some milliseconds, as a signal handler may: other threads release these locks within
/// microseconds.
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
