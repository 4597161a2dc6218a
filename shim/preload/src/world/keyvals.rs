//! Callbacks of attributes. They receive the communicator that is copied or deleted, which must be
//! `MPI_COMM_WORLD`, never W'. The native MPI gets functions of this library, which find the
//! application's by the keyval that they receive.

use std::collections::BTreeMap;
use std::ffi::c_void;

use parking_lot::Mutex;
use treepie_mpi::abi::Family;
use treepie_mpi::native::native;
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_record as record;

use super::fortran::Fortran;
use super::substitution::{as_application_sees, is_substituted};

/// Callbacks of a keyval, and the proxies that call them in their language.
#[derive(Debug, Clone, Copy)]
struct Callbacks {
    copy: Word,
    delete: Word,
    /// MPICH's proxy for copy callbacks in languages other than C.
    copy_proxy: Word,
    /// MPICH's proxy for delete callbacks in languages other than C.
    delete_proxy: Word,
}

/// Callbacks of the keyvals that were created while a world is substituted. They outlive the
/// keyval, as its attributes may: the next keyval with the same number replaces them.
static KEYVALS: Mutex<BTreeMap<c_int, Callbacks>> = Mutex::new(BTreeMap::new());

fn callbacks(keyval: c_int) -> Option<Callbacks> {
    KEYVALS.lock().get(&keyval).copied()
}

fn remember(keyval: c_int, copy: Word, delete: Word) {
    let callbacks = Callbacks {
        copy,
        delete,
        copy_proxy: 0,
        delete_proxy: 0,
    };
    KEYVALS.lock().insert(keyval, callbacks);
}

/// Returns the function to give the native MPI instead of `function`: `MPI_NULL_COPY_FN` and the
/// like are small numbers in some MPIs, and stay unchanged.
fn stand_in(function: Word, ours: *const c_void) -> Word {
    match function < 4096 {
        true => function,
        false => ours as Word,
    }
}

/// Returns the error code for a callback that was not registered: an internal error.
fn unknown() -> c_int {
    native().map_or(1, |native| native.abi.err_intern)
}

/// Converts `address` to a function pointer.
macro_rules! function {
    ($address:expr, $($type:ty),*) => {
        std::mem::transmute::<Word, unsafe extern "C" fn($($type),*) -> c_int>($address)
    };
}

/// `MPI_Comm_create_keyval` and `MPI_Keyval_create`.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_create_keyval`.
pub unsafe fn create(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word) -> c_int,
    copy: Word,
    delete: Word,
    keyval: Word,
    extra: Word,
) -> c_int {
    if !is_substituted() {
        // SAFETY: the caller's promise.
        return record::quietly(|| unsafe { next(copy, delete, keyval, extra) });
    }
    let ours = (
        stand_in(copy, copy_attribute as *const c_void),
        stand_in(delete, delete_attribute as *const c_void),
    );
    // SAFETY: the caller's promise; this library's functions are called like the callbacks.
    unsafe {
        let code = record::quietly(|| next(ours.0, ours.1, keyval, extra));
        if code == SUCCESS {
            remember(*(keyval as *const c_int), copy, delete);
        }
        code
    }
}

/// `MPI_Comm_copy_attr_function`.
unsafe extern "C" fn copy_attribute(
    comm: Comm,
    keyval: Word,
    extra: Word,
    value: Word,
    copied: Word,
    flag: Word,
) -> c_int {
    let Some(callbacks) = callbacks(keyval as c_int) else {
        return unknown();
    };
    // SAFETY: the application's function for this keyval, with the arguments that MPI passes.
    unsafe {
        let copy = function!(callbacks.copy, Comm, Word, Word, Word, Word, Word);
        copy(
            as_application_sees(comm),
            keyval,
            extra,
            value,
            copied,
            flag,
        )
    }
}

/// `MPI_Comm_delete_attr_function`.
unsafe extern "C" fn delete_attribute(comm: Comm, keyval: Word, value: Word, extra: Word) -> c_int {
    let Some(callbacks) = callbacks(keyval as c_int) else {
        return unknown();
    };
    // SAFETY: the application's function for this keyval, with the arguments that MPI passes.
    unsafe {
        let delete = function!(callbacks.delete, Comm, Word, Word, Word);
        delete(as_application_sees(comm), keyval, value, extra)
    }
}

/// `MPII_Keyval_set_proxy`: MPICH's Fortran and C++ layers create a keyval as C does, with
/// functions of their language, and then set the proxies that must call these.
///
/// # Safety
/// The caller keeps the contract of `MPII_Keyval_set_proxy`.
pub unsafe fn set_proxies(
    next: unsafe extern "C-unwind" fn(Word, Word, Word) -> c_int,
    keyval: Word,
    copy_proxy: Word,
    delete_proxy: Word,
) -> c_int {
    let mut proxies = (copy_proxy, delete_proxy);
    if let Some(callbacks) = KEYVALS.lock().get_mut(&(keyval as c_int)) {
        callbacks.copy_proxy = copy_proxy;
        callbacks.delete_proxy = delete_proxy;
        proxies = (
            call_copy_proxy as *const c_void as Word,
            call_delete_proxy as *const c_void as Word,
        );
    }
    // SAFETY: the caller's promise; this library's proxies are called like theirs.
    unsafe { next(keyval, proxies.0, proxies.1) }
}

