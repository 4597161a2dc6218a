//! What is kept for a communicator of the application's whose collectives are
//! replaced: a communicator of our own with the same processes, and the plans that
//! were used on it.

mod started;

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use treepie_choice::{Challenger, Choice, Chooser, Form};
use treepie_collective::{
    Algorithm, Amount, Clusters, Locality, Neighbourhoods, Network, Operation, Problem, Uniform,
    is_acknowledged,
};
use treepie_guard::CellKey;
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::{Call, Comm, Side, c_int};
use treepie_process::log;
use treepie_profile::settings::{Collectives, GuardMode, Runner};
use treepie_record::Plan;

use crate::device;
use crate::execute::{Account, Prepared, Spaces, execute};
use crate::guard::{Guarding, Ready};
use crate::job::Job;
use crate::lock::Mutex;
use crate::place::{Place, Tags};
use crate::plans;
use crate::repeated::Repeated;
use crate::setup::{self, Setup};
use crate::sizes::Uneven;
use crate::started::Started;
use crate::transport::Memory;
use crate::unit::Scratch;
pub use started::Kept;

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
    /// The plan that the guard says: algorithm, and the largest message in bytes.
    pub guarded: Option<(&'static str, u64)>,
    /// Whether it ends within the call.
    pub form: Form,
    /// Receivers tell that they have begun.
    pub is_acknowledged: bool,
}

/// A plan that was chosen, and how it is counted.
#[derive(Debug)]
pub struct Chosen {
    /// What is run.
    pub plan: Prepared,
    /// What is said of it.
    pub run: Plan,
}

impl Chosen {
    /// The same where receivers tell that they have begun.
    fn acknowledged(&self) -> Chosen {
        Chosen {
            plan: Prepared::new(self.plan.plan().acknowledged()),
            run: self.run,
        }
    }
}

/// At most this many plans are kept for a communicator.
const MOST_PLANS: usize = 64;

/// An intra-communicator of at least two processes of this job.
pub struct Communicator {
    /// Whether plans take the place of native collectives is measured here; what it has under way
    /// ends before our communicator does.
    pub guard: Option<Guarding>,
    /// Who runs its collectives, where its name says so.
    runners: Option<Collectives>,
    /// The MPI's other algorithms that were tried here.
    pub ready: Ready,
    place: Place,
    private: OwnComm,
    /// Its processes, by their ranks in the application's world.
    ranks: Vec<usize>,
    /// The same on all its processes, and no other's on any of them.
    number: u64,
    /// Calls that all its processes made until now.
    calls: AtomicU32,
    /// Started collectives.
    started: Started,
    /// Who is near whom.
    pub clusters: Clusters,
    /// What messages between them meet, if the platform is known.
    pub network: Option<Arc<Network>>,
    /// Whether a process had an accelerator's runtime when this was made, so that all tell each
    /// other of data that the processor can't read.
    may_have_devices: bool,
    told_of_devices: AtomicBool,
    /// What was learnt of calls with uneven sizes.
    pub uneven: Uneven,
    chooser: Mutex<Chooser>,
    plans: Mutex<HashMap<Key, Option<Arc<Chosen>>>>,
    workplace: Mutex<Workplace>,
    /// Whether all ranks share memory, so that no plan has messages of the MPI's.
    is_in_memory: bool,
}

/// What is kept from call to call, for one at a time.
#[derive(Debug, Default)]
pub struct Workplace {
    /// What is known of calls like those before.
    pub repeated: Repeated,
    /// What plans are run with.
    pub tools: Tools,
}

/// What plans are run with.
#[derive(Debug, Default)]
pub struct Tools {
    /// The memory that this process shares with others of its host.
    memory: Option<Memory>,
    /// Scratch buffer for what is on its way.
    scratch: Scratch,
    /// The execution's.
    account: Account,
}

impl Tools {
    /// Runs a plan on what the spaces say, which have no scratch yet.
    ///
    /// # Errors
    /// MPI's code.
    pub fn perform(
        &mut self,
        native: &Native,
        place: Place,
        plan: &Prepared,
        mut spaces: Spaces,
    ) -> Result<(), c_int> {
        let (account, memory) = (&mut self.account, self.memory.as_mut());
        spaces.scratch = self.scratch.hold(&spaces.unit, plan.plan().scratch());
        // SAFETY: the spaces are the application's buffers, of the length that its
        // counts say, or scratch buffers that were made for them.
        let result = unsafe { execute(native, plan, &spaces, place, account, memory) };
        if result.is_err() {
            // What is under way may still use it.
            mem::forget((mem::take(&mut self.scratch), mem::take(&mut self.account)));
        }
        result
    }
}

