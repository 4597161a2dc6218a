//! Process set of the substituted world.

use std::ffi::{CStr, c_char};

use treepie_mpi::native::native;
use treepie_mpi::{Group, SUCCESS, Word, c_int};
use treepie_record as record;

use super::substitution::process_of_rank;

/// `MPI_Group_from_session_pset`: the process set `mpi://WORLD` has the order of
/// the application's world, not the launcher's.
///
/// # Safety
/// The caller keeps the contract of `MPI_Group_from_session_pset`.
pub unsafe fn group_from_session_pset(
    next: unsafe extern "C-unwind" fn(Word, Word, Word) -> c_int,
    session: Word,
    name: Word,
    group: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    let code = record::quietly(|| unsafe { next(session, name, group) });
    let (Some(native), Some(process_of_rank)) = (native(), process_of_rank()) else {
        return code;
    };
    if code != SUCCESS || name == 0 {
        return code;
    }
    // SAFETY: the call succeeded, so that `name` is a string that ends in NUL, and `group` holds a
    // group that the caller owns.
    unsafe {
        if CStr::from_ptr(name as *const c_char) != c"mpi://WORLD" {
            return code;
        }
        let launched: Group = native.read_handle(group);
        if let Ok(ordered) = native.include(launched, &process_of_rank.raw) {
            native.write_handle(group, ordered);
            native.free_group(launched);
        }
    }
    code
}