/// MPICH's proxy of a copy callback: takes the callback, then the callback's arguments with the
/// kind of the value among them.
unsafe extern "C" fn call_copy_proxy(
    _callback: Word,
    comm: Comm,
    keyval: Word,
    extra: Word,
    kind: Word,
    value: Word,
    copied: Word,
    flag: Word,
) -> c_int {
    let Some(callbacks) = callbacks(keyval as c_int) else {
        return unknown();
    };
    let comm = as_application_sees(comm);
    // SAFETY: the language's proxy for this keyval, with the application's
    // function and the arguments that MPI passes.
    unsafe {
        let proxy = function!(
            callbacks.copy_proxy,
            Word,
            Comm,
            Word,
            Word,
            Word,
            Word,
            Word,
            Word
        );
        proxy(
            callbacks.copy,
            comm,
            keyval,
            extra,
            kind,
            value,
            copied,
            flag,
        )
    }
}

/// MPICH's proxy of a delete callback.
unsafe extern "C" fn call_delete_proxy(
    _callback: Word,
    comm: Comm,
    keyval: Word,
    kind: Word,
    value: Word,
    extra: Word,
) -> c_int {
    let Some(callbacks) = callbacks(keyval as c_int) else {
        return unknown();
    };
    let comm = as_application_sees(comm);
    // SAFETY: as for the copy proxy.
    unsafe {
        let proxy = function!(callbacks.delete_proxy, Word, Comm, Word, Word, Word, Word);
        proxy(callbacks.delete, comm, keyval, kind, value, extra)
    }
}

/// `MPI_COMM_CREATE_KEYVAL` and `MPI_KEYVAL_CREATE` as Fortran calls them: Open MPI's bypass C.
/// (MPICH's call C, and are handled there.)
///
/// # Safety
/// The caller keeps the contract of the Fortran procedure.
pub unsafe fn fortran_create(
    next: unsafe extern "C-unwind" fn(Word, Word, Word, Word, Word) -> c_int,
    copy: Word,
    delete: Word,
    keyval: Word,
    extra: Word,
    error: Word,
) -> c_int {
    let concerned = native().is_some_and(|native| native.abi.family == Family::OpenMpi);
    if !concerned || Fortran::handles().is_none() {
        // SAFETY: the caller's promise.
        return record::quietly(|| unsafe { next(copy, delete, keyval, extra, error) });
    }
    let ours = (
        stand_in(copy, fortran_copy_attribute as *const c_void),
        stand_in(delete, fortran_delete_attribute as *const c_void),
    );
    // SAFETY: the caller's promise: `keyval` and `error` are addresses of INTEGERs, the latter or
    // 0; this library's functions are called like the callbacks.
    unsafe {
        let result = record::quietly(|| next(ours.0, ours.1, keyval, extra, error));
        if error == 0 || *(error as *const c_int) == SUCCESS {
            remember(*(keyval as *const c_int), copy, delete);
        }
        result
    }
}

/// `COMM_COPY_ATTR_FUNCTION`: all arguments by address.
unsafe extern "C" fn fortran_copy_attribute(
    comm: Word,
    keyval: Word,
    extra: Word,
    value: Word,
    copied: Word,
    flag: Word,
    error: Word,
) -> c_int {
    // SAFETY: Fortran's arguments are addresses of INTEGERs; the function is the
    // application's for this keyval.
    unsafe {
        let Some(callbacks) = callbacks(*(keyval as *const c_int)) else {
            return unknown();
        };
        let mut room = 0;
        let comm = Fortran::as_application_sees(comm, &mut room);
        let copy = function!(callbacks.copy, Word, Word, Word, Word, Word, Word, Word);
        copy(comm, keyval, extra, value, copied, flag, error)
    }
}

/// `COMM_DELETE_ATTR_FUNCTION`: all arguments by address.
unsafe extern "C" fn fortran_delete_attribute(
    comm: Word,
    keyval: Word,
    value: Word,
    extra: Word,
    error: Word,
) -> c_int {
    // SAFETY: as for the copy callback.
    unsafe {
        let Some(callbacks) = callbacks(*(keyval as *const c_int)) else {
            return unknown();
        };
        let mut room = 0;
        let comm = Fortran::as_application_sees(comm, &mut room);
        let delete = function!(callbacks.delete, Word, Word, Word, Word, Word);
        delete(comm, keyval, value, extra, error)
    }
}
