//! Substitution of W' for the world: installed when a replay starts, and applied at every call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use treepie_base::{List, Process, Rank, Slice};
use treepie_mpi::native::{Native, NativeError, OwnComm, native};
use treepie_mpi::{AppComm, Comm, Handle, Word, c_int};

use super::attributes;
use super::fortran::Fortran;

/// Comparison that detects the world: a word `w` with `w & mask == from` is the application's
/// world. Before a replay starts, and in every other mode, no word is: all modes share the same
/// comparison. It has cache lines of its own, because every thread reads it at every call.
#[repr(align(128))]
struct Substitution {
    mask: AtomicUsize,
    from: AtomicUsize,
    to: AtomicUsize,
}

/// Substitution at the moment.
static SUBSTITUTION: Substitution = Substitution {
    mask: AtomicUsize::new(0),
    from: AtomicUsize::new(Word::MAX),
    to: AtomicUsize::new(0),
};

/// Data about W', beside its handle.
pub(super) struct Replacement {
    /// W' itself, until it is removed.
    comm: Mutex<Option<OwnComm>>,
    /// Process in the native world of each of its ranks.
    process_of_rank: List<Rank, c_int>,
    pub(super) fortran: Option<Fortran>,
    /// Keyval of the mark that its duplicates inherit, if there is one.
    pub(super) mark: Option<c_int>,
}

static REPLACEMENT: OnceLock<Replacement> = OnceLock::new();

/// Returns the data about W' while it replaces the world.
pub(super) fn replacement() -> Option<&'static Replacement> {
    REPLACEMENT.get().filter(|_| is_substituted())
}

/// Returns the process in the native world of each rank of W', once there was a W'.
pub(super) fn process_of_rank() -> Option<&'static Slice<Rank, c_int>> {
    Some(&REPLACEMENT.get()?.process_of_rank)
}

/// Returns the communicator to use if the application wrote `comm`.
#[inline(always)]
pub fn substitute(comm: AppComm) -> Comm {
    match is_world(comm) {
        true => replaced(),
        false => comm.as_written(),
    }
}

/// Returns W'.
#[inline(always)]
fn replaced() -> Comm {
    // SAFETY: `install` stored W' there before any word compared equal to the world; nothing else
    // is stored there.
    unsafe { Comm::from_word(SUBSTITUTION.to.load(Ordering::Relaxed)) }
}

/// Returns the application's world: W' in a replay.
pub fn of_application(native: &Native) -> Comm {
    match is_substituted() {
        true => replaced(),
        false => native.world,
    }
}

/// True if `comm` is the application's `MPI_COMM_WORLD`, and is substituted.
#[inline(always)]
pub(super) fn is_world(comm: AppComm) -> bool {
    comm.as_written().word() & SUBSTITUTION.mask.load(Ordering::Relaxed)
        == SUBSTITUTION.from.load(Ordering::Relaxed)
}

/// True if a world is substituted at the moment.
pub fn is_substituted() -> bool {
    SUBSTITUTION.mask.load(Ordering::Relaxed) != 0
}

/// True if `comm`, a handle of the native MPI, is W'.
pub fn is_replacement(comm: Comm) -> bool {
    is_substituted() && comm.word() == SUBSTITUTION.to.load(Ordering::Relaxed)
}

/// Returns the communicator to show the application for the native MPI's `comm`.
pub(super) fn as_application_sees(comm: Comm) -> Comm {
    match native() {
        Some(native) if is_replacement(native.plain(comm)) => native.world,
        _ => comm,
    }
}

/// Substitutes W' for the world, in which processes have these ranks. Collective.
///
/// # Errors
/// A native call that failed; then nothing is substituted.
pub fn install(native: &Native, new_rank: &Slice<Process, Rank>) -> Result<(), NativeError> {
    let process = Process(native.rank(native.world)?);
    let own = native.split(native.world, new_rank[process].0)?;
    let replaced = own.handle();
    native.set_name(replaced, c"MPI_COMM_WORLD")?;
    native.copy_error_handler(native.world, replaced)?;
    let mark = attributes::prepare(native, replaced)?;
    let mut process_of_rank: List<_, _> = vec![0; new_rank.len()].into();
    for (process, &rank) in new_rank.iter_enumerated() {
        process_of_rank[rank] = process.0 as c_int;
    }
    let handles = (
        native.fortran_handle(native.world),
        native.fortran_handle(replaced),
    );
    let fortran = match handles {
        (Some(world), Some(replacement)) => Some(Fortran { world, replacement }),
        _ => None,
    };
    // The session starts once: there was none before.
    let _ = REPLACEMENT.set(Replacement {
        comm: Mutex::new(Some(own)),
        process_of_rank,
        fortran,
        mark,
    });
    SUBSTITUTION.to.store(replaced.word(), Ordering::Release);
    SUBSTITUTION
        .mask
        .store(native.handle_mask(), Ordering::Release);
    SUBSTITUTION
        .from
        .store(native.world.word(), Ordering::Release);
    Ok(())
}

/// Frees W', then gives the native world back to the application: in this order, because callbacks
/// of attributes, which run while W' is freed, may use the world. Collective.
pub fn remove(native: &Native) {
    if let Some(replacement) = replacement() {
        let own = replacement.comm.lock().take();
        if let Some(own) = own {
            // A callback may refuse, which is no error when MPI itself ends the world.
            let _ = native.return_errors(own.handle());
        }
        SUBSTITUTION.from.store(Word::MAX, Ordering::Release);
        SUBSTITUTION.mask.store(0, Ordering::Release);
    }
}
