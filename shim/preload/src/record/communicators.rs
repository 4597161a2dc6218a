//! What is known of each communicator and window of the application's: which
//! rank of the application's world each of its ranks is. Found by purely local
//! calls at the first use.

use std::sync::Arc;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use super::collectives::{self, Amount, Plan, Recent, Seen, Tallies};
use super::patience::{Patience, Unlimited};
use super::registry::Registry;
use super::windows::Window;
use crate::mpi::native::{Native, NativeError, native};
use crate::mpi::{Call, Comm, Group, Win};
use treepie_core::collective::Operation;
use treepie_core::files::partial_profiles::{self, Encoder, Records, Sink};

/// One communicator of the application's.
pub struct Communicator {
    handle: Comm,
    /// World rank of each rank that messages can be sent to: the remote group's
    /// for an inter-communicator. `u32::MAX` for processes of another world.
    partners: Vec<u32>,
    /// The caller's rank.
    rank: u32,
    inter: bool,
    /// World ranks that the caller sends to in neighbourhood collectives.
    neighbours: OnceCell<Vec<Option<u32>>>,
    recent: Recent,
    tallies: Mutex<Tallies>,
}

static COMMUNICATORS: Registry<Comm, Communicator> = Registry::new();
static WINDOWS: Registry<Win, Window> = Registry::new();
/// The group of the application's world, which ranks are translated to.
static WORLD_GROUP: OnceCell<Group> = OnceCell::new();

/// Fixes the world whose ranks everything is counted in.
///
/// # Errors
/// A native call that failed.
pub fn set_world(native: &Native, world: Comm) -> Result<(), NativeError> {
    WORLD_GROUP
        .get_or_try_init(|| native.group(world))
        .map(|_| ())
}

/// Changes when a communicator's handle is forgotten.
#[inline(always)]
pub fn epoch() -> u64 {
    COMMUNICATORS.epoch()
}

/// Changes when a window's handle is forgotten.
#[inline(always)]
pub fn window_epoch() -> u64 {
    WINDOWS.epoch()
}

/// The communicator with this handle; `None` for those that are not the
/// application's.
pub fn find(comm: Comm) -> Option<Arc<Communicator>> {
    let native = native()?;
    let comm = native.plain(comm);
    COMMUNICATORS.find_or(comm, || Communicator::look_up(native, comm).ok())
}

/// The window with this handle; `None` for those that are not the application's.
pub fn find_window(window: Win) -> Option<Arc<Window>> {
    let native = native()?;
    let window = native.plain(window);
    WINDOWS.find_or(window, || look_up_window(native, window))
}

/// A communicator was made; `internal` if not by a call of the application's.
pub fn made(handle: Comm, internal: bool) {
    ended(handle);
    if internal {
        COMMUNICATORS.set(handle, None);
    }
}

fn look_up_window(native: &Native, window: Win) -> Option<Window> {
    let ranks = translated(native, native.window_group(window));
    ranks.ok().map(Window::new)
}

/// A window was made; `internal` if not by a call of the application's. It is looked up at once: all
/// its ranks number it alike, in the order in which windows are made.
pub fn window_made(handle: Win, internal: bool) {
    if let Some(native) = native() {
        let handle = native.plain(handle);
        WINDOWS.forget(handle);
        let is_counted = !internal;
        WINDOWS.set(
            handle,
            is_counted.then(|| look_up_window(native, handle)).flatten(),
        );
    }
}

/// A communicator is no more: its counts are kept, its handle is forgotten.
pub fn ended(handle: Comm) {
    // Held over both steps, so that who reads all counts meanwhile finds them.
    let Some(mut records) = collectives::put_away_records(Unlimited) else {
        return;
    };
    if let Some(communicator) = COMMUNICATORS.forget(handle) {
        communicator.put_away(&mut records);
    }
}

/// A window is no more.
pub fn window_ended(handle: Win) {
    WINDOWS.forget(handle);
}

/// Writes the collectives of all communicators, of those that are no more too.
/// What is locked for longer than `patience` is left out.
pub fn encode_collectives<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    let records = collectives::put_away_records(patience);
    if let Some(records) = &records {
        records.encode(encoder);
    }
    COMMUNICATORS.each(patience, |communicator| {
        communicator.encode_collectives(patience, encoder);
    });
}

