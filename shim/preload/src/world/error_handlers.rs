//! Error handlers of the substituted world. Errors on types, requests and files are raised on the
//! native world, errors on communicators on W': a handler that is set on the world is set on both.
//! A handler receives the address of the communicator's handle, which must be `MPI_COMM_WORLD`,
//! never W'.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use treepie_mpi::abi::Family;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{AppComm, Comm, Errhandler, Handle, SUCCESS, Word, c_int};
use treepie_record as record;

use super::fortran::Fortran;
use super::substitution::{self, is_replacement, is_substituted, is_world, substitute};

/// `MPI_Comm_set_errhandler` and `MPI_Errhandler_set`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_set_errhandler`.
pub unsafe fn set(
    next: unsafe extern "C-unwind" fn(Comm, Errhandler) -> c_int,
    comm: AppComm,
    handler: Errhandler,
) -> c_int {
    record::quietly(|| {
        // SAFETY: the caller's promise; W' is as valid as the world that it replaces.
        unsafe {
            match next(comm.as_written(), handler) {
                SUCCESS if is_world(comm) => next(substitute(comm), handler),
                code => code,
            }
        }
    })
}

/// `MPI_Comm_call_errhandler`: the handler receives the native MPI's own world, as the program
/// expects.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_call_errhandler`.
pub unsafe fn call_handler(
    next: unsafe extern "C-unwind" fn(Comm, Word) -> c_int,
    comm: AppComm,
    code: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    record::quietly(|| unsafe { next(comm.as_written(), code) })
}

/// `MPI_Comm_create_errhandler` and `MPI_Errhandler_create`: the native MPI gets a function of this
/// library that calls the application's with the handle that it expects.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_create_errhandler`.
pub unsafe fn create(
    next: unsafe extern "C-unwind" fn(Word, Word) -> c_int,
    function: Word,
    handler: Word,
) -> c_int {
    let function = match is_substituted() {
        true => stand_in(function),
        false => function,
    };
    // SAFETY: the caller's promise; a stand-in has the same calling convention as the function.
    record::quietly(|| unsafe { next(function, handler) })
}

/// `MPIX_Comm_create_errhandler_x`: the handler receives the communicator itself, and a state,
/// which can carry the application's function.
///
/// # Safety
/// The caller keeps the contract of `MPIX_Comm_create_errhandler_x`.
pub unsafe fn create_with_state(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word) -> c_int,
    function: Word,
    destructor: Word,
    state: Word,
    handler: Word,
) -> c_int {
    if !is_substituted() || function == 0 {
        // SAFETY: the caller's promise.
        return record::quietly(|| unsafe { next(function, destructor, state, handler) });
    }
    let application = Box::into_raw(Box::new(WithState {
        function,
        destructor,
        state,
    }));
    let ours = (
        call_with_state as *const c_void as Word,
        destroy_state as *const c_void as Word,
    );
    // SAFETY: the caller's promise; this library's functions are called like the application's, the
    // destructor once. An MPI whose call failed calls neither.
    unsafe {
        let code = record::quietly(|| next(ours.0, ours.1, application as Word, handler));
        if code != SUCCESS {
            drop(Box::from_raw(application));
        }
        code
    }
}

/// Arguments that the application gave `MPIX_Comm_create_errhandler_x`.
struct WithState {
    function: Word,
    destructor: Word,
    state: Word,
}

/// `MPIX_Comm_errhandler_function_x`.
unsafe extern "C-unwind" fn call_with_state(comm: Comm, code: Word, application: *const WithState) {
    // SAFETY: the state is the one that `create_with_state` made, and lives until it
    // is destroyed; the function is the application's, of this type.
    unsafe {
        let WithState {
            function, state, ..
        } = *application;
        let function =
            std::mem::transmute::<Word, unsafe extern "C-unwind" fn(Comm, Word, Word)>(function);
        function(substitution::as_application_sees(comm), code, state);
    }
}

