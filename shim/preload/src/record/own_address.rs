//! Where each thread's record is, in a variable of the thread that is read by two
//! instructions. `thread_local!` asks a function of the linker's in a shared library, at each
//! counted call: it must serve libraries that are loaded later, which a preloaded one
//! is not.

use super::thread::Thread;

/// The variable has its place relative to the thread (the ABI's *initial exec*) when
/// the process starts.
#[cfg(target_arch = "x86_64")]
mod variable {
    use super::Thread;
    use std::arch::{asm, global_asm};

    global_asm!(
        ".pushsection .tbss.treepie_own_record, \"awT\", @nobits",
        ".balign 8",
        ".globl treepie_own_record",
        ".hidden treepie_own_record",
        ".type treepie_own_record, @tls_object",
        ".size treepie_own_record, 8",
        "treepie_own_record:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub fn get() -> *mut Thread {
        let address: *mut Thread;
        // SAFETY: reads a variable of this thread that is there as long as the thread.
        unsafe {
            asm!(
                "mov {address}, qword ptr [rip + treepie_own_record@GOTTPOFF]",
                "mov {address}, qword ptr fs:[{address}]",
                address = out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }

    pub fn set(address: *mut Thread) {
        // SAFETY: as above; nobody else writes it.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + treepie_own_record@GOTTPOFF]",
                "mov qword ptr fs:[{place}], {address}",
                place = out(reg) _,
                address = in(reg) address,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Elsewhere the address is always looked up.
#[cfg(not(target_arch = "x86_64"))]
mod variable {
    use super::Thread;

    pub fn get() -> *mut Thread {
        std::ptr::null_mut()
    }

    pub fn set(_address: *mut Thread) {}
}

pub use variable::{get, set};
