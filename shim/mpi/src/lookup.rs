//! Lookup of functions and variables of the MPI library that this process has loaded, by name: the
//! next definition after this library's own, which is the MPI's or another tool's.

use std::ffi::{CStr, c_void};

use super::elf;

/// Returns the address of the function `name` after this library: in an object that was loaded
/// after it, or in an MPI library that was loaded outside of the global scope (Python loads
/// extension modules, and with them the MPI, `RTLD_LOCAL`).
pub fn find(name: &CStr) -> Option<*mut c_void> {
    find_from(libc::RTLD_NEXT, name)
}

/// Returns the address of the variable `name`. The search starts with the program: a program that
/// was linked to the MPI may hold the only live copy of a variable of the library (copy
/// relocation), and it precedes this library.
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

/// Returns the address of `name` in the first loaded object that has it and is an MPI library by
/// its file name.
fn find_in_mpi_libraries(name: &CStr) -> Option<*mut c_void> {
    // libmpi.so.40, libmpi.so.12, libmpich.so.12, libmpi_abi.so.1, libmpi_cray.so.12, ..., and the
    // libraries of Open MPI 6 behind two of these. These names only limit the search; the symbols
    // determine which MPI it is.
    let mut starts = ["libmpi", "libopen_mpi"].into_iter();
    starts.find_map(|start| find_in_library(start, name))
}

/// Returns the address of `name` in the first loaded library that has it, of those whose files'
/// names start with `start`.
pub fn find_in_library(start: &str, name: &CStr) -> Option<*mut c_void> {
    elf::in_objects(|info| {
        let is_one = is_library(elf::path(info), start);
        // SAFETY: the object stays mapped while the linker shows it.
        is_one.then(|| unsafe { elf::find(info, name) }).flatten()
    })
}

/// True if a library is loaded whose file's name starts with `start`.
pub fn is_loaded(start: &str) -> bool {
    elf::in_objects(|info| is_library(elf::path(info), start).then_some(())).is_some()
}

/// Libraries of Open MPI 4 to 6 whose functions are known.
const OPAL: [&str; 2] = ["libopen-pal.so.40", "libopen-pal.so.80"];

/// Returns the address of `name`, which is not an MPI name, in Open MPI's own library, if that has
/// a version in which its signature is known; or in another tool that precedes it.
pub fn find_in_opal(name: &CStr) -> Option<*mut c_void> {
    let mut libraries = OPAL.iter();
    let own = libraries.find_map(|library| find_in_library(library, name))?;
    Some(find(name).unwrap_or(own))
}

/// True if a path's file is a library whose name starts with `start`.
fn is_library(path: &[u8], start: &str) -> bool {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    file.starts_with(start.as_bytes()) && file.windows(3).any(|part| part == b".so")
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
            assert!(is_library(path.as_bytes(), "libmpi"), "{path}");
        }
        for path in ["", "/usr/lib/libc.so.6", "/libmpi/libz.so.1", "libmpi.a"] {
            assert!(!is_library(path.as_bytes(), "libmpi"), "{path}");
        }
    }

    #[test]
    fn a_hook_is_not_found_where_the_library_of_open_mpi_is_not_loaded() {
        assert!(find_in_library("libc.so", c"getpid").is_some());
        // Not even a name that others define.
        assert!(find_in_opal(c"getpid").is_none());
        assert!(find_in_opal(c"opal_progress_register").is_none());
    }

    #[test]
    fn a_name_that_nobody_defines_is_not_found() {
        assert!(find(c"MPI_Treepie_has_no_such_procedure").is_none());
        assert!(find(c"getpid").is_some());
    }
}
