//! Registries of handles: of communicators, windows and prepared requests. Looked up when a handle
//! is first used, forgotten when the object ends, since the native MPI may give the same handle to
//! another one.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::Lazy;
use parking_lot::RwLock;

use super::patience::Patience;

/// Maker of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MadeBy {
    /// The application, by a call.
    Application,
    /// The MPI, by an internal call.
    Mpi,
}

/// Entry of a handle.
enum Registered<T> {
    Is(Arc<T>),
    /// Not the application's, or irrelevant: never counted.
    Nothing,
}

/// Registry of the handles of one kind of object.
pub struct Registry<H: 'static, T: 'static> {
    known: Lazy<RwLock<HashMap<H, Registered<T>>>>,
    epoch: AtomicU64,
}

impl<H: Copy + Eq + Hash, T> Default for Registry<H, T> {
    fn default() -> Self {
        Registry::new()
    }
}

impl<H: Copy + Eq + Hash, T> Registry<H, T> {
    /// Creates an empty registry.
    pub const fn new() -> Self {
        Registry {
            known: Lazy::new(RwLock::default),
            epoch: AtomicU64::new(0),
        }
    }

    /// Returns an epoch, which changes whenever a handle is forgotten: values read before may be
    /// stale.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Returns the value of `handle`, from `look_up` at the first use.
    pub fn find_or(&self, handle: H, look_up: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        if let Some(known) = self.known.read().get(&handle) {
            return known.get();
        }
        // Looked up without the lock: two threads that do so concurrently find the same.
        let found = match look_up() {
            Some(found) => Registered::Is(Arc::new(found)),
            None => Registered::Nothing,
        };
        self.known.write().entry(handle).or_insert(found).get()
    }

    /// Returns the value of `handle`, if it was [`Registry::set`].
    pub fn find(&self, handle: H) -> Option<Arc<T>> {
        self.known.read().get(&handle)?.get()
    }

    /// Sets the value of `handle`; `None` if it is irrelevant.
    pub fn set(&self, handle: H, value: Option<T>) {
        let value = value.map_or(Registered::Nothing, |value| Registered::Is(Arc::new(value)));
        self.known.write().insert(handle, value);
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Forgets a handle whose object has ended; returns its value.
    pub fn forget(&self, handle: H) -> Option<Arc<T>> {
        // Most ended handles were never looked up: test this before taking the exclusive lock.
        if !self.known.read().contains_key(&handle) {
            return None;
        }
        let known = self.known.write().remove(&handle)?;
        self.epoch.fetch_add(1, Ordering::AcqRel);
        known.get()
    }

    /// Forgets all handles.
    pub fn clear(&self) {
        self.known.write().clear();
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Calls `each` with all values; `lock` acquires the lock. Does nothing if it cannot.
    pub fn each(&self, lock: impl Patience, mut each: impl FnMut(&T)) {
        let Some(known) = lock.acquire(|| self.known.try_read()) else {
            return;
        };
        for value in known.values() {
            if let Registered::Is(value) = value {
                each(value);
            }
        }
    }
}

impl<T> Registered<T> {
    fn get(&self) -> Option<Arc<T>> {
        match self {
            Registered::Is(value) => Some(Arc::clone(value)),
            Registered::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use treepie_mpi::Word;

    use super::*;

    #[test]
    fn a_forgotten_handle_is_looked_up_again() {
        let registry = Registry::<Word, u32>::new();
        assert_eq!(registry.find_or(5, || Some(1)).as_deref(), Some(&1));
        assert_eq!(registry.find_or(5, || Some(2)).as_deref(), Some(&1));
        let epoch = registry.epoch();
        assert_eq!(registry.forget(5).as_deref(), Some(&1));
        assert_ne!(registry.epoch(), epoch);
        assert_eq!(registry.find_or(5, || Some(2)).as_deref(), Some(&2));
    }

    #[test]
    fn what_is_of_no_interest_is_not_looked_up_again() {
        let registry = Registry::<Word, u32>::new();
        assert_eq!(registry.find_or(5, || None), None);
        assert_eq!(registry.find_or(5, || Some(1)), None);
        registry.set(6, None);
        assert_eq!(registry.find_or(6, || Some(1)), None);
    }
}
