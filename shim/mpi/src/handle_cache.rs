//! Cache of the few handles that a thread used last, with their values, so that a counted call
//! takes no lock.

use std::cell::RefCell;
use std::sync::Arc;

use crate::handles::Handle;

struct Slot<H, T> {
    handle: H,
    epoch: u64,
    value: Option<Arc<T>>,
}

/// Direct-mapped cache of `N` (a power of two) handles. An entry is valid during one epoch: removal
/// of a handle starts a new epoch.
pub struct HandleCache<H, T, const N: usize> {
    slots: [RefCell<Slot<H, T>>; N],
}

impl<H: Handle + PartialEq, T, const N: usize> Default for HandleCache<H, T, N> {
    fn default() -> Self {
        HandleCache {
            slots: std::array::from_fn(|_| {
                RefCell::new(Slot {
                    handle: H::ABSENT,
                    epoch: u64::MAX,
                    value: None,
                })
            }),
        }
    }
}

impl<H: Handle + PartialEq, T, const N: usize> HandleCache<H, T, N> {
    /// Reads the value of `handle`, from the cache or from `find`; `None` if `find` returns `None`.
    #[inline(always)]
    pub fn with<R>(
        &self,
        handle: H,
        epoch: u64,
        find: impl FnOnce(H) -> Option<Arc<T>>,
        read: impl FnOnce(&T) -> R,
    ) -> Option<R> {
        // Handles are aligned addresses or numbers that differ in the low bits.
        let word = handle.word();
        let at = (word ^ (word >> 6) ^ (word >> 12)) & (N - 1);
        let mut slot = self.slots[at].try_borrow().ok()?;
        if slot.handle != handle || slot.epoch != epoch {
            drop(slot);
            self.fill(at, handle, epoch, find)?;
            slot = self.slots[at].try_borrow().ok()?;
        }
        slot.value.as_deref().map(read)
    }

    #[cold]
    #[inline(never)]
    fn fill(
        &self,
        at: usize,
        handle: H,
        epoch: u64,
        find: impl FnOnce(H) -> Option<Arc<T>>,
    ) -> Option<()> {
        let value = find(handle);
        *self.slots[at].try_borrow_mut().ok()? = Slot {
            handle,
            epoch,
            value,
        };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comm, Word};

    fn comm(word: Word) -> Comm {
        // SAFETY: it is not passed to an MPI.
        unsafe { Comm::from_word(word) }
    }

    #[test]
    fn a_new_epoch_forgets_what_an_old_one_knew() {
        let cache = HandleCache::<Comm, u32, 2>::default();
        let find = |value: u32| move |_| Some(Arc::new(value));
        assert_eq!(cache.with(comm(7), 1, find(1), |v| *v), Some(1));
        assert_eq!(cache.with(comm(7), 1, find(2), |v| *v), Some(1));
        assert_eq!(cache.with(comm(7), 2, find(2), |v| *v), Some(2));
    }

    #[test]
    fn handles_that_share_a_slot_do_not_share_a_value() {
        let cache = HandleCache::<Comm, Comm, 1>::default();
        for handle in [1, 2, 3, 1, 2].map(comm) {
            assert_eq!(
                cache.with(handle, 0, |h| Some(Arc::new(h)), |v| *v),
                Some(handle)
            );
        }
    }
}
