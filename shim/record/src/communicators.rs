//! Communicators of the application: the rank in the application's world of each of their ranks.
//! Computed by purely local calls at the first use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use treepie_collective::Operation;
use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::{Call, Comm};
use treepie_process::features::{self, PAGES};
use treepie_profile::partial_profiles::{self, Encoder, Records, Sink};

use super::collectives::{self, Amount, CallTraffic, Plan, Recent, Tallies};
use super::identity::world_ranks;
use super::page::places::CommunicatorEntry;
use super::patience::Patience;
use super::registry::{MadeBy, Registry};

/// Communicator of the application.
pub struct Communicator {
    handle: Comm,
    /// World rank of each rank that messages can be sent to: of the remote group, for an
    /// inter-communicator. `u32::MAX` for processes of another world.
    partners: Vec<u32>,
    /// Rank of this process.
    rank: u32,
    inter: bool,
    /// World ranks that this process sends to in neighbourhood collectives.
    neighbours: OnceCell<Vec<Option<u32>>>,
    recent: Recent,
    tallies: Mutex<Tallies>,
    /// Its entry in this rank's page.
    place: Option<CommunicatorEntry>,
    /// Its number in the order of receives.
    number: OnceCell<u32>,
}

/// Number of communicators that have a number in the order of receives.
static NUMBERED: AtomicU32 = AtomicU32::new(0);

/// Communicators of this process.
struct Communicators {
    known: Registry<Comm, Communicator>,
    /// Records of communicators that have been freed. While they are locked, no more are added.
    put_away: Lazy<Mutex<Records>>,
}

static COMMUNICATORS: Communicators = Communicators {
    known: Registry::new(),
    put_away: Lazy::new(Mutex::default),
};

/// Returns an epoch, which changes when a communicator's handle is forgotten.
#[inline(always)]
pub fn epoch() -> u64 {
    COMMUNICATORS.known.epoch()
}

/// Returns the communicator with this handle; `None` for those that are not the application's.
pub fn find(comm: Comm) -> Option<Arc<Communicator>> {
    let native = native()?;
    let comm = native.plain(comm);
    COMMUNICATORS
        .known
        .find_or(comm, || Communicator::look_up(native, comm).ok())
}

/// Registers a new communicator.
pub fn made(handle: Comm, by: MadeBy) {
    ended(handle);
    if by == MadeBy::Mpi {
        COMMUNICATORS.known.set(handle, None);
    }
}

/// Registers a new communicator that can be used: it gets its entry in this rank's page. Its index
/// among those with the same members follows from the order of creation.
pub fn placed(handle: Comm) {
    let Some(native) = native() else { return };
    if !features::any(PAGES) || native.is_null_communicator(handle) {
        return;
    }
    let handle = native.plain(handle);
    let mut communicator = Communicator::look_up(native, handle).ok();
    if let Some(it) = &mut communicator {
        it.place = CommunicatorEntry::claim(handle, &it.partners, it.inter);
    }
    COMMUNICATORS.known.set(handle, communicator);
}

/// Removes a freed communicator: its counts are kept, its handle is forgotten.
pub fn ended(handle: Comm) {
    // Locked during both steps, so that a concurrent reader of all counts finds them.
    let mut records = COMMUNICATORS.put_away.lock();
    if let Some(communicator) = COMMUNICATORS.known.forget(handle) {
        communicator.put_away(&mut records);
        if let Some(place) = communicator.place {
            place.release();
        }
    }
}

/// Writes the collectives of all communicators, including those that have been freed. Data that are
/// locked for longer than `patience` are omitted.
pub fn encode_collectives<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    let records = patience.acquire(|| COMMUNICATORS.put_away.try_lock());
    if let Some(records) = &records {
        records.encode(encoder);
    }
    COMMUNICATORS.known.each(patience, |communicator| {
        communicator.encode_collectives(patience, encoder);
    });
}

impl Communicator {
    fn look_up(native: &Native, comm: Comm) -> Result<Self, NativeError> {
        let inter = native.is_inter(comm)?;
        let group = match inter {
            true => native.remote_group(comm),
            false => native.group(comm),
        };
        let partners = world_ranks(native, group)?;
        Ok(Communicator {
            handle: comm,
            place: None,
            partners,
            rank: native.rank(comm)? as u32,
            inter,
            neighbours: OnceCell::new(),
            recent: Recent::default(),
            tallies: Mutex::default(),
            number: OnceCell::new(),
        })
    }

    /// Returns the world rank of a destination, if it has one.
    #[inline(always)]
    pub fn partner(&self, dest: usize) -> Option<u32> {
        let partner = *self.partners.get(dest)?;
        (partner != u32::MAX).then_some(partner)
    }

    /// Returns its number among communicators, in the order of their first queries by this
    /// function.
    pub fn number(&self) -> u32 {
        *self
            .number
            .get_or_init(|| NUMBERED.fetch_add(1, Ordering::Relaxed))
    }

    /// Counts one more collective that has returned, or started (`Note::as_done`).
    #[inline(always)]
    pub fn count_done(&self, call: u64) {
        if let Some(place) = self.place {
            place.count_done(call);
        }
    }

    /// Returns the number of collectives that have returned, or started.
    pub fn done(&self) -> u64 {
        self.place.map_or(0, CommunicatorEntry::done)
    }

    /// Returns the world ranks that this process sends to in neighbourhood collectives, in the
    /// order of the calls' arguments; `None` for a missing process.
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

    /// Returns the rank of this process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the rank of a process of the world in this communicator.
    pub fn rank_of(&self, partner: u32) -> Option<u32> {
        let mut partners = (0u32..).zip(&self.partners);
        let found = partners.find(|(_, world)| **world == partner)?;
        Some(found.0)
    }

    /// Counts a collective call, which `plan` has run, as far as this rank reports it.
    #[inline(always)]
    pub fn count_call(&self, call: &Call, plan: Option<Plan>) {
        if call.operation.has_equal_blocks() {
            if self.rank != 0 || self.inter {
                return;
            }
            if let Some(native) = native()
                && let Some((root, bytes)) =
                    collectives::observe_block(native, call, self.partners.len())
                && !self.recent.add(call.operation, root, bytes, plan)
            {
                let amount = Amount::Block(bytes);
                self.count_rare(call.operation, &CallTraffic { root, amount }, plan);
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

    /// Returns this rank's report of a collective call; `None` if another rank reports it, and for
    /// inter-communicators.
    pub fn observe(&self, call: &Call) -> Option<CallTraffic> {
        if self.inter {
            return None;
        }
        collectives::observe(native()?, call, self.rank, self.partners.len())
    }

    /// Counts a collective call, which `plan` has run.
    #[inline(always)]
    pub fn count(&self, operation: Operation, seen: &CallTraffic, plan: Option<Plan>) {
        match seen.amount {
            Amount::Block(bytes) if self.recent.add(operation, seen.root, bytes, plan) => (),
            _ => self.count_rare(operation, seen, plan),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_rare(&self, operation: Operation, seen: &CallTraffic, plan: Option<Plan>) {
        let mut tallies = self.tallies.lock();
        if let Amount::Block(bytes) = seen.amount {
            self.recent
                .turn_to(&mut tallies, operation, seen.root, bytes, plan);
        }
        tallies.add(operation, seen, plan);
    }

    /// Returns the communicator's ranks in the world if this process reports for it.
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

    /// Moves the counts to `records`.
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
