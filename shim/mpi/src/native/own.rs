//! Objects of MPI's that this library makes for itself.

use super::error::{Failed, NativeError};
use super::functions::Functions;
use super::mpi::native;
use crate::{Comm, Handle, Info};

/// Handles of what MPI frees by a procedure of its own.
pub(super) trait Freed: Handle {
    /// That procedure.
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

/// An object of our own, freed when this goes.
#[derive(Debug)]
#[allow(private_bounds)] // who has one need not know how it is freed
pub struct Own<H: Freed>(H);

/// A communicator of our own. Freeing is collective: all its ranks let it go at the same place of
/// the program.
pub type OwnComm = Own<Comm>;

/// An info of our own.
pub type OwnInfo = Own<Info>;

#[allow(private_bounds)]
impl<H: Freed> Own<H> {
    /// What `make` makes, which nobody else frees.
    pub(super) fn made(make: Result<H, NativeError>) -> Result<Self, NativeError> {
        make.map(Own)
    }

    /// Its handle, of use while this lives.
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
