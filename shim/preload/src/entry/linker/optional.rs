//! Procedures that not every MPI has: symbols that are absent where the MPI lacks them.
//!
//! They are functions in the file, and become indirect functions (`STT_GNU_IFUNC`) before the
//! process makes its first explicit load or lookup: from then on the dynamic linker calls a
//! resolver each time that it binds the name.
//!
//! Objects that are present at process start are bound to the entry point: they were linked to the
//! MPI and only name procedures that it has. An indirect function would be too early for them: the
//! linker prints a warning (`Relink ...`) for each that it binds before it has relocated this
//! library, for example for an MPI library linked with `-z now`, or for all of them with
//! `LD_BIND_NOW`.

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

    /// Offset in bytes of the resolver within an entry point that is a function in the file.
    const RESOLVER: u64 = 16;

    /// Returns the address range of the section of entry points, whose ends have names that the
    /// linker defines. Empty in a test program that is linked without the section.
    fn entry_points() -> Range<usize> {
        let (start, end): (usize, usize);
        // SAFETY: only two addresses are computed.
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

    /// Turns this library's optional entry points into indirect functions, once. If the kernel does
    /// not allow writing to their symbols, they stay unchanged.
    pub fn become_indirect() {
        static DONE: Once = Once::new();
        DONE.call_once(|| {
            let optional = entry_points();
            elf::in_objects(|info| {
                elf::segment_in(info, optional.start)?;
                let base = info.dlpi_addr;
                // SAFETY: this library stays mapped. Only a thread that binds an MPI procedure
                // while another opens or looks up the process's first object could read these
                // symbols meanwhile; MPI's own start does both.
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
        /// `dlopen`. The caller's identity decides where libraries are searched.
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

/// Defines `$name` as a function that jumps to `$entry`. The resolver of the indirect function that
/// it becomes follows 16 bytes later; it returns the entry point's address, or null.
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

/// Fallback for other architectures: the entry point is always defined, and returns an error if the
/// MPI lacks the procedure.
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
