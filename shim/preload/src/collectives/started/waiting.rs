//! Operations that any thread may go on with, until they have ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// A list that no thread waits for while another one goes on with what is in it.
pub struct Waiting<T> {
    all: Mutex<Vec<T>>,
    count: AtomicUsize,
}

impl<T: Clone> Waiting<T> {
    pub const fn new() -> Self {
        Waiting {
            all: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    /// Whether there is nothing: no lock is taken.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub fn add(&self, one: T) {
        let mut all = self.all.lock();
        all.push(one);
        self.count.store(all.len(), Ordering::Release);
    }

    /// Goes on with each, which is called without the lock; how many have done something. Those
    /// that have ended, here or elsewhere, are in it no more.
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
        // What is dropped here may end more, but not under the lock.
        let ended: Vec<T> = all.extract_if(.., |one| has_ended(one)).collect();
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn what_ended_elsewhere_is_forgotten_in_the_next_turn() {
        let waiting = Waiting::new();
        let left: Vec<Rc<Cell<u32>>> = [3, 1, 2].map(|turns| Rc::new(Cell::new(turns))).into();
        left.iter().for_each(|one| waiting.add(Rc::clone(one)));
        let turn = || {
            waiting.turn(
                |one| one.get() > 0 && one.replace(one.get() - 1) > 0,
                |one| one.get() == 0,
            )
        };
        let users = || left.iter().map(Rc::strong_count).collect::<Vec<_>>();
        assert_eq!((turn(), users()), (3, vec![2, 1, 2]));
        left[0].set(0);
        left[2].set(0);
        assert_eq!((turn(), users()), (0, vec![1, 1, 1]));
        assert!(waiting.is_empty());
    }
}
