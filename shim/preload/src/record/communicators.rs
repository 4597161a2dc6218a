//! What is known of each communicator of the application's: which rank of the
//! application's world each of its ranks is. Found by purely local calls when a
//! communicator is first used, forgotten when it is freed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::{Lazy, OnceCell};
use parking_lot::{Mutex, RwLock};

use super::collectives::{self, Arguments, Latest, Tallies};
use crate::api::Word;
use crate::api::host::{Host, HostError, host};
use treepie_core::affinity::collective::Operation;

/// One communicator of the application's.
pub struct Communicator {
    /// World rank of each rank that messages can be sent to: the remote group's
    /// for an inter-communicator. `u32::MAX` for processes of another world.
    partners: Vec<u32>,
    /// The caller's rank.
    rank: u32,
    inter: bool,
    latest: Latest,
    tallies: Mutex<Tallies>,
}

/// How a handle is known.
#[derive(Clone)]
enum Known {
    Application(Arc<Communicator>),
    /// Made by the host or a tool for itself; never counted.
    Internal,
}

static KNOWN: Lazy<RwLock<HashMap<Word, Known>>> = Lazy::new(RwLock::default);
static EPOCH: AtomicU64 = AtomicU64::new(0);
/// The group of the application's world, which ranks are translated to.
static WORLD_GROUP: OnceCell<Word> = OnceCell::new();

/// Fixes the world whose ranks everything is counted in.
///
/// # Errors
/// A call of the host's that failed.
pub fn set_world(host: &Host, world: Word) -> Result<(), HostError> {
    WORLD_GROUP
        .get_or_try_init(|| host.group(world))
        .map(|_| ())
}

/// Changes when a handle is forgotten.
#[inline(always)]
pub fn epoch() -> u64 {
    EPOCH.load(Ordering::Acquire)
}

/// The communicator with this handle; `None` for those that are not the
/// application's.
pub fn find(comm: Word) -> Option<Arc<Communicator>> {
    let host = host()?;
    let comm = comm & host.handle_mask();
    let known = KNOWN.read().get(&comm).cloned();
    let known = match known {
        Some(known) => known,
        None => {
            let found = Communicator::look_up(host, comm).ok()?;
            let mut all = KNOWN.write();
            all.entry(comm)
                .or_insert(Known::Application(Arc::new(found)))
                .clone()
        }
    };
    match known {
        Known::Application(communicator) => Some(communicator),
        Known::Internal => None,
    }
}

/// The handle at an address that an application passed.
pub fn handle_at(address: Word) -> Word {
    match host() {
        // SAFETY: MPI_Comm_free and its like take the address of a handle; a
        // null address is the host's to refuse.
        Some(host) if address != 0 => unsafe { host.read_handle(address) },
        _ => 0,
    }
}

/// A communicator was made; `internal` if not by a call of the application's.
pub fn made(address: Word, internal: bool) {
    let handle = handle_at(address);
    forget(handle);
    if internal {
        KNOWN.write().insert(handle, Known::Internal);
    }
}

/// A communicator is no more: its counts are kept, its handle is forgotten.
pub fn ended(handle: Word) {
    forget(handle);
}

fn forget(handle: Word) {
    let known = KNOWN.write().remove(&handle);
    if let Some(known) = known {
        EPOCH.fetch_add(1, Ordering::AcqRel);
        if let Known::Application(communicator) = known {
            communicator.put_away();
        }
    }
}

/// Puts the counts of all communicators that are still there where those of the
/// freed ones are.
pub fn put_all_away() {
    let all = std::mem::take(&mut *KNOWN.write());
    EPOCH.fetch_add(1, Ordering::AcqRel);
    for known in all.into_values() {
        if let Known::Application(communicator) = known {
            communicator.put_away();
        }
    }
}

impl Communicator {
    fn look_up(host: &Host, comm: Word) -> Result<Self, HostError> {
        let world = *WORLD_GROUP.get().ok_or(HostError::UnknownFamily)?;
        let inter = host.is_inter(comm)?;
        let group = match inter {
            true => host.remote_group(comm)?,
            false => host.group(comm)?,
        };
        let partners = host.translate(group, world);
        host.free_group(group);
        Ok(Communicator {
            partners: partners?,
            rank: host.rank(comm)? as u32,
            inter,
            latest: Latest::default(),
            tallies: Mutex::default(),
        })
    }

    /// The world rank of a destination, if it has one.
    #[inline(always)]
    pub fn partner(&self, dest: usize) -> Option<u32> {
        let partner = *self.partners.get(dest)?;
        (partner != u32::MAX).then_some(partner)
    }

    /// Counts a collective call. Those of inter-communicators are not modelled.
    pub fn count(&self, operation: Operation, arguments: &Arguments) {
        if self.inter {
            return;
        }
        if let Some(host) = host()
            && let Some(seen) =
                collectives::observe(host, operation, arguments, self.rank, self.partners.len())
        {
            if !self.latest.add(operation, &seen) {
                let mut tallies = self.tallies.lock();
                self.latest.turn_to(&mut tallies, operation, &seen);
                tallies.add(operation, seen);
            }
        }
    }

    fn put_away(&self) {
        let mut tallies = std::mem::take(&mut *self.tallies.lock());
        self.latest.settle(&mut tallies);
        collectives::put_away(&self.partners, tallies);
    }
}
