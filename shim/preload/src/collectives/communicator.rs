//! What is kept for a communicator of the application's whose collectives are
//! replaced: a communicator of our own with the same processes, and the plans that
//! were used on it. It hangs on the application's communicator as an attribute,
//! so that it ends with it, whoever ends it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use treepie_core::collective::Operation;
use treepie_core::collective::{Amount, Choice, Chooser, Clusters, Network, Strategy, Uniform};
use treepie_core::platform::Platform;

use super::again::Again;
use super::errors::Handler;
use super::execute::{Account, Place, Prepared, Tags};
use super::setup::{self, Setup};
use super::unit::Room;
use crate::mpi::native::{Native as Host, NativeError as HostError, native as host};
use crate::mpi::{Comm, SUCCESS, Word, c_int};

/// What a plan was made for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which collective.
    pub operation: Operation,
    /// The root.
    pub root: usize,
    /// How much, in units.
    pub amount: Amount,
    /// Bytes of a unit.
    pub unit: u64,
    /// Operands must stay in order.
    pub ordered: bool,
}

/// At most this many plans are kept for a communicator.
const MOST_PLANS: usize = 64;

/// An intra-communicator of at least two processes of this job.
pub struct Communicator {
    place: Place,
    /// Calls that all its processes made until now.
    calls: AtomicU32,
    /// Who is near whom.
    pub clusters: Clusters,
    /// What messages between them meet, if the platform is known.
    pub network: Option<Arc<Network>>,
    chooser: Mutex<Chooser>,
    plans: Mutex<HashMap<Key, Option<Arc<Prepared>>>>,
    /// Calls like those before.
    pub again: Again,
    /// What the application's communicator does with errors.
    pub handler: Handler,
    workplace: Mutex<Workplace>,
}

/// What plans are run with, kept from call to call.
#[derive(Debug, Default)]
pub struct Workplace {
    /// Room for what is on its way.
    pub scratch: Room,
    /// The execution's.
    pub account: Account,
}

/// What hangs on a communicator: nothing more than that, where its collectives are
/// left to the host.
struct Attached(Option<Communicator>);

impl Communicator {
    /// What is kept for `comm`; at the first use, our own communicator is made,
    /// which all its processes do together. `None` where the host does its
    /// collectives.
    pub fn find(host: &Host, setup: &Setup, comm: Comm) -> Option<&'static Communicator> {
        let comm = host.plain(comm);
        let attached = match recent::find(comm) {
            Some(attached) => attached as *const Attached,
            None => {
                let attached = Communicator::attached(host, setup, comm)?;
                recent::keep(comm, attached as usize);
                attached
            }
        };
        // SAFETY: the attribute holds the address of what was attached, until the
        // communicator ends; it can't while one of its collectives is called.
        unsafe { (*attached).0.as_ref() }
    }

    /// What hangs on `comm`; it is made if nothing does. `None` where it can't.
    fn attached(host: &Host, setup: &Setup, comm: Comm) -> Option<*const Attached> {
        let mut attached = host.attribute(comm, setup.keyval) as *const Attached;
        if attached.is_null() {
            // What goes wrong goes wrong on all processes: a context that can't be
            // had, or a communicator that is none.
            let made = Communicator::make(host, setup, comm).ok().flatten();
            let made = Box::into_raw(Box::new(Attached(made)));
            attached = made;
            if host
                .set_attribute_to(comm, setup.keyval, made as Word)
                .is_err()
            {
                // SAFETY: made above, and known to nobody else.
                drop(unsafe { Box::from_raw(made) });
                return None;
            }
        }
        Some(attached)
    }

    fn make(host: &Host, setup: &Setup, comm: Comm) -> Result<Option<Self>, HostError> {
        if host.is_inter(comm)? || host.size(comm)? < 2 {
            return Ok(None);
        }
        let group = host.group(comm)?;
        let ranks = host.translate(group, setup.world_group);
        host.free_group(group);
        let ranks: Vec<usize> = ranks?.iter().map(|&rank| rank as usize).collect();
        let of = |known: &[usize]| -> Option<Vec<usize>> {
            let place = |&rank: &usize| known.get(rank).copied();
            ranks.iter().map(place).collect()
        };
        // Some are of another job.
        let Some(clusters) = of(&setup.cluster_of_rank) else {
            return Ok(None);
        };
        let network = setup.platform.as_ref();
        let network = network.and_then(|platform| Network::new(platform, &ranks));
        let clusters = match (&network, of(&setup.host_of_rank)) {
            (Some(network), _) => Clusters::of_network(network),
            (None, Some(hosts)) => Clusters::new(&clusters).with_closer(&hosts),
            (None, None) => Clusters::new(&clusters),
        };
        let family = setup::family(host);
        // A platform that was written by hand says nothing of when this MPI asks.
        let by_hand = setup.platform.as_ref().is_some_and(Platform::is_by_hand);
        let network = network.map(|network| match by_hand {
            true => Arc::new(network.with_eager_limit(setup.eager)),
            false => Arc::new(network),
        });
        let chooser = Chooser::new(network.clone(), &clusters, Some(family));
        let chooser = match setup.is_han {
            true => chooser.with_han(),
            false => chooser,
        };
        let rank = host.rank(comm)?;
        let private = host.split_quietly(comm, rank)?;
        host.return_errors(private)?;
        Ok(Some(Communicator {
            place: Place {
                comm: private,
                rank,
                tags: Tags::new(host.largest_tag()),
            },
            calls: AtomicU32::new(0),
            chooser: Mutex::new(chooser.with_eager_limit(setup.eager)),
            clusters,
            network,
            plans: Mutex::default(),
            again: Again::default(),
            handler: Handler::default(),
            workplace: Mutex::default(),
        }))
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.place.rank
    }

    /// Where the plan of a call runs. To be asked once for each call, before anything that one
    /// process alone may find out: all processes count alike.
    pub fn next_call(&self) -> Place {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        Place {
            tags: self.place.tags.of_call(number),
            ..self.place
        }
    }

    /// The plan for `key`, made by `make` at the first use.
    pub fn plan(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Option<Prepared>,
    ) -> Option<Arc<Prepared>> {
        let mut plans = self.plans.lock();
        if let Some(plan) = plans.get(&key) {
            return plan.clone();
        }
        let plan = make(&key).map(Arc::new);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(key, plan.clone());
        plan
    }

    /// What is best for a call, of those that serve it.
    pub fn choose(&self, key: &Key, bytes: Option<u64>) -> Arc<Choice> {
        let mut chooser = self.chooser.lock();
        chooser.choose(key.operation, bytes, key.root, key.ordered, &self.clusters)
    }

    /// The largest message, in bytes, that is sent at once.
    pub fn eager_limit(&self) -> u64 {
        self.chooser.lock().eager_limit()
    }

    /// The largest message, in bytes, that a strategy should send for a call.
    pub fn segment(&self, strategy: &'static Strategy, key: &Key, bytes: Option<u64>) -> u64 {
        let call = Uniform {
            operation: key.operation,
            bytes: bytes.unwrap_or(0),
            root: key.root,
        };
        let chooser = self.chooser.lock();
        chooser.segment(strategy, &call, &self.clusters)
    }

    /// What plans are run with.
    pub fn workplace(&self) -> &Mutex<Workplace> {
        &self.workplace
    }
}

