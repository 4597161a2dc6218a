//! The substitution of `MPI_COMM_WORLD`: in a replay, every procedure that takes
//! a communicator sees W', the same processes in the placement's order, where
//! the application wrote `MPI_COMM_WORLD`.
//!
//! Handles are mapped on the way in only, and W' is never shown. What a plain
//! swap would forget is in the files beside this one.

pub mod attributes;
pub mod error_handlers;
pub mod keyvals;

use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::mpi::native::{Host, HostError, host};
use crate::mpi::{SUCCESS, Word, c_int};
use crate::record;

/// A word `w` with `w & mask == from` is the application's world. Before a
/// replay starts, and in every other mode, no word is: the same comparison
/// serves all modes. In lines of the cache where nothing else is: every thread reads
/// it at every call; entry points by themselves.
#[repr(align(128))]
pub struct Substitution {
    mask: AtomicUsize,
    from: AtomicUsize,
    to: AtomicUsize,
}

impl Substitution {
    /// Where `mask` is, in bytes.
    pub const MASK: usize = offset_of!(Substitution, mask);
    /// Where `from` is, in bytes.
    pub const FROM: usize = offset_of!(Substitution, from);
    /// Where `to` is, in bytes.
    pub const TO: usize = offset_of!(Substitution, to);
}

/// What stands for what at the moment.
pub static SUBSTITUTION: Substitution = Substitution {
    mask: AtomicUsize::new(0),
    from: AtomicUsize::new(Word::MAX),
    to: AtomicUsize::new(0),
};

/// For each rank of W', its rank in the host's world.
static PROCESS_OF_RANK: OnceLock<Vec<c_int>> = OnceLock::new();

/// What Fortran calls the world and W'.
#[derive(Debug, Clone, Copy)]
pub struct Fortran {
    /// The Fortran handle of the host's world.
    pub world: c_int,
    /// The Fortran handle of W'.
    pub replacement: c_int,
}

static FORTRAN: OnceLock<Fortran> = OnceLock::new();

impl Fortran {
    /// The handles while a world is substituted, where they are known.
    pub fn handles() -> Option<Fortran> {
        FORTRAN.get().copied().filter(|_| is_substituted())
    }

    /// The address to hand to a callback in Fortran: `room`, holding the world,
    /// where `comm` holds W'.
    ///
    /// # Safety
    /// `comm` is the address of an INTEGER.
    unsafe fn as_application_sees(comm: Word, room: &mut c_int) -> Word {
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

/// The communicator to use where the application wrote `comm`.
#[inline(always)]
pub fn substitute(comm: Word) -> Word {
    if is_world(comm) {
        return SUBSTITUTION.to.load(Ordering::Relaxed);
    }
    comm
}

/// Whether `comm` is the application's `MPI_COMM_WORLD` and stands for another.
#[inline(always)]
pub fn is_world(comm: Word) -> bool {
    comm & SUBSTITUTION.mask.load(Ordering::Relaxed) == SUBSTITUTION.from.load(Ordering::Relaxed)
}

/// Whether a world is substituted at the moment.
pub fn is_substituted() -> bool {
    SUBSTITUTION.mask.load(Ordering::Relaxed) != 0
}

/// Whether `comm`, a handle of the host's, is W'.
pub fn is_replacement(comm: Word) -> bool {
    is_substituted() && comm == SUBSTITUTION.to.load(Ordering::Relaxed)
}

/// The communicator to show the application where the host says `comm`.
pub fn as_application_sees(comm: Word) -> Word {
    match host() {
        Some(host) if is_replacement(comm & host.handle_mask()) => host.world,
        _ => comm,
    }
}

/// Puts W' in the place of the world: process `i` of the host's world gets rank
/// `new_rank[i]`. Collective.
///
/// # Errors
/// A call of the host's that failed; then nothing is substituted.
pub fn install(host: &Host, new_rank: &[u32]) -> Result<(), HostError> {
    let process = host.rank(host.world)?;
    let replaced = host.split(host.world, new_rank[process] as usize)?;
    host.set_name(replaced, c"MPI_COMM_WORLD")?;
    host.copy_error_handler(host.world, replaced)?;
    attributes::prepare(host, replaced)?;
    let mut process_of_rank = vec![0; new_rank.len()];
    for (process, &rank) in new_rank.iter().enumerate() {
        process_of_rank[rank as usize] = process as c_int;
    }
    // Init runs once; a second value would be the same.
    let _ = PROCESS_OF_RANK.set(process_of_rank);
    if let (Some(world), Some(replacement)) = (
        host.fortran_handle(host.world),
        host.fortran_handle(replaced),
    ) {
        let _ = FORTRAN.set(Fortran { world, replacement });
    }
    SUBSTITUTION.to.store(replaced, Ordering::Release);
    SUBSTITUTION
        .mask
        .store(host.handle_mask(), Ordering::Release);
    SUBSTITUTION.from.store(host.world, Ordering::Release);
    Ok(())
}

/// Frees W', and gives the host's world back to the application: in this order,
/// since callbacks of attributes on the world may use it. Collective.
pub fn remove(host: &Host) {
    if is_substituted() {
        let replaced = SUBSTITUTION.to.load(Ordering::Acquire);
        // A callback may refuse, which is no error where MPI itself ends the world.
        let _ = host.return_errors(replaced);
        host.free_communicator(replaced);
        SUBSTITUTION.from.store(Word::MAX, Ordering::Release);
        SUBSTITUTION.mask.store(0, Ordering::Release);
    }
}

/// `MPI_Comm_call_errhandler`: the host's own world is handed to the handler, as
/// the program expects.
///
/// # Safety
/// The caller keeps the contract of `MPI_Comm_call_errhandler`.
pub unsafe fn call_error_handler(
    next: unsafe extern "C" fn(Word, Word) -> c_int,
    comm: Word,
    code: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    record::quietly(|| unsafe { next(comm, code) })
}

/// `MPI_Group_from_session_pset`: the process set `mpi://WORLD` has the order of
/// the application's world, not the launcher's.
///
/// # Safety
/// The caller keeps the contract of `MPI_Group_from_session_pset`.
pub unsafe fn group_from_session_pset(
    next: unsafe extern "C" fn(Word, Word, Word) -> c_int,
    session: Word,
    name: Word,
    group: Word,
) -> c_int {
    // SAFETY: the caller's promise.
    let code = record::quietly(|| unsafe { next(session, name, group) });
    let (Some(host), Some(order)) = (host(), PROCESS_OF_RANK.get()) else {
        return code;
    };
    if code != SUCCESS || name == 0 {
        return code;
    }
    // SAFETY: the call succeeded, so that `name` is a string that ends in NUL and
    // `group` holds a group that is the caller's.
    unsafe {
        if CStr::from_ptr(name as *const c_char) != c"mpi://WORLD" {
            return code;
        }
        let launched = host.read_handle(group);
        if let Ok(ordered) = host.include(launched, order) {
            host.write_handle(group, ordered);
            host.free_group(launched);
        }
    }
    code
}
