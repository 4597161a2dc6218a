//! Hooks into the dynamic linker: entry points of its functions `dlsym` and `dlopen`, symbols of
//! this library that it must find only if the MPI has them, and the unwinder. They ensure that a
//! program sees the MPI that it has, and sees it through this library; none of them is needed for
//! speed.
//!
//! ```text
//! dlsym(handle, "MPI_X")     Julia's ccall and Python's ctypes use the MPI's own handle, not this
//!       |                    library's: the call would bypass this library (dlsym)
//!       v
//! our dlsym: answer          MPI's names are answered with the entry point, if its successor is
//!       |                    the one that the linker finds; otherwise with the linker's answer
//!       | jump               RTLD_NEXT and RTLD_DEFAULT are relative to the caller, which the
//!       v                    linker identifies by the return address: it stays on the stack
//! the linker's dlsym
//!
//! dlsym(h, "MPI_New"), weak  mpi4py tests so whether the MPI has a procedure: a symbol of this
//! reference to MPI_New       library that is always defined would answer yes (optional)
//!       |
//!       v
//! our symbol MPI_New         an indirect function: the linker calls its resolver for the address,
//!       |                    which is null if no MPI has the procedure
//!       v
//! entry point, or null       It is made indirect before the first dlopen or dlsym of the process,
//!                            not earlier: therefore `dlopen` is an entry point too
//! ```
//!
//! No compiler generates tail jumps that preserve the return address, or symbols that change their
//! type: these are written for x86-64 only. On other architectures `dlsym` and `dlopen` are the
//! linker's, optional procedures are always defined, and the library is linked to `libgcc_s.so.1`.

#[cfg(target_arch = "x86_64")]
mod dlsym;
mod optional;
#[cfg(target_arch = "x86_64")]
mod unwinder;

pub(super) use optional::optional_symbol;

#[cfg(target_arch = "x86_64")]
mod jump {
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
        let found = versions.map(|version| unsafe {
            libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr())
        });
        let found = found.into_iter().find(|address| !address.is_null());
        let found = found.unwrap_or(ptr::null_mut());
        known.store(found, Ordering::Relaxed);
        found
    }
}
