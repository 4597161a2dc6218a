//! A lock for what threads do not compete for: MPI lets one thread at a time call a collective on a
//! communicator.
//!
//! Its end is a store, where that of a lock with a queue is a locked instruction, which waits until
//! all that was written before has reached the other core: a fifth of a short call through memory.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::lock_api;

/// A value behind such a lock.
pub type Mutex<T> = lock_api::Mutex<Uncontended, T>;

/// What a holder has.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, Uncontended, T>;

/// The lock. Who finds it held, in a program that is not right, lets others run until it is not.
#[derive(Debug)]
pub struct Uncontended(AtomicBool);

// SAFETY: one swap at a time finds it open, until its holder opens it; what was written under it is
// seen by the next one (release, acquire).
unsafe impl lock_api::RawMutex for Uncontended {
    // The trait says so: as long as it is only copied to be a new lock, nothing is shared by it.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Uncontended(AtomicBool::new(false));

    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock(&self) {
        while !self.try_lock() {
            std::thread::yield_now();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.0.swap(true, Ordering::Acquire)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_compete_for_it_all_the_same_get_it_one_after_the_other() {
        let count = Mutex::new(0_u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut count = count.lock();
                        let seen = *count;
                        std::hint::black_box(&mut *count);
                        *count = seen + 1;
                    }
                });
            }
        });
        assert_eq!(*count.lock(), 40_000);
        assert!(count.try_lock().is_some());
    }
}
