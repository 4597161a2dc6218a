//! Which communicator of ours belongs to one of the application's: it hangs on that one as an
//! attribute, so that it ends with it, whoever ends it.
//!
//! All processes of a communicator must find the same, or some would run a plan while others wait
//! in the native collective. What they look at is equal on all of them (whether it is an
//! inter-communicator, its size, processes of other jobs); what may fail on one alone they agree on
//! when the communicator is used for the first time.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::sync::OnceCell;
use treepie_mpi::native::{LONGEST_NAME, Native, NativeError, native};
use treepie_mpi::{Comm, Handle, SUCCESS, Word, c_int};
use treepie_profile::settings::Collectives;

use super::communicator::Communicator;
use super::ground::{Ground, Kept};
use super::setup::Setup;
use super::{device, guarded, left, neighbours, transport};

/// What hangs on a communicator: nothing more than that, where its collectives are
/// left to the native MPI.
#[derive(Default)]
struct Attached(OnceCell<Arc<Communicator>>);

/// What a process has of what is made for a communicator, from the least on.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Had {
    /// No attribute.
    Nothing,
    /// An attribute that says that its collectives are left to the native MPI.
    Mark,
    /// A communicator of our own.
    All,
}

/// Acts on what is kept for `comm`, which is one of whose collectives is called; at the first use,
/// our own communicator is made, which all its processes do together. `None` where the native MPI
/// does its collectives, on all of them.
///
/// It may end in `act`, where the application is told of an error: what is used behind that, `act`
/// holds.
pub fn with<R>(
    native: &Native,
    setup: &Setup,
    comm: Comm,
    act: impl FnOnce(&Arc<Communicator>) -> R,
) -> Option<R> {
    let ended = ENDED.load(Ordering::Relaxed);
    let attached = match LAST.get() {
        (at, last, attached) if (at, last) == (ended, comm.word()) => attached,
        _ => match native.attribute(comm, setup.keyval) {
            0 => return make(native, setup, comm).as_ref().map(act),
            attached => {
                LAST.set((ended, comm.word(), attached));
                attached
            }
        },
    };
    // SAFETY: the attribute holds the address of what was attached, until the communicator ends,
    // which is counted in `ENDED`; it can't end before `act` has it ended.
    unsafe { &*(attached as *const Attached) }.0.get().map(act)
}

thread_local! {
    /// What this thread found last, for which the MPI takes 30 ns: how many attributes had ended by
    /// then, the communicator, and its attribute.
    static LAST: Cell<(usize, Word, Word)> = const { Cell::new((0, 0, 0)) };
}

/// One more than the attributes that have ended: nothing that was found is of 0.
static ENDED: AtomicUsize = AtomicUsize::new(1);

/// Acts on what is kept for `comm`, as [`with`], if it was made: no other process is asked.
pub fn with_made<R>(
    native: &Native,
    setup: &Setup,
    comm: Comm,
    act: impl FnOnce(&Arc<Communicator>) -> R,
) -> Option<R> {
    match native.attribute(comm, setup.keyval) {
        0 => None,
        // SAFETY: as in `with`.
        attached => unsafe { &*(attached as *const Attached) }.0.get().map(act),
    }
}

