//! Attributes of the substituted world. What MPI itself sets (`MPI_TAG_UB`, ...)
//! is read from the host's world: Open MPI keeps it there only. What the
//! application sets lives on W', so that `MPI_Comm_dup` copies it.

use super::{Fortran, is_world, substitute};
use crate::api::abi::Family;
use crate::api::host::{abi, host};
use crate::api::{Word, c_int};
use crate::record;

fn is_predefined(keyval: c_int) -> bool {
    abi().is_some_and(|abi| abi.predefined.contains(keyval))
}

/// Where the attribute of `comm` is.
fn home(comm: Word, keyval: Word) -> Word {
    match is_world(comm) && is_predefined(keyval as c_int) {
        true => comm,
        false => substitute(comm),
    }
}

/// `MPI_Comm_get_attr` and `MPI_Attr_get`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_get_attr`.
pub unsafe fn get(
    next: unsafe extern "C" fn(Word, Word, Word, Word) -> c_int,
    comm: Word,
    keyval: Word,
    value: Word,
    flag: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world it stands for.
    record::quietly(|| unsafe { next(home(comm, keyval), keyval, value, flag) })
}

/// `MPII_Comm_get_attr`, the form that MPICH's Fortran layers call.
///
/// # Safety
/// The caller keeps the contract of `MPII_Comm_get_attr`.
pub unsafe fn get_of_kind(
    next: unsafe extern "C" fn(Word, Word, Word, Word, Word) -> c_int,
    comm: Word,
    keyval: Word,
    value: Word,
    flag: Word,
    kind: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world it stands for.
    record::quietly(|| unsafe { next(home(comm, keyval), keyval, value, flag, kind) })
}

/// `MPI_COMM_GET_ATTR` and `MPI_ATTR_GET` as Fortran calls them: by address.
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_get(
    next: unsafe extern "C" fn(Word, Word, Word, Word, Word) -> c_int,
    comm: Word,
    keyval: Word,
    value: Word,
    flag: Word,
    error: Word,
) -> c_int {
    // SAFETY: the caller's promise: `keyval` is the address of an INTEGER.
    unsafe {
        let room = match is_predefined(*(keyval as *const c_int)) {
            true => None,
            false => fortran_home(comm),
        };
        let comm = room
            .as_ref()
            .map_or(comm, |room| (&raw const *room) as Word);
        record::quietly(|| next(comm, keyval, value, flag, error))
    }
}

/// `MPI_COMM_SET_ATTR` and `MPI_ATTR_PUT` as Fortran calls them: by address.
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_set(
    next: unsafe extern "C" fn(Word, Word, Word, Word) -> c_int,
    comm: Word,
    keyval: Word,
    value: Word,
    error: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        let room = fortran_home(comm);
        let comm = room
            .as_ref()
            .map_or(comm, |room| (&raw const *room) as Word);
        record::quietly(|| next(comm, keyval, value, error))
    }
}

/// The Fortran handle to use where Open MPI's Fortran layer would find the world;
/// MPICH's calls C from there, and is substituted in C.
///
/// # Safety
/// `comm` is the address of an INTEGER.
unsafe fn fortran_home(comm: Word) -> Option<c_int> {
    let Fortran { world, replacement } = Fortran::handles()?;
    let concerned = host()?.abi.family == Family::OpenMpi;
    // SAFETY: the caller's promise.
    (concerned && unsafe { *(comm as *const c_int) } == world).then_some(replacement)
}
