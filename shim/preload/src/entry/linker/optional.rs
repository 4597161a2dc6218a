//! Procedures that not every MPI has: symbols that are absent where the MPI lacks them.
//!
//! They are functions in the file, and become indirect functions (`STT_GNU_IFUNC`) before the
//! process loads or looks up anything by itself: from then on the dynamic linker calls a resolver
//! each time that it binds the name.
//!
//! What a process starts with is given the entry point: it was linked to the MPI and names
//! what it has. An indirect function would come too early there: the linker writes a line
//! of warning (`Relink ...`) for each that it binds before it has relocated this library,
//! as for an MPI library that is linked with `-z now`, or everywhere with `LD_BIND_NOW`.

#[cfg(target_arch = "x86_64")]
pub use indirect::become_indirect;

#[cfg(target_arch = "x86_64")]
mod indirect {
    use std::ffi::c_void;
    use std::ops::Range;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::AtomicPtr;

    use crate::entry::linker::jump::{Answer, goes_on_by_a_jump, of_the_linker};
    use treepie_mpi::elf;

    /// Where the resolver starts in an entry point that is a function in the file.
    const RESOLVER: u64 = 16;

    /// The section that the entry points are in, by the linker's own names for its ends.
    /// Empty in a program of tests that is linked without them.
    fn entry_points() -> Range<usize> {
        let (start, end): (usize, usize);
        // SAFETY: two addresses are computed, and nothing else.
        unsafe {
            std::arch::asm!(
                ".weak __start_treepie_optional",
                ".weak __stop_treepie_optional",
                ".hidden __start_treepie_optional",
                ".hidden __stop_treepie_optional",
                "lea {start}, [rip + __start_treepie_optional]",
                "lea {end}, [rip + __stop_treepie_optional]",
                start = out(reg) start,
                end = out(reg) end,
                options(nomem, nostack, preserves_flags, pure),
            );
        }
        start..end
    }

    /// Makes this library's optional entry points indirect functions, once. Where the kernel
    /// does not let their symbols be written, they stay what they are.
    pub fn become_indirect() {
        static DONE: Once = Once::new();
        DONE.call_once(|| {
            let optional = entry_points();
            elf::in_objects(|info| {
                elf::segment_in(info, optional.start)?;
                let base = info.dlpi_addr;
                // SAFETY: this library stays mapped. Who would read these symbols meanwhile
                // is a thread that binds a procedure of MPI, beside the one that opens or
                // looks up the process's first object; MPI's own start does both.
                unsafe {
                    elf::rewrite_symbols(info, |symbol| {
                        if optional.contains(&((base + symbol.st_value) as usize)) {
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

/// Defines `$name` as a function that goes on to `$entry`, with the resolver of the indirect
/// function that it becomes 16 bytes behind: the address of the entry point, or none.
#[cfg(target_arch = "x86_64")]
macro_rules! optional_symbol {
    ($name:ident $next:ident $entry:ident) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = "treepie_optional")]
        unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "3:",
                "jmp {entry}",
                ".org 3b + 16",
                "jmp {resolve}",
                entry = sym $entry,
                resolve = sym resolve,
            )
        }

        extern "C" fn resolve() -> Word {
            $next.get().map_or(0, |_| $entry as *const () as Word)
        }
    };
}

/// Elsewhere the entry point is always there, and returns an error where the MPI
/// lacks the procedure.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! optional_symbol {
    ($name:ident $next:ident $entry:ident) => {
        std::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".set ", stringify!($name), ", {entry}"),
            entry = sym $entry,
        );
    };
}

pub(crate) use optional_symbol;