/// Makes what hangs on `comm`, and what is kept for it.
fn make(native: &Native, setup: &Setup, comm: Comm) -> Option<Arc<Communicator>> {
    // A communicator that is none is refused by the native collective.
    let ranks = match native.is_inter(comm).ok()? || native.size(comm).ok()? < 2 {
        true => Ok(None),
        false => world_ranks(native, setup, comm),
    };
    let attached = attach(native, setup, comm);
    let ranks = ranks.transpose()?;
    // A process that failed takes part all the same, or others would wait for it.
    let kept = match left::find(native, comm, ranks.as_deref().ok()) {
        Some(kept) => Ok(kept),
        None => native.split_quietly(comm, 0).map(Kept::new),
    };
    let made = kept.and_then(|kept| {
        let ranks = ranks?;
        Ok((Ground::new(native, setup, kept, &ranks)?, ranks))
    });
    let mine = match (attached, &made) {
        (None, _) => Had::Nothing,
        (Some(_), Err(_)) => Had::Mark,
        (Some(_), Ok(_)) => Had::All,
    };
    let named = setup.collectives.by_name.then(|| native.name(comm));
    let told = agree(native, comm, (mine, named.as_deref()));
    let least = told.least;
    if least == Had::Nothing as u8 && attached.is_some() {
        native.delete_attribute(comm, setup.keyval);
        return None;
    }
    let (made, ranks) = made.ok()?;
    let attached = attached?;
    if least < Had::All as u8 {
        return None;
    }
    let named = named.filter(|_| told.has_one_name);
    let named = named.and_then(|name| Collectives::of_name(&name).ok());
    let made = made.with_runners(named);
    let made = made.with_devices(told.has_devices).with_number(told.number);
    left::take_number(made.number());
    let both = (comm, made.private());
    let made = made.with_neighbourhoods(neighbours::learn(native, &setup.collectives, both));
    let memory = match setup.located.is_empty() {
        true => None,
        false => {
            let at = ranks.iter().map(|&rank| &setup.located[rank]).collect();
            transport::join(native, made.private(), made.rank(), at)
        }
    };
    let ground = made.with_memory(setup, memory);
    let made = Arc::new(Communicator::new(setup, ground, &ranks));
    // SAFETY: it hangs on `comm`, one of whose collectives is called.
    let kept = unsafe { &*attached }.0.get_or_init(|| made);
    guarded::made(kept);
    Some(Arc::clone(kept))
}

/// What the processes of a communicator told each other of it.
struct Told {
    /// The least that one of them has of what is made.
    least: u8,
    /// Whether one of them has an accelerator's runtime.
    has_devices: bool,
    /// A number that no communicator has on any of them.
    number: u64,
    /// Whether it has the same name on all.
    has_one_name: bool,
}

/// Tells the others what this process has. Collective.
fn agree(native: &Native, comm: Comm, (mine, name): (Had, Option<&str>)) -> Told {
    let mut row = vec![mine as u8, device::is_possible().into()];
    row.extend(left::next_number().to_ne_bytes());
    if let Some(name) = name {
        let mut padded = [0; LONGEST_NAME];
        let length = name.len().min(LONGEST_NAME);
        padded[..length].copy_from_slice(&name.as_bytes()[..length]);
        row.extend(padded);
    }
    let all = native.allgather(comm, &row);
    let all = all.unwrap_or_else(|_| vec![Had::Nothing as u8; row.len()]);
    let rows = || all.chunks_exact(row.len());
    let number = |row: &[u8]| row[2..10].try_into().map_or(0, u64::from_ne_bytes);
    Told {
        least: rows().map(|row| row[0]).min().unwrap_or(0),
        has_devices: rows().any(|row| row[1] != 0),
        number: rows().map(number).max().unwrap_or(0),
        has_one_name: rows().all(|other| other[10..] == row[10..]),
    }
}

/// The ranks of the processes of `comm` in the application's world; `None` if some are of another
/// job.
fn world_ranks(
    native: &Native,
    setup: &Setup,
    comm: Comm,
) -> Result<Option<Vec<usize>>, NativeError> {
    let group = native.group(comm)?;
    let ranks = native.translate(group, setup.world_group);
    native.free_group(group);
    let ranks: Vec<usize> = ranks?.iter().map(|&rank| rank as usize).collect();
    let all_are_here = ranks.iter().all(|&rank| rank < setup.locality.ranks());
    Ok(all_are_here.then_some(ranks))
}

/// Hangs a mark on `comm`, to which more can be added; `None` if that fails.
fn attach(native: &Native, setup: &Setup, comm: Comm) -> Option<*const Attached> {
    let attached = Box::into_raw(Box::<Attached>::default());
    if native
        .set_attribute_to(comm, setup.keyval, attached as Word)
        .is_err()
    {
        // SAFETY: made above, and known to nobody else.
        drop(unsafe { Box::from_raw(attached) });
        return None;
    }
    Some(attached)
}

/// `MPI_Comm_delete_attr_function` of the attribute.
pub unsafe extern "C" fn ended(_comm: Comm, _keyval: c_int, value: Word, _extra: Word) -> c_int {
    ENDED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the value is what was attached, and nobody uses it any more.
    let attached = unsafe { Box::from_raw(value as *mut Attached) };
    if let (Some(native), Some(communicator)) = (native(), attached.0.get()) {
        guarded::ended(native, communicator);
        if communicator.leave() {
            // Freeing it is done by all processes together; whether a plan still uses it, each
            // knows of itself alone.
            left::keep(Arc::clone(communicator));
        }
    }
    SUCCESS
}
