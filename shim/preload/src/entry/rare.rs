//! Entry points of procedures that not every MPI has. They must be there where
//! the MPI has the procedure, and absent where it has not: programs find out by
//! `dlsym` or weak references what they may call (mpi4py does), and an entry point
//! that is always there would make them call what the MPI can't do.
//!
//! The symbols are functions in the file, and become indirect functions
//! (`STT_GNU_IFUNC`) before the process loads or looks up anything by itself: from then on
//! the dynamic linker asks a resolver for the address each time that it binds the name, and
//! the resolver says none where no MPI that is loaded has it. So `dlopen` is an entry point
//! too, which goes on to the linker's own.
//!
//! What a process starts with is given the entry point: it was linked to the MPI and names
//! what it has. An indirect function would come too early there: the linker writes a line
//! of warning (`Relink ...`) for each that it binds before it has relocated this library,
//! as for an MPI library that is linked with `-z now`, or everywhere with `LD_BIND_NOW`.

use super::next::Next;
use crate::mpi::Word;
#[cfg(target_arch = "x86_64")]
pub use indirect::become_indirect;

#[cfg(target_arch = "x86_64")]
mod indirect {
    use std::ffi::c_void;
    use std::ops::Range;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::AtomicPtr;

    use crate::entry::linker::{Answer, goes_on_by_a_jump, of_the_linker};
    use crate::mpi::elf;

    /// Where the resolver starts in an entry point that is a function in the file.
    const RESOLVER: u64 = 16;

    /// The section that the entry points are in, by the linker's own names for its ends.
    /// Empty in a program of tests that is linked without them.
    fn entry_points() -> Range<usize> {
        let (start, end): (usize, usize);
        // SAFETY: two addresses are computed, and nothing else.
        unsafe {
            std::arch::asm!(
                ".weak __start_treepie_rare",
                ".weak __stop_treepie_rare",
                ".hidden __start_treepie_rare",
                ".hidden __stop_treepie_rare",
                "lea {start}, [rip + __start_treepie_rare]",
                "lea {end}, [rip + __stop_treepie_rare]",
                start = out(reg) start,
                end = out(reg) end,
                options(nomem, nostack, preserves_flags, pure),
            );
        }
        start..end
    }

    /// Makes this library's rare entry points indirect functions, once. Where the kernel
    /// does not let their symbols be written, they stay what they are.
    pub fn become_indirect() {
        static DONE: Once = Once::new();
        DONE.call_once(|| {
            let rare = entry_points();
            elf::in_objects(|info| {
                elf::segment_in(info, rare.start)?;
                let base = info.dlpi_addr;
                // SAFETY: this library stays mapped. Who would read these symbols meanwhile
                // is a thread that binds a procedure of MPI, beside the one that opens or
                // looks up the process's first object; MPI's own start does both.
                unsafe {
                    elf::rewrite_symbols(info, |symbol| {
                        if rare.contains(&((base + symbol.st_value) as usize)) {
                            symbol.st_info = symbol.st_info & 0xf0 | elf::STT_GNU_IFUNC;
                            symbol.st_value += RESOLVER;
                        }
                    });
                }
                Some(())
            });
        });
    }

    goes_on_by_a_jump!(
        /// `dlopen`. Who calls it decides where libraries are searched.
        dlopen,
        before_opening
    );

    extern "C" fn before_opening() -> Answer {
        static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
        become_indirect();
        Answer {
            next: of_the_linker(c"dlopen", &NEXT),
            found: ptr::null_mut(),
        }
    }
}

/// The address that a name is bound to: the entry point, or none.
pub extern "C" fn resolve(next: &Next, entry: Word) -> Word {
    match next.get() {
        Some(_) => entry,
        None => 0,
    }
}

/// Defines `$name` as a function that goes on to `$entry`, with the resolver of the
/// indirect function that it becomes 16 bytes behind.
#[cfg(target_arch = "x86_64")]
macro_rules! rare_entry_point {
    ($name:ident, $table:ident, $index:literal, $entry:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = "treepie_rare")]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "3:",
                "jmp {entry}",
                ".org 3b + 16",
                "lea rsi, [rip + {entry}]",
                "lea rdi, [rip + {table} + {offset}]",
                "jmp {resolve}",
                entry = sym $entry,
                table = sym $table,
                offset = const $index * std::mem::size_of::<Next>(),
                resolve = sym $crate::entry::rare::resolve,
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
