//! Functions that follow this library's entry points, each looked up when it is first called.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use treepie_mpi::c_int;
use treepie_mpi::lookup::find;
use treepie_mpi::native::abi;
use treepie_process::log;

/// Length in bytes of the longest name, including the NUL.
const LONGEST_NAME: usize = 40;

/// Next definition of one name, a function of type `F`, looked up when it is first called: a
/// process that never calls MPI makes no lookups.
///
/// It holds the name itself, not the name's address: the linker would have to relocate a thousand
/// of these at the start of every process.
pub struct Next<F> {
    address: AtomicPtr<c_void>,
    name: [u8; LONGEST_NAME],
    function: PhantomData<F>,
}

impl<F: Copy> Next<F> {
    /// Creates the next definition of this name, not looked up yet.
    ///
    /// # Safety
    /// A function of this name has type `F` in every library that may be loaded.
    pub const unsafe fn new(name: &str) -> Self {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut bytes = [0; LONGEST_NAME];
        let (start, _) = bytes.split_at_mut(name.len());
        start.copy_from_slice(name.as_bytes());
        Next {
            address: AtomicPtr::new(ptr::null_mut()),
            name: bytes,
            function: PhantomData,
        }
    }

    /// Returns the name that is looked up.
    pub fn name(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.name).unwrap_or_default()
    }

    /// Returns the function if it was looked up before.
    #[inline(always)]
    pub fn known(&self) -> Option<F> {
        let address = self.address.load(Ordering::Relaxed);
        // SAFETY: a pointer to a function is an address that is not null, and a function of this
        // name has type `F`, as the caller of [`Next::new`] guarantees.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }

    /// Returns the function, or `None` if no loaded library has the name.
    #[inline(always)]
    pub fn get(&self) -> Option<F> {
        self.known().or_else(|| self.look_up())
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self) -> Option<F> {
        self.address.store(find(self.name())?, Ordering::Relaxed);
        self.known()
    }
}

/// Returns the error of a procedure that no loaded MPI has, instead of a jump to a null pointer.
#[cold]
pub fn missing(name: &CStr) -> c_int {
    log::error(&format!(
        "{} was called, but no MPI library in this process has it; the call returns an error",
        name.to_string_lossy()
    ));
    abi().map_or(1, |abi| abi.err_intern)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Getpid = unsafe extern "C" fn() -> libc::pid_t;

    #[test]
    fn the_next_definition_of_a_name_is_found_when_it_is_first_wanted() {
        // SAFETY: the C library's function, and a name that no library has.
        let (there, absent) = unsafe {
            let there = Next::<Getpid>::new("getpid");
            (there, Next::<Getpid>::new("no_such_name_anywhere"))
        };
        assert_eq!(there.name(), c"getpid");
        assert!(there.known().is_none());
        // SAFETY: it may always be called.
        let found = there.get().map(|getpid| unsafe { getpid() });
        assert_eq!(found, Some(std::process::id() as libc::pid_t));
        assert!(there.known().is_some() && absent.get().is_none());
    }
}