/// The world ranks of a group, which is freed.
fn translated(native: &Native, group: Result<Group, NativeError>) -> Result<Vec<u32>, NativeError> {
    let world = *WORLD_GROUP.get().ok_or(NativeError::UnknownFamily)?;
    let group = group?;
    let ranks = native.translate(group, world);
    native.free_group(group);
    ranks
}

impl Communicator {
    fn look_up(native: &Native, comm: Comm) -> Result<Self, NativeError> {
        let inter = native.is_inter(comm)?;
        let group = match inter {
            true => native.remote_group(comm),
            false => native.group(comm),
        };
        Ok(Communicator {
            handle: comm,
            partners: translated(native, group)?,
            rank: native.rank(comm)? as u32,
            inter,
            neighbours: OnceCell::new(),
            recent: Recent::default(),
            tallies: Mutex::default(),
        })
    }

    /// The world rank of a destination, if it has one.
    #[inline(always)]
    pub fn partner(&self, dest: usize) -> Option<u32> {
        let partner = *self.partners.get(dest)?;
        (partner != u32::MAX).then_some(partner)
    }

    /// World ranks that this process sends to in neighbourhood collectives, in
    /// the order of the calls' arguments; `None` where there is no process.
    pub fn neighbours(&self) -> &[Option<u32>] {
        self.neighbours.get_or_init(|| {
            let ranks = native().and_then(|native| native.neighbours(self.handle).ok());
            ranks
                .unwrap_or_default()
                .into_iter()
                .map(|rank| self.partner(usize::try_from(rank).ok()?))
                .collect()
        })
    }

    /// Counts a collective call, which `plan` has run, as far as this rank reports it.
    #[inline(always)]
    pub fn count_call(&self, call: &Call, plan: Option<Plan>) {
        if call.operation.has_equal_blocks() {
            if self.rank != 0 || self.inter {
                return;
            }
            if let Some(native) = native()
                && let Some(seen) = collectives::observe_block(native, call, 0, self.partners.len())
            {
                self.count(call.operation, &seen, plan);
            }
        } else {
            self.count_blocks(call, plan);
        }
    }

    #[inline(never)]
    fn count_blocks(&self, call: &Call, plan: Option<Plan>) {
        if let Some(seen) = self.observe(call) {
            self.count(call.operation, &seen, plan);
        }
    }

    /// What this rank has to report of a collective call; nothing where another
    /// does, and of inter-communicators.
    pub fn observe(&self, call: &Call) -> Option<Seen> {
        if self.inter {
            return None;
        }
        collectives::observe(native()?, call, self.rank, self.partners.len())
    }

    /// Counts a collective call, which `plan` has run.
    #[inline(always)]
    pub fn count(&self, operation: Operation, seen: &Seen, plan: Option<Plan>) {
        match seen.amount {
            Amount::Block(bytes) if self.recent.add(operation, seen.root, bytes, plan) => (),
            _ => self.count_rare(operation, seen, plan),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_rare(&self, operation: Operation, seen: &Seen, plan: Option<Plan>) {
        let mut tallies = self.tallies.lock();
        if let Amount::Block(bytes) = seen.amount {
            self.recent
                .turn_to(&mut tallies, operation, seen.root, bytes, plan);
        }
        tallies.add(operation, seen, plan);
    }

    /// Whether this process speaks for the communicator; its ranks in the world.
    pub fn group_if_first(&self) -> Option<&[u32]> {
        let first = self.rank == 0 && !self.inter && collectives::is_reported(&self.partners);
        first.then_some(&self.partners)
    }

    fn encode_collectives<S: Sink>(&self, patience: impl Patience, encoder: &mut Encoder<'_, S>) {
        if let Some(tallies) = patience.acquire(|| self.tallies.try_lock())
            && !tallies.is_empty()
            && collectives::is_reported(&self.partners)
        {
            tallies.encode(&self.recent, &self.partners, encoder);
        }
    }

    /// Adds what was counted to `records`, and takes it from here.
    fn put_away(&self, records: &mut Records) {
        let mut tallies = std::mem::take(&mut *self.tallies.lock());
        self.recent.settle(&mut tallies);
        if tallies.is_empty() || !collectives::is_reported(&self.partners) {
            return;
        }
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        tallies.encode(&self.recent, &self.partners, &mut encoder);
        encoder.end();
        for partial in partial_profiles::decode_all(&bytes).flatten() {
            for record in partial.collectives.into_vec() {
                records.add(record);
            }
        }
    }
}
