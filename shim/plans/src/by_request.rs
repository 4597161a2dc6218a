//! Values kept for the application's requests, by their handles.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::native::Native;
use treepie_mpi::{Handle, Request, Word};

/// A value for each of some requests. An empty one is recognised without a lock.
pub struct ByRequest<T> {
    all: Lazy<Mutex<HashMap<Word, T>>>,
    count: AtomicUsize,
}

/// Returns the key of a request: the same in every language.
pub fn key(native: &Native, request: Request) -> Word {
    native.plain(request).word()
}

impl<T> ByRequest<T> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        ByRequest {
            all: Lazy::new(Mutex::default),
            count: AtomicUsize::new(0),
        }
    }

    /// True if there are no values.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Calls `act` with the map under its lock; `act` must not call the native MPI.
    pub fn with<R>(&self, act: impl FnOnce(&mut HashMap<Word, T>) -> R) -> R {
        let mut all = self.all.lock();
        let result = act(&mut all);
        self.count.store(all.len(), Ordering::Relaxed);
        result
    }

    /// Stores the value of a request; returns its previous one.
    pub fn insert(&self, native: &Native, request: Request, one: T) -> Option<T> {
        let key = key(native, request);
        self.with(|all| all.insert(key, one))
    }

    /// Removes and returns the value of a request.
    pub fn remove(&self, native: &Native, request: Request) -> Option<T> {
        let key = key(native, request);
        self.with(|all| all.remove(&key))
    }
}
