//! The functions that stand behind our entry points, each looked up when it is first called.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::NAMES;
use crate::mpi::lookup::{find, is_mpis_own};

/// Whether something that is no MPI library stands behind this one: a tool, which may call
/// what it likes while it is called. Entry points read it by themselves, as a byte.
pub static TOOL_IS_BEHIND: AtomicBool = AtomicBool::new(false);

/// The next definition of one name, looked up when it is first called: a
/// process that never calls MPI never searches.
///
/// It holds no address of its name: the linker would have to write hundreds of
/// them at the start of every process.
pub struct Next {
    /// Where its name starts in [`NAMES`].
    name: u32,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// Where the address is in it, in bytes.
    pub const ADDRESS: usize = std::mem::offset_of!(Next, address);

    /// The next definition of the name that starts there, not looked up yet.
    pub const fn new(name: u32) -> Self {
        Next {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The name that is looked up.
    pub fn name(&self) -> &'static CStr {
        let names = NAMES.get(self.name as usize..).unwrap_or_default();
        CStr::from_bytes_until_nul(names).unwrap_or_default()
    }

    /// The address, or `None` where no loaded library has the name.
    #[inline(always)]
    pub fn get(&self) -> Option<*mut c_void> {
        match self.known() {
            None => self.look_up(),
            known => known,
        }
    }

    /// The address, where it was looked up before.
    #[inline(always)]
    pub fn known(&self) -> Option<*mut c_void> {
        let address = self.address.load(Ordering::Relaxed);
        (!address.is_null()).then_some(address)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self) -> Option<*mut c_void> {
        let address = find(self.name())?;
        let is_in_c = |start: &[u8]| self.name().to_bytes().starts_with(start);
        if (is_in_c(b"MPI_") || is_in_c(b"PMPI_")) && !is_mpis_own(address) {
            TOOL_IS_BEHIND.store(true, Ordering::Relaxed);
        }
        self.address.store(address, Ordering::Relaxed);
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_row_of_all_names() {
        assert_eq!(Next::new(0).name().to_bytes()[..5], *b"PMPI_");
        assert_eq!(Next::new(1).name().to_bytes()[..4], *b"MPI_");
        assert!(Next::new(u32::MAX).name().is_empty());
    }
}
