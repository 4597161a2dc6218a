//! Entry points of procedures that not every MPI has. They must be there where
//! the MPI has the procedure, and absent where it has not: programs find out by
//! `dlsym` or weak references what they may call (mpi4py does), and an entry point
//! that is always there would make them call what the MPI can't do.
//!
//! The symbols are indirect functions (`STT_GNU_IFUNC`): the dynamic linker asks
//! a resolver for the address each time that it binds the name, and the resolver
//! says none where no MPI that is loaded has it.
//!
//! While a process starts, the linker may ask before this library can look
//! anything up. Then the entry point is given: programs that are bound that
//! early were linked to the MPI and name what it has.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Word;
use super::next::Next;

/// Whether this library has been initialised, and may be asked.
pub static READY: AtomicBool = AtomicBool::new(false);

extern "C" fn initialised() {
    READY.store(true, Ordering::Release);
}

/// Called by the dynamic linker when it has initialised this library; the one
/// thing that Treepie does in a process that never calls MPI.
#[used]
#[unsafe(link_section = ".init_array")]
static INITIALISER: extern "C" fn() = initialised;

/// The address that a name is bound to: the entry point, or none.
pub extern "C" fn resolve(next: &Next, entry: Word) -> Word {
    match next.get() {
        Some(_) => entry,
        None => 0,
    }
}

/// Defines `$name` as an indirect function: the code here is its resolver, which
/// runs before relocation when it runs early, and so refers to everything
/// relative to itself.
#[cfg(target_arch = "x86_64")]
macro_rules! rare_entry_point {
    ($name:ident, $table:ident, $index:literal, $entry:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                concat!(".type ", stringify!($name), ", @gnu_indirect_function"),
                "lea rsi, [rip + {entry}]",
                "cmp byte ptr [rip + {ready}], 0",
                "je 2f",
                "lea rdi, [rip + {table} + {offset}]",
                "jmp {resolve}",
                "2:",
                "mov rax, rsi",
                "ret",
                entry = sym $entry,
                ready = sym super::rare::READY,
                table = sym $table,
                offset = const $index * std::mem::size_of::<Next>(),
                resolve = sym super::rare::resolve,
            )
        }
    };
}

/// Elsewhere the entry point is always there, and returns an error where the MPI
/// lacks the procedure.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! rare_entry_point {
    ($name:ident, $table:ident, $index:literal, $entry:ident) => {
        std::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".set ", stringify!($name), ", {entry}"),
            entry = sym $entry,
        );
    };
}

pub(super) use rare_entry_point;
