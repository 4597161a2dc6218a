//! Operations that any thread may advance, until they have ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// List for which no thread waits while another one advances its operations.
pub struct Waiting<T> {
    all: Mutex<Vec<Arc<T>>>,
    count: AtomicUsize,
}

impl<T> Waiting<T> {
    pub const fn new() -> Self {
        Waiting {
            all: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    /// True if it is empty; takes no lock.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Adds an operation, which may still be in the list from its previous start.
    pub fn add(&self, one: &Arc<T>) {
        let mut all = self.all.lock();
        if !all.iter().any(|other| Arc::ptr_eq(one, other)) {
            all.push(Arc::clone(one));
        }
        self.count.store(all.len(), Ordering::Release);
    }

    /// Advances each by `go_on`, which is called without the lock; returns the number of those that
    /// made progress. Operations that have ended, here or elsewhere, are removed.
    #[cold]
    pub fn turn(&self, go_on: impl Fn(&T) -> bool, has_ended: impl Fn(&T) -> bool) -> usize {
        let (mut at, mut done, mut any_ended) = (0, 0, false);
        loop {
            let next = match self.all.try_lock() {
                Some(all) => all.get(at).cloned(),
                None => return done,
            };
            let Some(one) = next else {
                break;
            };
            done += usize::from(go_on(&one));
            any_ended |= has_ended(&one);
            at += 1;
        }
        if any_ended {
            self.forget(has_ended);
        }
        done
    }

    fn forget(&self, has_ended: impl Fn(&T) -> bool) {
        let Some(mut all) = self.all.try_lock() else {
            return;
        };
        // Dropping them may end more, but must not happen under the lock.
        let ended: Vec<Arc<T>> = all.extract_if(.., |one| has_ended(one)).collect();
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    /// Operation that ends after this many turns.
    type Turns = AtomicU32;

    fn turn(waiting: &Waiting<Turns>) -> usize {
        let left = |one: &Turns| one.load(Ordering::Relaxed);
        waiting.turn(
            |one| left(one) > 0 && one.fetch_sub(1, Ordering::Relaxed) > 0,
            |one| left(one) == 0,
        )
    }

    #[test]
    fn what_ended_elsewhere_is_forgotten_in_the_next_turn() {
        let waiting = Waiting::new();
        let left = [3, 1, 2].map(|turns| Arc::new(Turns::new(turns)));
        left.iter().for_each(|one| waiting.add(one));
        let users = || left.each_ref().map(Arc::strong_count);
        assert_eq!((turn(&waiting), users()), (3, [2, 1, 2]));
        left[0].store(0, Ordering::Relaxed);
        left[2].store(0, Ordering::Relaxed);
        assert_eq!((turn(&waiting), users()), (0, [1, 1, 1]));
        assert!(waiting.is_empty());
    }

    #[test]
    fn what_is_started_again_before_a_turn_has_one_place() {
        let waiting = Waiting::new();
        let one = Arc::new(Turns::new(0));
        for _ in 0..3 {
            one.store(2, Ordering::Relaxed);
            waiting.add(&one);
        }
        assert_eq!((turn(&waiting), turn(&waiting)), (1, 1));
        assert!(waiting.is_empty());
    }
}
