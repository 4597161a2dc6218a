//! Lock for data that threads do not compete for: MPI lets only one thread at a time call a
//! collective on a communicator.
//!
//! Its release is a store. The release of a lock with a queue is a locked instruction, which waits
//! until all earlier stores have reached the other core: a fifth of a short call through shared
//! memory.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::lock_api;

/// Value behind such a lock.
pub type Mutex<T> = lock_api::Mutex<Uncontended, T>;

/// Guard of the lock's holder.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, Uncontended, T>;

/// The lock. A thread that finds it held, in an erroneous program, yields until it is released.
#[derive(Debug)]
pub struct Uncontended(AtomicBool);

// SAFETY: only one swap at a time finds it open, until its holder releases it; the next holder sees
// all stores under it (release, acquire).
unsafe impl lock_api::RawMutex for Uncontended {
    // Required by the trait: the constant is only copied to initialise a new lock, and shares
    // nothing.
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