impl Communicator {
    /// On what is kept or was made, by processes that have these ranks in the application's world.
    ///
    /// # Errors
    /// A call of ours that failed.
    pub fn new(
        native: &Native,
        setup: &Setup,
        kept: Kept,
        ranks: &[usize],
    ) -> Result<Self, NativeError> {
        let Kept {
            private,
            calls,
            started,
            number,
        } = kept;
        let (clusters, network) = setup.locality.of(ranks);
        let network = network.map(Arc::new);
        let family = setup::family(native);
        // Where the network is one of constants, the MPI's own is not predicted.
        let is_measured = matches!(setup.locality, Locality::Platform { .. });
        let native_family = Some(family).filter(|_| is_measured || network.is_none());
        let chooser = Chooser::new(network.clone(), &clusters, native_family);
        let chooser = match setup.is_han {
            true => chooser.with_han(),
            false => chooser,
        };
        native.return_errors(private.handle())?;
        Ok(Communicator {
            guard: None,
            runners: None,
            ready: Ready::default(),
            place: Place {
                comm: private.handle(),
                rank: native.rank(private.handle())?,
                tags: Tags::new(native.largest_tag()),
                call: 0,
                is_started: false,
            },
            private,
            ranks: ranks.to_vec(),
            number,
            calls,
            started,
            may_have_devices: false,
            told_of_devices: AtomicBool::new(false),
            uneven: Uneven::default(),
            chooser: Mutex::new(chooser.with_eager_limit(setup.eager)),
            clusters,
            network,
            plans: Mutex::default(),
            workplace: Mutex::default(),
            is_in_memory: false,
        })
    }

    /// The same where its name says who runs its collectives.
    pub fn with_runners(self, runners: Option<Collectives>) -> Self {
        Communicator { runners, ..self }
    }

    /// Who runs an operation, where all others are run by `usual`.
    pub fn runner<'a>(&'a self, operation: Operation, usual: &'a Runner) -> &'a Runner {
        let own = self.runners.as_ref();
        own.map_or(usual, |runners| runners.runner(operation))
    }

    /// The same where processes agreed whether one of them has an accelerator's runtime.
    pub fn with_devices(self, may_have_devices: bool) -> Self {
        Communicator {
            may_have_devices,
            ..self
        }
    }

    /// The same with the topology of the application's communicator.
    pub fn with_neighbourhoods(self, neighbourhoods: Option<Neighbourhoods>) -> Self {
        let Some(neighbourhoods) = neighbourhoods else {
            return self;
        };
        let clusters = self.clusters.with_neighbourhoods(Arc::new(neighbourhoods));
        let chooser = self.chooser.into_inner().with_topology(&clusters);
        Communicator {
            clusters,
            chooser: Mutex::new(chooser),
            ..self
        }
    }

    /// Whether a place of this process in the topology has no neighbour.
    pub fn has_borders(&self) -> bool {
        let all = self.clusters.neighbourhoods();
        all.is_some_and(|all| all.has_borders(self.place.rank))
    }

    /// The same where its ranks of this host share memory. Where all ranks do, plans are chosen for
    /// the memory instead of a platform's links, if they are measured.
    pub fn with_memory(self, setup: &Setup, memory: Option<Memory>) -> Self {
        let is_whole = memory.as_ref().is_some_and(Memory::reaches_all);
        let is_measured = is_whole && setup.guard != GuardMode::Off;
        self.workplace.lock().tools.memory = memory;
        let shared = Communicator {
            is_in_memory: is_whole,
            ..self
        };
        match is_measured && !shared.clusters.are_far() {
            false => shared,
            true => {
                let known = shared.network.clone().filter(|known| known.is_in_memory());
                let network =
                    known.unwrap_or_else(|| Arc::new(Network::in_memory(&shared.clusters)));
                let chooser = Chooser::new(Some(network.clone()), &shared.clusters, None);
                Communicator {
                    chooser: Mutex::new(chooser),
                    network: Some(network),
                    ..shared
                }
            }
        }
    }

    /// The same under the guard that the settings ask for; its ranks are these of the application's
    /// world.
    pub fn with_guard(self, setup: &Setup, ranks: &[usize]) -> Self {
        let count = self.clusters.count();
        let is_in_memory = self.network.as_ref().is_some_and(|one| one.is_in_memory());
        let tries_plans = count > 1 || is_in_memory;
        Communicator {
            guard: Guarding::new(setup, ranks, count, tries_plans),
            ..self
        }
    }

    /// Whether all ranks share memory, so that no plan has messages of the MPI's.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// Whether the processor can read the data of a call, without a word to other ranks.
    pub fn is_readable(&self, native: &Native, call: &Call) -> bool {
        let is_seen = |side: &Side| side.count == 0 || native.is_ordinary(side.buffer);
        !self.may_have_devices
            && (is_seen(&call.send) && is_seen(&call.receive) || !device::is_possible())
    }