/// `MPIX_Destructor_function`.
unsafe extern "C" fn destroy_state(application: *mut WithState) {
    // SAFETY: as above; the native MPI destroys a state once, when no communicator has the handler
    // any more.
    unsafe {
        let WithState {
            destructor, state, ..
        } = *Box::from_raw(application);
        if destructor != 0 {
            std::mem::transmute::<Word, unsafe extern "C" fn(Word)>(destructor)(state);
        }
    }
}

/// `MPI_COMM_CREATE_ERRHANDLER` and `MPI_ERRHANDLER_CREATE` as Fortran calls them: Open MPI's
/// bypass C, and pass a Fortran handle to their handlers. (MPICH's call C, where a handle is the
/// same number.)
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_create(
    next: unsafe extern "C-unwind" fn(Word, Word, Word) -> c_int,
    function: Word,
    handler: Word,
    error: Word,
) -> c_int {
    let concerned = native().is_some_and(|native| native.abi.family == Family::OpenMpi);
    let function = match concerned && is_substituted() {
        true => stand_in(function | FORTRAN),
        false => function,
    };
    // SAFETY: the caller's promise; a stand-in has the same calling convention as the function.
    record::quietly(|| unsafe { next(function, handler, error) })
}

/// Number of different handler functions that a program can have before one of them receives W'
/// instead of the world.
const STAND_INS: usize = 64;

/// Bit that marks, in the address of a function, a handler that receives a Fortran handle: no
/// address of a process has this bit.
const FORTRAN: Word = 1 << (Word::BITS - 1);

/// Handler functions of the application, each with a stand-in of the same index.
static FUNCTIONS: [AtomicUsize; STAND_INS] = [const { AtomicUsize::new(0) }; STAND_INS];

/// `MPI_Comm_errhandler_function`: the address of a communicator, the address of an error code, and
/// the MPI's additional arguments.
type StandIn = unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word, Word);

/// C has no closures: the compiler generates a stand-in for each index.
static TABLE: [StandIn; STAND_INS] = table();

macro_rules! stand_ins {
    ($($index:literal)*) => { [$(call::<$index>),*] };
}

const fn table() -> [StandIn; STAND_INS] {
    stand_ins!(
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60
        61 62 63
    )
}

/// Returns the stand-in of a handler function; the function itself if none is left. A known
/// function keeps its stand-in: handlers live as long as some communicator has them, so that
/// stand-ins are never freed.
fn stand_in(function: Word) -> Word {
    for (known, stand_in) in FUNCTIONS.iter().zip(TABLE) {
        let there = known.compare_exchange(0, function, Ordering::AcqRel, Ordering::Acquire);
        if there.is_ok() || there == Err(function) {
            return stand_in as *const c_void as Word;
        }
    }
    function & !FORTRAN
}

/// Calls the application's function `INDEX`, with the world if the native MPI passes W'.
unsafe extern "C-unwind" fn call<const INDEX: usize>(
    comm: Word,
    code: Word,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
) {
    let known = FUNCTIONS[INDEX].load(Ordering::Acquire);
    let function = known & !FORTRAN;
    // SAFETY: a stand-in is handed out for a handler function that the
    // application gave, which C declares with these two addresses and `...`.
    let function = unsafe {
        std::mem::transmute::<Word, unsafe extern "C-unwind" fn(Word, Word, ...)>(function)
    };
    let (mut world, mut fortran_world) = (Comm::ABSENT, 0);
    // SAFETY: the arguments are the native MPI's, or a handle like the one it gave.
    unsafe {
        let comm = match (known & FORTRAN, native()) {
            (0, Some(native)) => as_application_sees(native, comm, &mut world),
            (0, None) => comm,
            _ => Fortran::as_application_sees(comm, &mut fortran_world),
        };
        function(comm, code, a, b, c, d)
    }
}

/// Returns the address to pass: `room`, which holds the world, if `comm` holds W'.
///
/// # Safety
/// `comm` is the address of a communicator's handle, or 0.
unsafe fn as_application_sees(native: &Native, comm: Word, room: &mut Comm) -> Word {
    // SAFETY: the caller's promise.
    if comm == 0 || !is_replacement(unsafe { native.read_handle(comm) }) {
        return comm;
    }
    *room = native.world;
    std::ptr::from_mut(room) as Word
}
