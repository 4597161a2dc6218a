//! Finds the functions that stand behind our entry points: the next definition
//! of the same name, which is the MPI library's own or another tool's.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::elf;
use super::entry::NAMES;

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

/// The address of the function `name` behind this library: in what was loaded
/// after it, or in an MPI library that was loaded out of the global scope
/// (Python loads extension modules, and with them the MPI, `RTLD_LOCAL`).
pub fn find(name: &CStr) -> Option<*mut c_void> {
    find_from(libc::RTLD_NEXT, name)
}

/// The address of the variable `name`. It is searched from the program on: a
/// program that was linked to the MPI may hold the only live copy of a variable
/// of the library's (copy relocation), and it stands before this library.
pub fn find_variable(name: &CStr) -> Option<*mut c_void> {
    find_from(libc::RTLD_DEFAULT, name)
}

fn find_from(scope: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `name` ends in NUL; dlsym only reads it.
    let address = unsafe { libc::dlsym(scope, name.as_ptr()) };
    if !address.is_null() {
        return Some(address);
    }
    find_in_mpi_libraries(name)
}

/// The address of `name` in the first loaded object that has it and is an MPI
/// library by its file name.
fn find_in_mpi_libraries(name: &CStr) -> Option<*mut c_void> {
    elf::in_objects(|info| {
        let is_mpi = is_mpi_library(elf::path(info));
        // SAFETY: the object stays mapped while the linker shows it.
        is_mpi.then(|| unsafe { elf::find(info, name) }).flatten()
    })
}

/// Whether the function at `address` is in a library that has the other name of MPI's
/// procedures too: tools define one of them, and call the other.
fn is_mpis_own(address: *mut c_void) -> bool {
    elf::in_objects(|info| {
        elf::segment_in(info, address.addr())?;
        // SAFETY: the object stays mapped while the linker shows it.
        Some(unsafe { elf::find(info, c"PMPI_Comm_rank") }.is_some())
    })
    .unwrap_or(false)
}

/// Whether a path's file is an MPI library by name: libmpi.so.40, libmpi.so.12,
/// libmpich.so.12, libmpi_abi.so.1, libmpi_cray.so.12, ... This only says where
/// to look; which MPI it is, its symbols tell.
fn is_mpi_library(path: &[u8]) -> bool {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    file.starts_with(b"libmpi") && file.windows(3).any(|part| part == b".so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpi_libraries_are_told_by_their_file_name() {
        for path in [
            "/usr/lib/libmpi.so.40",
            "/opt/x/libmpich.so.12.2.0",
            "libmpi_abi.so.1",
            "/opt/cray/libmpi_gnu_91.so.12",
        ] {
            assert!(is_mpi_library(path.as_bytes()), "{path}");
        }
        for path in ["", "/usr/lib/libc.so.6", "/libmpi/libz.so.1", "libmpi.a"] {
            assert!(!is_mpi_library(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn names_are_found_in_the_row_of_all_names() {
        assert_eq!(Next::new(0).name().to_bytes()[..5], *b"PMPI_");
        assert_eq!(Next::new(1).name().to_bytes()[..4], *b"MPI_");
        assert!(Next::new(u32::MAX).name().is_empty());
    }

    #[test]
    fn a_name_that_nobody_defines_is_not_found() {
        assert!(find(c"MPI_Treepie_has_no_such_procedure").is_none());
        assert!(find(c"getpid").is_some());
    }
}
