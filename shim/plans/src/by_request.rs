//! What is kept of the application's requests, by their handles.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::native::Native;
use treepie_mpi::{Handle, Request, Word};

/// One for each of some requests. Where there are none, that is seen without a lock.
pub struct ByRequest<T> {
    all: Lazy<Mutex<HashMap<Word, T>>>,
    count: AtomicUsize,
}

/// A request as a key: the same in every language.
pub fn key(native: &Native, request: Request) -> Word {
    native.plain(request).word()
}

impl<T> ByRequest<T> {
    /// None of any request.
    pub const fn new() -> Self {
        ByRequest {
            all: Lazy::new(Mutex::default),
            count: AtomicUsize::new(0),
        }
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Does something with all of them, under their lock: nothing that calls the native MPI.
    pub fn with<R>(&self, act: impl FnOnce(&mut HashMap<Word, T>) -> R) -> R {
        let mut all = self.all.lock();
        let result = act(&mut all);
        self.count.store(all.len(), Ordering::Relaxed);
        result
    }

    /// Keeps one for a request; what was kept for it before.
    pub fn insert(&self, native: &Native, request: Request, one: T) -> Option<T> {
        let key = key(native, request);
        self.with(|all| all.insert(key, one))
    }

    /// Keeps none for a request any more; the one that was.
    pub fn remove(&self, native: &Native, request: Request) -> Option<T> {
        let key = key(native, request);
        self.with(|all| all.remove(&key))
    }
}