/// What hangs on the communicators that were used last: to ask the host for an attribute costs
/// more than all else that is looked up for a call like one before.
mod recent {
    use parking_lot::Mutex;

    use crate::mpi::{Comm, Handle, Word};

    const CELLS: usize = 8;

    /// Communicators, and the values of their attributes; 0 in empty cells.
    static RECENT: Mutex<[(Comm, Word); CELLS]> = Mutex::new([(Comm::ABSENT, 0); CELLS]);

    fn cell_of(comm: Comm) -> usize {
        // Handles are numbers that follow each other, or addresses on the heap.
        let word = comm.word();
        (word ^ word >> 4 ^ word >> 9) % CELLS
    }

    /// The value of a communicator's attribute, if it is known.
    pub fn find(comm: Comm) -> Option<Word> {
        let (of, value) = RECENT.lock()[cell_of(comm)];
        (of == comm && value != 0).then_some(value)
    }

    /// A communicator's attribute has this value, until it is forgotten.
    pub fn keep(comm: Comm, value: Word) {
        RECENT.lock()[cell_of(comm)] = (comm, value);
    }

    /// The communicator with this value has ended: another one may get its handle.
    pub fn forget(value: Word) {
        for cell in RECENT.lock().iter_mut().filter(|cell| cell.1 == value) {
            *cell = (Comm::ABSENT, 0);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_handle_of_a_communicator_that_ended_finds_nothing() {
            let [one, other] = [0x8400_0001, 0x8400_0002].map(Comm::from_word);
            keep(one, 16);
            keep(other, 32);
            forget(16);
            assert_eq!(find(one), None);
            assert_eq!(find(other), Some(32));
        }

        #[test]
        fn one_communicator_is_not_taken_for_another_in_the_same_cell() {
            let [one, other] = [0x7000_0000, 0x7000_0000 + (1 << 20)].map(Comm::from_word);
            assert_eq!(cell_of(one), cell_of(other));
            keep(one, 48);
            assert_eq!(find(other), None);
            keep(other, 64);
            assert_eq!((find(one), find(other)), (None, Some(64)));
        }
    }
}

/// `MPI_Comm_delete_attr_function` of the attribute.
pub unsafe extern "C" fn ended(_comm: Comm, _keyval: c_int, value: Word, _extra: Word) -> c_int {
    recent::forget(value);
    // SAFETY: the value is what `find` attached, and nobody uses it any more.
    let attached = unsafe { Box::from_raw(value as *mut Attached) };
    if let (Some(communicator), Some(host)) = (attached.0, host()) {
        host.free_communicator(communicator.place.comm);
    }
    SUCCESS
}
