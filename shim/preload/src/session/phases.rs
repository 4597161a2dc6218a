//! `MPI_Pcontrol`, which begins phases.

use treepie_mpi::{Word, c_int};
use treepie_record::phases;

/// `MPI_Pcontrol`. Its further arguments are defined by the tools that it is meant for: those in
/// registers are passed on.
///
/// # Safety
/// `next` is an `MPI_Pcontrol`.
pub unsafe fn control(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word) -> c_int,
    level: Word,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    e: Word,
) -> c_int {
    phases::set_level(level as c_int);
    // SAFETY: the caller's promise; a variadic function finds its arguments in the registers of
    // the others.
    unsafe { next(level, a, b, c, d, e) }
}
