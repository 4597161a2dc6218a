//! References that are replaced while other threads read them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Reference to a value that lasts as long as the process: replaced at once, for readers in other
/// threads and in signal handlers.
pub struct AtomicRef<T: 'static>(AtomicPtr<T>);

impl<T: Sync> AtomicRef<T> {
    /// A reference to this value.
    pub fn new(value: &'static T) -> Self {
        AtomicRef(AtomicPtr::new(ptr::from_ref(value).cast_mut()))
    }

    /// Returns the reference; acquires what was written before it was stored.
    #[inline(always)]
    pub fn load(&self) -> &'static T {
        // SAFETY: it only ever holds the addresses of shared references that last.
        unsafe { &*self.0.load(Ordering::Acquire) }
    }

    /// Replaces the reference, and releases what was written before.
    #[inline(always)]
    pub fn store(&self, value: &'static T) {
        let address = ptr::from_ref(value).cast_mut();
        self.0.store(address, Ordering::Release);
    }
}

/// Like [`AtomicRef`], of no value at first.
pub struct AtomicLink<T: 'static>(AtomicPtr<T>);

impl<T: Sync> AtomicLink<T> {
    /// A reference to no value.
    pub const fn none() -> Self {
        AtomicLink(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the reference; acquires what was written before it was stored.
    #[inline(always)]
    pub fn load(&self) -> Option<&'static T> {
        // SAFETY: as for `AtomicRef`, or null.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Replaces the reference, and releases what was written before.
    #[inline(always)]
    pub fn store(&self, value: Option<&'static T>) {
        self.0.store(address(value), Ordering::Release);
    }

    /// Replaces `current` by `new`.
    ///
    /// # Errors
    /// The reference that is there instead of `current`.
    pub fn replace(
        &self,
        current: Option<&'static T>,
        new: &'static T,
    ) -> Result<(), Option<&'static T>> {
        let (current, new) = (address(current), address(Some(new)));
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let replaced = self.0.compare_exchange(current, new, success, failure);
        // SAFETY: as for `load`.
        replaced
            .map(|_| ())
            .map_err(|there| unsafe { there.as_ref() })
    }
}

fn address<T>(value: Option<&'static T>) -> *mut T {
    value.map_or(ptr::null_mut(), |value| ptr::from_ref(value).cast_mut())
}
