//! Attributes of the substituted world. Attributes that MPI itself sets (`MPI_TAG_UB`, ...) are
//! read from the native world: Open MPI keeps them only there. Attributes that the application sets
//! live on W', so that `MPI_Comm_dup` copies them.

use treepie_mpi::abi::Family;
use treepie_mpi::native::{Native, NativeError, abi, native};
use treepie_mpi::{AppComm, Comm, SUCCESS, Word, c_int};
use treepie_record as record;

use super::fortran::Fortran;
use super::substitution::{is_world, replacement, substitute};

/// Lets duplicates of W' inherit the attributes that MPI set on the native world; returns the
/// keyval of a mark on W' that `MPI_Comm_dup` copies. Under Open MPI, a duplicate of the world has
/// the attributes that MPI set there, and a duplicate of W' would not; other MPIs need no mark.
///
/// # Errors
/// A native call that failed.
pub fn prepare(native: &Native, replaced: Comm) -> Result<Option<c_int>, NativeError> {
    if !native.is_open_mpi {
        return Ok(None);
    }
    let mark = native.new_mark()?;
    native.set_attribute(replaced, mark)?;
    Ok(Some(mark))
}

/// True if `comm`, a live communicator, descends from the world by `MPI_Comm_dup` and would have
/// the attribute that MPI set there. (Open MPI keeps `MPI_LASTUSEDCODE` differently: no duplicate
/// has it.)
fn inherits(native: &Native, comm: Comm, keyval: c_int) -> bool {
    let mark = replacement().and_then(|replacement| replacement.mark);
    is_predefined(keyval)
        && keyval != native.abi.predefined.last_used_code
        && mark.is_some_and(|mark| native.has_attribute(comm, mark))
}

fn is_predefined(keyval: c_int) -> bool {
    abi().is_some_and(|abi| abi.predefined.contains(keyval))
}

/// Returns the communicator that holds the attribute of `comm`.
fn home(comm: AppComm, keyval: Word) -> Comm {
    match is_world(comm) && is_predefined(keyval as c_int) {
        true => comm.as_written(),
        false => substitute(comm),
    }
}

/// `MPI_Comm_get_attr` and `MPI_Attr_get`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_get_attr`.
pub unsafe fn get(
    next: unsafe extern "C-unwind" fn(Comm, Word, Word, Word) -> c_int,
    comm: AppComm,
    keyval: Word,
    value: Word,
    flag: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world that it replaces. A call that
    // succeeds has set the flag.
    unsafe {
        let code = record::quietly(|| next(home(comm, keyval), keyval, value, flag));
        match native() {
            Some(native)
                if code == SUCCESS
                    && *(flag as *const c_int) == 0
                    && inherits(native, comm.as_written(), keyval as c_int) =>
            {
                record::quietly(|| next(native.world, keyval, value, flag))
            }
            _ => code,
        }
    }
}

/// `MPII_Comm_get_attr`, which MPICH's Fortran layers call.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_get_attr`.
pub unsafe fn get_of_kind(
    next: unsafe extern "C-unwind" fn(Comm, Word, Word, Word, Word) -> c_int,
    comm: AppComm,
    keyval: Word,
    value: Word,
    flag: Word,
    kind: Word,
) -> c_int {
    // SAFETY: the caller's promise; W' is as valid as the world that it replaces.
    record::quietly(|| unsafe { next(home(comm, keyval), keyval, value, flag, kind) })
}

/// `MPI_COMM_GET_ATTR` and `MPI_ATTR_GET` as Fortran calls them, with arguments by address.
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_get(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word) -> c_int,
    comm: Word,
    keyval: Word,
    value: Word,
    flag: Word,
    error: Word,
) -> c_int {
    // SAFETY: the caller's promise: `keyval`, `flag` and, if it is given, `error` are addresses of
    // INTEGERs.
    unsafe {
        let keyval_number = *(keyval as *const c_int);
        let room = match is_predefined(keyval_number) {
            true => None,
            false => fortran_home(comm),
        };
        let asked = room
            .as_ref()
            .map_or(comm, |room| (&raw const *room) as Word);
        let code = record::quietly(|| next(asked, keyval, value, flag, error));
        let failed = error != 0 && *(error as *const c_int) != SUCCESS;
        if !failed
            && *(flag as *const c_int) == 0
            && let (Some(handles), Some(native)) = (Fortran::handles(), native())
            && let Some(comm) = native.of_fortran_handle(*(comm as *const c_int))
            && inherits(native, comm, keyval_number)
        {
            let world = (&raw const handles.world) as Word;
            return record::quietly(|| next(world, keyval, value, flag, error));
        }
        code
    }
}

/// `MPI_COMM_SET_ATTR` and `MPI_ATTR_PUT` as Fortran calls them, with arguments by address.
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_set(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word) -> c_int,
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

/// Returns the Fortran handle to use in place of the world in Open MPI's Fortran layer; MPICH's
/// calls C from there, and is substituted in C.
///
/// # Safety
/// `comm` is the address of an INTEGER.
unsafe fn fortran_home(comm: Word) -> Option<c_int> {
    let Fortran { world, replacement } = Fortran::handles()?;
    let concerned = native()?.abi.family == Family::OpenMpi;
    // SAFETY: the caller's promise.
    (concerned && unsafe { *(comm as *const c_int) } == world).then_some(replacement)
}