    /// The call on memory that the processor can read; `None` where the native MPI does it, on all
    /// processes, since one of them has data elsewhere. Collective.
    ///
    /// # Errors
    /// A native call that failed.
    pub fn readable(
        &self,
        native: &Native,
        operation: Operation,
        job: Job,
    ) -> Result<Option<Job>, NativeError> {
        let is_on_device = device::is_possible() && job.is_on_device();
        if self.may_have_devices && native.least(self.place.comm, u8::from(!is_on_device))? == 0 {
            self.tell_of_devices(&format!(
                "{operation}: data are in the memory of an accelerator: left to the MPI"
            ));
            return Ok(None);
        }
        if is_on_device {
            self.tell_of_devices(&format!(
                "{operation}: data are in the memory of an accelerator, whose runtime was loaded \
                 after the first collective: the MPI copies them"
            ));
            return Ok(Some(job.copied_by_native()));
        }
        Ok(Some(job))
    }

    /// Says this, once for a communicator.
    fn tell_of_devices(&self, what: &str) {
        if !self.told_of_devices.swap(true, Ordering::Relaxed) {
            log::info(what);
        }
    }

    /// Our communicator of the same processes.
    pub fn private(&self) -> Comm {
        self.place.comm
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.place.rank
    }

    /// Where the plan of a call runs. To be asked once for each call, before anything that one
    /// process alone may find out: all processes count alike.
    pub fn next_call(&self) -> Place {
        // One thread at a time is in a collective on a communicator.
        let number = self.calls.load(Ordering::Relaxed);
        self.calls.store(number.wrapping_add(1), Ordering::Relaxed);
        Place {
            tags: self.place.tags.of_call(number),
            call: number,
            ..self.place
        }
    }

    /// The key of the blocking call of this number, which may be acknowledged. What goes through
    /// memory has nowhere to wait in.
    pub fn of_call(&self, number: u32, mut key: Key) -> Key {
        let may_run_ahead = !key.operation.needs_all() && !self.is_in_memory;
        key.is_acknowledged = may_run_ahead && is_acknowledged(number, plans::bytes(&key));
        key
    }

    /// The plan for `key`, made by `make` at the first use.
    pub fn plan(&self, key: Key, make: impl FnOnce(&Key) -> Option<Chosen>) -> Option<Arc<Chosen>> {
        if !key.is_acknowledged {
            return self.kept_plan(key, make);
        }
        let plain = Key {
            is_acknowledged: false,
            ..key.clone()
        };
        let plain = self.kept_plan(plain, make)?;
        self.kept_plan(key, |_| Some(plain.acknowledged()))
    }

    fn kept_plan(
        &self,
        key: Key,
        make: impl FnOnce(&Key) -> Option<Chosen>,
    ) -> Option<Arc<Chosen>> {
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

    /// A call in bytes, as this rank knows it.
    pub fn problem<'a>(
        &'a self,
        operation: Operation,
        root: usize,
        amount: &'a Amount,
    ) -> Problem<'a> {
        Problem {
            operation,
            root,
            amount,
            clusters: &self.clusters,
            ordered: false,
            network: self.network.as_deref(),
            unit_bytes: 1,
        }
    }

    /// The largest message, in bytes, that is sent at once.
    pub fn eager_limit(&self) -> u64 {
        self.chooser.lock().eager_limit()
    }

    /// What is best for a call, of those that serve it.
    pub fn choose(&self, key: &Key, bytes: Option<u64>) -> Arc<Choice> {
        let mut chooser = self.chooser.lock();
        chooser.choose(key.operation, bytes, key.root, key.ordered, &self.clusters)
    }

    /// The best for calls whose sizes not all know, from whatever root.
    pub fn choose_unknown(&self, operation: Operation) -> Option<&'static Algorithm> {
        let mut chooser = self.chooser.lock();
        chooser
            .choose(operation, None, 0, false, &self.clusters)
            .strategy
    }

    /// The plans that the guard tries for calls of a cell, the best first.
    pub fn challengers(&self, key: &CellKey) -> Vec<Challenger> {
        let root = key.root.unwrap_or(0) as usize;
        let mut chooser = self.chooser.lock();
        let choice = chooser.choose(key.operation, key.bytes, root, key.ordered, &self.clusters);
        chooser.challengers(&choice, key.bytes)
    }

    /// The largest message, in bytes, of the plan of a choice.
    pub fn largest_message(&self, choice: &Choice, bytes: Option<u64>) -> u64 {
        self.chooser.lock().largest_message(choice, bytes)
    }

    /// The largest message, in bytes, that a strategy should send for a call.
    pub fn segment(&self, strategy: &'static Algorithm, key: &Key, bytes: Option<u64>) -> u64 {
        let call = Uniform {
            operation: key.operation,
            bytes: bytes.unwrap_or(0),
            root: key.root,
        };
        let chooser = self.chooser.lock();
        chooser.segment(strategy, &call, &self.clusters)
    }

    /// What is kept from call to call.
    pub fn workplace(&self) -> &Mutex<Workplace> {
        &self.workplace
    }
}
