//! What is known of each communicator of the application's: which rank of the application's world
//! each of its ranks is. Found by purely local calls at the first use.

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
    /// Its place in this rank's page.
    place: Option<CommunicatorEntry>,
    /// Its number in the order of receives.
    number: OnceCell<u32>,
}

/// Communicators that have a number in the order of receives.
static NUMBERED: AtomicU32 = AtomicU32::new(0);

/// The communicators of this process.
struct Communicators {
    known: Registry<Comm, Communicator>,
    /// Records of those that are no more. While they are held, none more is put away.
    put_away: Lazy<Mutex<Records>>,
}

static COMMUNICATORS: Communicators = Communicators {
    known: Registry::new(),
    put_away: Lazy::new(Mutex::default),
};

/// Changes when a communicator's handle is forgotten.
#[inline(always)]
pub fn epoch() -> u64 {
    COMMUNICATORS.known.epoch()
}

/// The communicator with this handle; `None` for those that are not the
/// application's.
pub fn find(comm: Comm) -> Option<Arc<Communicator>> {
    let native = native()?;
    let comm = native.plain(comm);
    COMMUNICATORS
        .known
        .find_or(comm, || Communicator::look_up(native, comm).ok())
}

/// A communicator was made.
pub fn made(handle: Comm, by: MadeBy) {
    ended(handle);
    if by == MadeBy::Mpi {
        COMMUNICATORS.known.set(handle, None);
    }
}

/// A communicator was made that can be used: it gets its place in this rank's page. Which one with
/// its members it is, is counted as they are made.
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

/// A communicator is no more: its counts are kept, its handle is forgotten.
pub fn ended(handle: Comm) {
    // Held over both steps, so that who reads all counts meanwhile finds them.
    let mut records = COMMUNICATORS.put_away.lock();
    if let Some(communicator) = COMMUNICATORS.known.forget(handle) {
        communicator.put_away(&mut records);
        if let Some(place) = communicator.place {
            place.release();
        }
    }
}

/// Writes the collectives of all communicators, of those that are no more too.
/// What is locked for longer than `patience` is left out.
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

    /// The world rank of a destination, if it has one.
    #[inline(always)]
    pub fn partner(&self, dest: usize) -> Option<u32> {
        let partner = *self.partners.get(dest)?;
        (partner != u32::MAX).then_some(partner)
    }

    /// Its number among those that were asked for it, in the order in which they first were.
    pub fn number(&self) -> u32 {
        *self
            .number
            .get_or_init(|| NUMBERED.fetch_add(1, Ordering::Relaxed))
    }

    /// One more collective has returned, or started (`Note::as_done`).
    #[inline(always)]
    pub fn count_done(&self, call: u64) {
        if let Some(place) = self.place {
            place.count_done(call);
        }
    }

    /// Collectives that have returned, or started.
    pub fn done(&self) -> u64 {
        self.place.map_or(0, CommunicatorEntry::done)
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

    /// The caller's rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The rank here of a process of the world.
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

    /// What this rank has to report of a collective call; nothing where another
    /// does, and of inter-communicators.
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
