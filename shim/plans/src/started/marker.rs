//! Mark by which the native MPI, and threads that wait in it, learn that an operation has ended.

use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::sync::OnceCell;
use treepie_mpi::Request;
use treepie_mpi::native::Native;
use treepie_process::log;

use crate::call_context::CallContext;

/// Reports the end of an operation to the native MPI.
#[derive(Debug, Default)]
pub struct Marker {
    request: OnceCell<Request>,
    is_persistent: AtomicBool,
    /// True if the native MPI has freed the request.
    is_freed: AtomicBool,
}

impl Marker {
    /// Sets the native MPI's request for the operation; once, when that is new.
    pub fn set(&self, request: Request) {
        let _ = self.request.set(request);
    }

    /// Returns the native MPI's request.
    pub fn request(&self) -> Option<Request> {
        self.request.get().copied()
    }

    /// Notes that the native MPI frees the request.
    pub fn free(&self) {
        self.is_freed.store(true, Ordering::Release);
    }

    /// True if its request is persistent, and may be started repeatedly.
    pub fn is_persistent(&self) -> bool {
        self.is_persistent.load(Ordering::Relaxed)
    }

    /// Marks the operation as persistent.
    pub fn repeat(&self) {
        self.is_persistent.store(true, Ordering::Relaxed);
    }

    /// Reports the end of an operation whose messages are at `place`.
    pub fn tell(&self, native: &Native, place: CallContext) {
        let Some(&request) = self.request.get() else {
            return;
        };
        let told = match self.is_persistent() {
            true => native.send_marker(place.to_oneself_at_the_end()),
            false if self.is_freed.load(Ordering::Acquire) => Ok(()),
            false => native.complete_generalized(request),
        };
        if let Err(code) = told {
            log::error(&format!(
                "a started collective has ended, and its request can't be completed: error {code}"
            ));
        }
    }
}
