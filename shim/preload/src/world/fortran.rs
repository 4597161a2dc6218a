//! Handles of the substituted world in Fortran.

use treepie_mpi::{Word, c_int};

use super::substitution::replacement;

/// Fortran handles of the world and of W'.
#[derive(Debug, Clone, Copy)]
pub struct Fortran {
    /// The Fortran handle of the native world.
    pub world: c_int,
    /// The Fortran handle of W'.
    pub replacement: c_int,
}

impl Fortran {
    /// Returns the handles while a world is substituted, if they are known.
    pub fn handles() -> Option<Fortran> {
        replacement()?.fortran
    }

    /// Returns the address to pass to a callback in Fortran: `room`, which holds the world, if
    /// `comm` holds W'.
    ///
    /// # Safety
    /// `comm` is the address of an INTEGER.
    pub unsafe fn as_application_sees(comm: Word, room: &mut c_int) -> Word {
        // SAFETY: the caller's promise.
        let handle = unsafe { *(comm as *const c_int) };
        match Fortran::handles() {
            Some(fortran) if fortran.replacement == handle => {
                *room = fortran.world;
                std::ptr::from_mut(room) as Word
            }
            _ => comm,
        }
    }
}
