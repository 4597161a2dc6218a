//! MPI objects that this library creates for itself.

use super::error::{Failed, NativeError};
use super::functions::Functions;
use super::mpi::native;
use crate::{Comm, Handle, Info};

/// Handles of objects that MPI frees by a procedure.
pub(super) trait Freed: Handle {
    /// Calls that procedure.
    fn free(&mut self, functions: &Functions) -> Result<(), Failed>;
}

impl Freed for Comm {
    fn free(&mut self, functions: &Functions) -> Result<(), Failed> {
        functions.comm_free(self)
    }
}

impl Freed for Info {
    fn free(&mut self, functions: &Functions) -> Result<(), Failed> {
        functions.info_free(self)
    }
}

/// Object of this library, freed when this is dropped.
#[derive(Debug)]
#[allow(private_bounds)] // owners need not know how it is freed
pub struct Own<H: Freed>(H);

/// Communicator of this library. Freeing is collective: all its ranks drop it at the same point of
/// the program.
pub type OwnComm = Own<Comm>;

/// Info of this library.
pub type OwnInfo = Own<Info>;

#[allow(private_bounds)]
impl<H: Freed> Own<H> {
    /// Owns the object that `make` creates, which nobody else frees.
    pub(super) fn made(make: Result<H, NativeError>) -> Result<Self, NativeError> {
        make.map(Own)
    }

    /// Returns its handle, valid while this lives.
    #[inline(always)]
    pub fn handle(&self) -> H {
        self.0
    }
}

impl<H: Freed> Drop for Own<H> {
    fn drop(&mut self) {
        if let Some(native) = native() {
            let _ = self.0.free(&native.functions);
        }
    }
}
