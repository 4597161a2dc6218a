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
#[cfg(target_arch = "x86_64")]
mod jump;
mod optional;
#[cfg(target_arch = "x86_64")]
mod unwinder;

pub(super) use optional::optional_symbol;
