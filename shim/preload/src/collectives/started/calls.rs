//! What was started on a communicator of the application's.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The started collectives of a communicator.
#[derive(Debug, Default)]
pub struct Started {
    /// Whether there was one.
    any: AtomicBool,
    /// Persistent requests that were made.
    persistent: AtomicU32,
    /// The application's communicator is no more.
    left: AtomicBool,
}

impl Started {
    /// A collective is started.
    pub fn begin(&self) {
        self.any.store(true, Ordering::Relaxed);
    }

    /// The number of a new persistent request.
    pub fn next_persistent(&self) -> u32 {
        self.begin();
        self.persistent.fetch_add(1, Ordering::Relaxed)
    }

    /// The application's communicator is no more; whether collectives were started.
    pub fn leave(&self) -> bool {
        self.left.store(true, Ordering::Relaxed);
        self.any.load(Ordering::Relaxed)
    }

    /// Whether the application's communicator is no more.
    pub fn is_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }
}
