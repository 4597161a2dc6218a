//! Communicators that this library makes for itself.

use super::{NativeError, native};
use crate::mpi::Comm;

/// A communicator of our own, freed when this goes. Freeing is collective: all its ranks let it go
/// at the same place of the program.
#[derive(Debug)]
pub struct OwnComm(Comm);

impl OwnComm {
    /// What `make` makes, which nobody else frees.
    pub(super) fn made(make: Result<Comm, NativeError>) -> Result<Self, NativeError> {
        make.map(OwnComm)
    }

    /// Its handle, of use while this lives.
    #[inline(always)]
    pub fn handle(&self) -> Comm {
        self.0
    }
}

impl Drop for OwnComm {
    fn drop(&mut self) {
        if let Some(native) = native() {
            let _ = native.functions.comm_free(&mut self.0);
        }
    }
}
