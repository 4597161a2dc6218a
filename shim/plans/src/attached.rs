//! Communicators of this library that belong to the application's: each is attached to one, so that
//! it ends with it, whoever frees that one.
//!
//! All processes of a communicator must reach the same decision, or some would run a plan while
//! others wait in the native collective. Properties that decide are equal on all of them
//! (inter-communicator or not, size, processes of other jobs); on steps that may fail on a single
//! process, the processes agree when the communicator is used for the first time.

use std::cell::Cell;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use treepie_mpi::Comm;
use treepie_mpi::native::{
    Attached, Attachment, Finding, LONGEST_NAME, Native, NativeError, native,
};
use treepie_profile::settings::Collectives;

use super::communicator::Communicator;
use super::ground::{CommunicatorParts, Ground};
use super::setup::Setup;
use super::{device, guarded, left, neighbours, transport};

/// Mark that is attached to a communicator; empty if its collectives are left to the native MPI.
#[derive(Default)]
struct Mark(OnceCell<Arc<Communicator>>);

impl Attached for Mark {
    fn end(&self) {
        if let (Some(native), Some(communicator)) = (native(), self.0.get()) {
            guarded::ended(native, communicator);
            if communicator.leave() {
                // All processes must free it together, but each knows only its own state: whether
                // one of its plans still uses it.
                left::keep(Arc::clone(communicator));
            }
        }
    }
}

static MARKS: OnceCell<Attachment<Mark>> = OnceCell::new();

/// Creates the attribute, if there is none.
///
/// # Errors
/// A native call that failed.
pub fn prepare(native: &Native) -> Result<(), NativeError> {
    MARKS.get_or_try_init(|| Attachment::new(native)).map(drop)
}

/// Ends the mark of `comm`, if it has one.
pub fn detach(native: &Native, comm: Comm) {
    if let Some(marks) = MARKS.get() {
        marks.detach(native, comm);
    }
}

/// Progress of a process in creating a communicator of this library, in increasing order.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Made {
    /// No mark.
    Nothing,
    /// Mark only: collectives are left to the native MPI.
    Mark,
    /// Communicator of this library.
    All,
}

thread_local! {
    /// The mark that this thread found last: an MPI query takes 30 ns.
    static LAST: Cell<Finding<Mark>> = const { Cell::new(Finding::NONE) };
}

/// Calls `act` with this library's communicator for `comm`, one of whose collectives is called; it
/// is created at the first use, by all its processes together. `None`, on all of them, if the
/// native MPI runs its collectives.
///
/// `act` must not call an error handler of the application, which may free `comm`.
pub fn with<R>(
    native: &Native,
    setup: &Setup,
    comm: Comm,
    act: impl FnOnce(&Arc<Communicator>) -> R,
) -> Option<R> {
    let mut act = Some(act);
    let mut on_mark = |mark: &Mark| mark.0.get().zip(act.take()).map(|(made, act)| act(made));
    if let Some(result) = LAST.get().with(comm, &mut on_mark) {
        return result;
    }
    let found = MARKS.get()?.with(native, comm, |mark, found| {
        LAST.set(found);
        on_mark(mark)
    });
    match found {
        Some(result) => result,
        None => make(native, setup, comm)
            .zip(act)
            .map(|(made, act)| act(&made)),
    }
}

/// Calls `act` with this library's communicator for `comm`, as [`with`], if it exists already: no
/// communication takes place.
pub fn with_made<R>(
    native: &Native,
    comm: Comm,
    act: impl FnOnce(&Arc<Communicator>) -> R,
) -> Option<R> {
    let marks = MARKS.get()?;
    marks.with(native, comm, |mark, _| mark.0.get().map(act))?
}

/// Creates the mark of `comm`, and this library's communicator for it.
fn make(native: &Native, setup: &Setup, comm: Comm) -> Option<Arc<Communicator>> {
    // The native collective reports an error for an invalid communicator.
    let ranks = match native.is_inter(comm).ok()? || native.size(comm).ok()? < 2 {
        true => Ok(None),
        false => world_ranks(native, setup, comm),
    };
    let marks = MARKS.get()?;
    let is_marked = marks.attach(native, comm, Mark::default()).is_ok();
    let ranks = ranks.transpose()?;
    // A process that failed still takes part, since others would wait for it.
    let kept = match left::find(native, comm, ranks.as_deref().ok()) {
        Some(kept) => Ok(kept),
        None => native.split_quietly(comm, 0).map(CommunicatorParts::new),
    };
    let made = kept.and_then(|kept| {
        let ranks = ranks?;
        Ok((Ground::new(native, setup, kept, &ranks)?, ranks))
    });
    let mine = match (is_marked, &made) {
        (false, _) => Made::Nothing,
        (true, Err(_)) => Made::Mark,
        (true, Ok(_)) => Made::All,
    };
    let named = setup.collectives.by_name.then(|| native.name(comm));
    let agreed = agree(native, comm, (mine, named.as_deref()));
    let least = agreed.least;
    if least == Made::Nothing as u8 {
        marks.detach(native, comm);
        return None;
    }
    let (made, ranks) = made.ok()?;
    if least < Made::All as u8 {
        return None;
    }
    let named = named.filter(|_| agreed.has_one_name);
    let named = named.and_then(|name| Collectives::of_name(&name).ok());
    let made = made.with_runners(named);
    let made = made
        .with_devices(agreed.has_devices)
        .with_number(agreed.number);
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
    let kept = marks.with(native, comm, |mark, _| {
        Arc::clone(mark.0.get_or_init(|| made))
    });
    kept.inspect(guarded::made)
}

/// Values on which the processes of a communicator agreed.
struct Agreed {
    /// Minimum progress over the processes.
    least: u8,
    /// True if one of them has an accelerator's runtime.
    has_devices: bool,
    /// Number that no communicator has on any of them.
    number: u64,
    /// True if it has the same name on all.
    has_one_name: bool,
}

/// Exchanges this process's values with the others. Collective.
fn agree(native: &Native, comm: Comm, (mine, name): (Made, Option<&str>)) -> Agreed {
    let mut row = vec![mine as u8, device::is_possible().into()];
    row.extend(left::next_number().to_ne_bytes());
    if let Some(name) = name {
        let mut padded = [0; LONGEST_NAME];
        let length = name.len().min(LONGEST_NAME);
        padded[..length].copy_from_slice(&name.as_bytes()[..length]);
        row.extend(padded);
    }
    let all = native.allgather(comm, &row);
    let all = all.unwrap_or_else(|_| vec![Made::Nothing as u8; row.len()]);
    let rows = || all.chunks_exact(row.len());
    let number = |row: &[u8]| row[2..10].try_into().map_or(0, u64::from_ne_bytes);
    Agreed {
        least: rows().map(|row| row[0]).min().unwrap_or(0),
        has_devices: rows().any(|row| row[1] != 0),
        number: rows().map(number).max().unwrap_or(0),
        has_one_name: rows().all(|other| other[10..] == row[10..]),
    }
}

/// Returns the ranks of the processes of `comm` in the application's world; `None` if some are of
/// another job.
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
