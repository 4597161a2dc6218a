//! `dlsym`, which answers MPI's names with entry points. A program that makes some calls through a
//! handle and is linked for others (mpi4py beside a package that loads the MPI separately) would
//! otherwise see two worlds in a replay. If another tool is stacked in between, or the process has
//! two MPIs, the linker's answer is passed on.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;

use treepie_mpi::elf;
use treepie_mpi::lookup::find;

use super::jump::{Answer, goes_on_by_a_jump, of_the_linker};
use super::optional::become_indirect;

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

goes_on_by_a_jump!(
    /// `dlsym`. The caller's identity decides the meaning of `RTLD_NEXT` and `RTLD_DEFAULT`.
    dlsym,
    answer
);

/// Returns the `dlsym` behind this one.
fn next_dlsym() -> *mut c_void {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    of_the_linker(c"dlsym", &NEXT)
}

/// Decides how a call of `dlsym` is answered.
unsafe extern "C" fn answer(handle: *mut c_void, name: *const c_char) -> Answer {
    let next = next_dlsym();
    let goes_on = Answer {
        next,
        found: ptr::null_mut(),
    };
    if next.is_null() || name.is_null() {
        return goes_on;
    }
    // SAFETY: the caller of `dlsym` gives a text that ends in NUL.
    let name = unsafe { CStr::from_ptr(name) };
    if !is_procedure(name) {
        return goes_on;
    }
    become_indirect();
    if handle == libc::RTLD_NEXT || handle == libc::RTLD_DEFAULT {
        return goes_on;
    }
    let behind = own_entry(name).zip(find(name));
    // SAFETY: the linker's `dlsym`, with a handle and a text that are the caller's. It is called
    // last, so that `dlerror` reports on this call.
    let found = unsafe {
        let next = std::mem::transmute::<*mut c_void, Dlsym>(next);
        match next(handle, name.as_ptr()) {
            // One of this library's names that no MPI has: the linker finds a null pointer and
            // reports no error.
            found if found.is_null() => next(libc::RTLD_NEXT, name.as_ptr()),
            found => found,
        }
    };
    let found = match behind {
        Some((entry, behind)) if behind == found => entry,
        _ => found,
    };
    Answer {
        next: ptr::null_mut(),
        found,
    }
}

fn is_procedure(name: &CStr) -> bool {
    let starts = [&b"MPI_"[..], b"PMPI_", b"MPIX_", b"PMPIX_"];
    starts
        .iter()
        .any(|start| name.to_bytes().starts_with(start))
}

/// Returns this library's entry point of this name.
fn own_entry(name: &CStr) -> Option<*mut c_void> {
    let own = answer as *const () as usize;
    elf::in_objects(|info| {
        let is_own = elf::segment_in(info, own).is_some();
        // SAFETY: this library stays mapped.
        is_own.then(|| unsafe { elf::find(info, name) })
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_mpis_go_on_to_the_linker() {
        // SAFETY: the program's own handle, and texts that end in NUL.
        unsafe {
            let program = libc::dlopen(ptr::null(), libc::RTLD_LAZY);
            let here = libc::dlsym(program, c"getpid".as_ptr());
            let next = std::mem::transmute::<*mut c_void, Dlsym>(next_dlsym());
            assert!(!here.is_null());
            assert_eq!(here, next(program, c"getpid".as_ptr()));
        }
    }

    #[test]
    fn a_procedure_that_nobody_has_is_an_error_of_the_linkers() {
        // SAFETY: as above; `dlerror` gives a text that lives until the next error.
        unsafe {
            let program = libc::dlopen(ptr::null(), libc::RTLD_LAZY);
            let name = c"MPI_Treepie_has_no_such_procedure";
            assert!(libc::dlsym(program, name.as_ptr()).is_null());
            let error = CStr::from_ptr(libc::dlerror()).to_string_lossy();
            assert!(error.contains("no_such_procedure"), "{error}");
        }
    }
}
