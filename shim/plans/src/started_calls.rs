//! Started collectives of a communicator of the application.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

/// Started collectives of a communicator.
#[derive(Debug, Default)]
pub struct StartedCalls {
    /// True if there was one.
    any: AtomicBool,
    /// Number of persistent requests that were created.
    persistent: AtomicU32,
    /// Non-blocking ones whose messages wait for others: their total number, and those that are
    /// active here.
    waiting: Mutex<(u32, BTreeSet<u32>)>,
    /// True once the application's communicator has been freed.
    left: AtomicBool,
}

impl StartedCalls {
    /// Notes that a collective is started.
    pub fn begin(&self) {
        self.any.store(true, Ordering::Relaxed);
    }

    /// Returns the number of a new persistent request.
    pub fn next_persistent(&self) -> u32 {
        self.begin();
        self.persistent.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of a non-blocking collective whose messages wait for others; `None` if
    /// one is active here that is `ways` or more older.
    pub fn next_waiting(&self, ways: u32) -> Option<u32> {
        let (next, open) = &mut *self.waiting.lock();
        let number = *next;
        *next += 1;
        let is_met = |&oldest: &u32| number - oldest >= ways;
        if open.first().is_some_and(is_met) {
            return None;
        }
        open.insert(number);
        Some(number)
    }

    /// Notes that it has ended here.
    pub fn end_waiting(&self, number: u32) {
        self.waiting.lock().1.remove(&number);
    }

    /// Notes that the application's communicator has been freed; true if collectives were started.
    pub fn leave(&self) -> bool {
        self.left.store(true, Ordering::Relaxed);
        self.any.load(Ordering::Relaxed)
    }

    /// Notes that another communicator of the application uses it from now on.
    pub fn take_over(&self) {
        self.left.store(false, Ordering::Relaxed);
    }

    /// True if the application's communicator has been freed.
    pub fn is_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_used_again_when_what_had_them_has_ended() {
        let started = StartedCalls::default();
        let next = || started.next_waiting(3);
        assert_eq!([next(), next(), next()], [Some(0), Some(1), Some(2)]);
        started.end_waiting(0);
        assert_eq!(next(), Some(3));
        assert_eq!(next(), None, "1 is under way");
        started.end_waiting(1);
        started.end_waiting(2);
        assert_eq!(next(), Some(5));
    }
}
