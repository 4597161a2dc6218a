//! The mark by which the native MPI, and whoever waits in it, learns that an operation has ended.

use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::sync::OnceCell;
use treepie_mpi::Request;
use treepie_mpi::native::Native;
use treepie_process::log;

use crate::place::Place;

/// Tells the native MPI that an operation has ended.
#[derive(Debug, Default)]
pub struct Marker {
    request: OnceCell<Request>,
    is_persistent: AtomicBool,
    /// The native MPI knows the request no more.
    is_freed: AtomicBool,
}

impl Marker {
    /// The request by which the native MPI knows the operation; set once, since that is new.
    pub fn set(&self, request: Request) {
        let _ = self.request.set(request);
    }

    /// The native MPI's request.
    pub fn request(&self) -> Option<Request> {
        self.request.get().copied()
    }

    /// The native MPI frees the request.
    pub fn free(&self) {
        self.is_freed.store(true, Ordering::Release);
    }

    /// Whether its request is started again and again.
    pub fn is_persistent(&self) -> bool {
        self.is_persistent.load(Ordering::Relaxed)
    }

    /// The operation is started again and again.
    pub fn repeat(&self) {
        self.is_persistent.store(true, Ordering::Relaxed);
    }

    /// Tells the end of an operation whose messages are at `place`.
    pub fn tell(&self, native: &Native, place: Place) {
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
