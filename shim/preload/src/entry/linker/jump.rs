//! Entry points that continue in the linker's own function by a jump.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Action of an entry point: it jumps to `next`, unless that is null; then it returns `found`.
#[repr(C)]
pub struct Answer {
    /// The linker's own function.
    pub next: *mut c_void,
    /// Result that is returned instead.
    pub found: *mut c_void,
}

/// Defines a function of up to two arguments that calls `$answer`, with the same arguments or
/// none, and continues with a tail jump.
macro_rules! goes_on_by_a_jump {
    ($(#[$documentation:meta])* $name:ident, $answer:ident) => {
        $(#[$documentation])*
        #[unsafe(naked)]
        #[cfg_attr(not(sanitized), unsafe(no_mangle))]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "push rdi",
                "push rsi",
                "sub rsp, 8",
                "call {answer}",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                "test rax, rax",
                "je 2f",
                "jmp rax",
                "2:",
                "mov rax, rdx",
                "ret",
                answer = sym $answer,
            )
        }
    };
}

pub(super) use goes_on_by_a_jump;

/// Returns the linker's function `name` that follows this library's, cached in `known`; null if
/// there is none.
pub fn of_the_linker(name: &CStr, known: &AtomicPtr<c_void>) -> *mut c_void {
    let address = known.load(Ordering::Relaxed);
    if !address.is_null() {
        return address;
    }
    // Versions since glibc 2.34, and before.
    let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5"];
    // SAFETY: texts that end in NUL; the linker only reads them.
    let found = versions
        .map(|version| unsafe { libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) });
    let found = found.into_iter().find(|address| !address.is_null());
    let found = found.unwrap_or(ptr::null_mut());
    known.store(found, Ordering::Relaxed);
    found
}
