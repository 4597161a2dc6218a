//! Datatypes and reductions that the application frees while an operation uses them: MPI keeps the
//! object behind the handle until then (MPI 4.1, 6.12), and so does this library.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use treepie_mpi::native::{Freed, Native, native};
use treepie_mpi::{HandleAddress, SUCCESS, Word, c_int};

use super::open::{are_none, use_handle};
use super::running::Running;

/// Object that only the application has freed: its handle, and the function that frees it.
struct FreedObject {
    handle: Word,
    free: Box<dyn FnOnce(&Native) + Send>,
}

static KEPT: Mutex<Vec<FreedObject>> = Mutex::new(Vec::new());

/// Operations that have ended, which may hold objects of the MPI, and a flag that is set if there
/// are any.
static ENDED: Mutex<Vec<Arc<Running>>> = Mutex::new(Vec::new());
static HAVE_ENDED: AtomicBool = AtomicBool::new(false);

/// Ends an operation. Objects that only it used are freed in [`settle`]: here the native MPI may be
/// about to free the request, and MPICH 4.0 ends a job that calls it then, if the job has
/// `MPI_THREAD_MULTIPLE`.
pub fn end(running: Arc<Running>) {
    ENDED.lock().push(running);
    HAVE_ENDED.store(true, Ordering::Release);
}

/// Frees the object whose handle is at `address`, by `next` or later.
pub fn release<H: Freed>(address: HandleAddress<H>, next: impl FnOnce() -> c_int) -> c_int {
    if are_none() {
        return next();
    }
    let Some(native) = native() else {
        return next();
    };
    let handle: H = native.plain(address.read());
    if !use_handle(handle.word()) {
        return next();
    }
    let kept = FreedObject {
        handle: handle.word(),
        free: Box::new(move |native| handle.free(native)),
    };
    KEPT.lock().push(kept);
    address.write(native, H::null(native));
    SUCCESS
}

/// Frees objects that no operation uses any more. Not to be called from within the native MPI.
pub fn settle(native: &Native) {
    if !HAVE_ENDED.swap(false, Ordering::AcqRel) {
        return;
    }
    // Destructors here call the MPI, too.
    drop(mem::take(&mut *ENDED.lock()));
    let unused: Vec<FreedObject> = {
        let mut kept = KEPT.lock();
        let is_unused = |one: &mut FreedObject| !use_handle(one.handle);
        kept.extract_if(.., is_unused).collect()
    };
    for FreedObject { free, .. } in unused {
        free(native);
    }
}
