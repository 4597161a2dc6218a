//! Datatypes and reductions that the application frees while an operation uses them: MPI keeps what
//! stands behind the handle until then (MPI 4.1, 6.12), and so do we.

use parking_lot::Mutex;

use super::requests::{are_none, use_handle};
use crate::mpi::native::{Freed, Native, native};
use crate::mpi::{SUCCESS, Word, c_int};
use crate::record::handle_at;

/// What was freed by the application alone: a handle, and what frees it.
struct Kept {
    handle: Word,
    free: fn(&Native, Word),
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The object whose handle is at `address` is freed by `next`, or later.
pub fn release<H: Freed>(address: Word, next: impl FnOnce() -> c_int) -> c_int {
    if are_none() {
        return next();
    }
    let Some(native) = native() else {
        return next();
    };
    let handle: H = native.plain(handle_at(address));
    if !use_handle(handle.word()) {
        return next();
    }
    let kept = Kept {
        handle: handle.word(),
        free: free::<H>,
    };
    KEPT.lock().push(kept);
    // SAFETY: the application's call has a handle there.
    unsafe { native.write_handle(address, H::null(native)) };
    SUCCESS
}

fn free<H: Freed>(native: &Native, handle: Word) {
    // SAFETY: the word is a handle of this type, as `release` was given it.
    unsafe { H::from_word(handle) }.free(native);
}

/// An operation is no more: what none uses any more is freed.
pub fn settle(native: &Native) {
    let unused: Vec<Kept> = {
        let mut kept = KEPT.lock();
        let is_unused = |one: &mut Kept| !use_handle(one.handle);
        kept.extract_if(.., is_unused).collect()
    };
    for Kept { handle, free } in unused {
        free(native, handle);
    }
}
