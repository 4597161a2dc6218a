//! The room of the dynamic linker: entry points of its own functions, `dlsym` and `dlopen`,
//! symbols of ours that it must not always find, and the unwinder. All of it is there so that a
//! program sees the MPI that it has, and sees it through this library; none of it is there for
//! speed.
//!
//! ```text
//! dlsym(handle, "MPI_X")     Julia's ccall and Python's ctypes ask the MPI's own handle, which is not
//!       |                    ours: the call would go round this library (dlsym)
//!       v
//! our dlsym: answer          MPI's names are answered with our entry point, where that one goes on to
//!       |                    the very function that the linker finds; all else is the linker's answer
//!       | jump               RTLD_NEXT and RTLD_DEFAULT mean what they do for the caller, whom the
//!       v                    linker knows by the return address: so it stays on the stack
//! the linker's dlsym
//!
//! dlsym(h, "MPI_New"), weak  Whether the MPI has a procedure, mpi4py finds out so: a symbol of ours
//! reference to MPI_New       that is always there would say yes for all (optional)
//!       |
//!       v
//! our symbol MPI_New         an indirect function: the linker asks its resolver for the address, which
//!       |                    is none where no MPI has the procedure
//!       v
//! entry point, or null       It is made indirect before the first dlopen or dlsym of the process, no
//!                            earlier: therefore `dlopen` is an entry point too
//! ```
//!
//! Jumps that leave the return address alone, and symbols that change, no compiler makes: x86-64
//! only. Elsewhere `dlsym` and `dlopen` are the linker's, optional procedures are always there, and
//! the library is linked to `libgcc_s.so.1`.

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

    /// What an entry point does: goes on to `next`, unless that is null; then `found` is
    /// the answer.
    #[repr(C)]
    pub struct Answer {
        /// The linker's own function.
        pub next: *mut c_void,
        /// What is answered without it.
        pub found: *mut c_void,
    }

    /// Defines a function of up to two arguments that calls `$answer`, which has the same
    /// arguments or none, and goes on by a jump.
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

    /// The linker's own function `name`, behind this library's, kept in `known`; null where it
    /// has none.
    pub fn of_the_linker(name: &CStr, known: &AtomicPtr<c_void>) -> *mut c_void {
        let address = known.load(Ordering::Relaxed);
        if !address.is_null() {
            return address;
        }
        // glibc's since 2.34, and before.
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
