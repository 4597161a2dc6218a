//! Unwinder functions that compiled Rust calls, forwarded to the process's own unwinder.
//!
//! A C++ exception that an error handler throws passes through the entry points. Their frames are
//! read by the unwinder that came with the C++ library, whose contexts no other unwinder can read:
//! one linked into this library would take them for its own. If this library were linked to the
//! shared one, every process that inherits `LD_PRELOAD` would load it, which takes as long as
//! loading everything else together.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use treepie_mpi::Word;
use treepie_process::log;

/// Name under which the C library also loads it.
const SHARED_UNWINDER: &CStr = c"libgcc_s.so.1";

/// Defines functions of up to three words, each of which forwards to the process's own.
macro_rules! forwarded {
    ($($name:ident)+) => { $(
        #[allow(non_snake_case)]
        mod $name {
            use super::*;

            pub(super) static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

            unsafe extern "C-unwind" fn forward(a: Word, b: Word, c: Word) -> Word {
                const NAME: &str = concat!(stringify!($name), "\0");
                let next = match NEXT.load(Ordering::Relaxed) {
                    unknown if unknown.is_null() => look_up(NAME, &NEXT),
                    next => next,
                };
                // SAFETY: the function of this name, with the caller's arguments: it has at most
                // three, each a word or less, and surplus arguments are in registers.
                unsafe { std::mem::transmute::<*mut c_void, Function>(next)(a, b, c) }
            }

            // Hidden, so that no other object finds it.
            std::arch::global_asm!(
                concat!(".globl ", stringify!($name)),
                concat!(".hidden ", stringify!($name)),
                concat!(".type ", stringify!($name), ", @function"),
                concat!(stringify!($name), ":"),
                "jmp {forward}",
                forward = sym forward,
            );
        }
    )+ };
}

type Function = unsafe extern "C-unwind" fn(Word, Word, Word) -> Word;

forwarded! {
    _Unwind_Backtrace
    _Unwind_DeleteException
    _Unwind_FindEnclosingFunction
    _Unwind_GetCFA
    _Unwind_GetDataRelBase
    _Unwind_GetIP
    _Unwind_GetIPInfo
    _Unwind_GetLanguageSpecificData
    _Unwind_GetRegionStart
    _Unwind_GetTextRelBase
    _Unwind_RaiseException
    _Unwind_Resume
    _Unwind_SetGR
    _Unwind_SetIP
}

/// Returns the address of an unwinder function; loads the unwinder if the process has none.
#[cold]
fn look_up(name: &str, known: &AtomicPtr<c_void>) -> *mut c_void {
    // SAFETY: texts that end in NUL, and a handle that the linker gave.
    let found = unsafe {
        match libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) {
            absent if absent.is_null() => {
                let library = libc::dlopen(SHARED_UNWINDER.as_ptr(), libc::RTLD_NOW);
                libc::dlsym(library, name.as_ptr().cast())
            }
            found => found,
        }
    };
    if found.is_null() {
        log::error("this process has no libgcc_s.so.1, without which an internal error ends it");
        std::process::abort();
    }
    known.store(found, Ordering::Relaxed);
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_is_caught_with_the_unwinder_of_the_process() {
        let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(7)));
        assert_eq!(
            caught.err().and_then(|panic| panic.downcast_ref().copied()),
            Some(7)
        );
        let next = super::_Unwind_RaiseException::NEXT.load(super::Ordering::Relaxed);
        assert!(!next.is_null(), "it was raised by another");
    }
}
