//! State of a private communicator, and its construction.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use treepie_choice::Chooser;
use treepie_collective::{Clusters, Locality, Neighbourhoods, Network, Operation};
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::system::lock::Mutex;
use treepie_mpi::{Call, Comm, Side, c_int};
use treepie_native::Selector;
use treepie_process::log;
use treepie_profile::settings::{Collectives, GuardMode, Runner};

use super::communicator_parts::CommunicatorParts;
use crate::call_context::{CallContext, Tags};
use crate::chosen::{Chosen, Key};
use crate::device;
use crate::execute::{Prepared, Spaces};
use crate::job::Job;
use crate::setup::{self, Setup};
use crate::started_calls::StartedCalls;
use crate::transport::Memory;
use crate::workplace::Workplace;
/// Intra-communicator of at least two processes of this job.
pub struct Ground {
    /// Runners of its collectives, if its name gives them.
    pub(super) runners: Option<Collectives>,
    pub(super) place: CallContext,
    pub(super) private: OwnComm,
    /// Its processes, by their ranks in the application's world.
    pub(super) ranks: Vec<usize>,
    /// Number that is the same on all its processes, and that no other communicator has on any of
    /// them.
    pub(super) number: u64,
    /// Number of calls that all its processes have made until now.
    pub(super) calls: AtomicU32,
    /// Started collectives.
    pub(super) started: StartedCalls,
    /// Clusters of its processes.
    pub clusters: Clusters,
    /// Network between them, if the platform is known.
    pub network: Option<Arc<Network>>,
    /// True if a process had an accelerator's runtime when this was created, so that all exchange
    /// whether data are in memory that the processor cannot read.
    pub(super) may_have_devices: bool,
    pub(super) told_of_devices: AtomicBool,
    pub(super) chooser: Mutex<Chooser>,
    pub(super) plans: Mutex<HashMap<Key, Option<Arc<Chosen>>>>,
    pub(super) workplace: Mutex<Workplace>,
    /// True if all ranks share memory, so that no plan sends messages of the MPI.
    pub(super) is_in_memory: bool,
}

impl Ground {
    /// Creates it on kept or new parts, for processes that have these ranks in the application's
    /// world.
    ///
    /// # Errors
    /// An internal call that failed.
    pub fn new(
        native: &Native,
        setup: &Setup,
        kept: CommunicatorParts,
        ranks: &[usize],
    ) -> Result<Self, NativeError> {
        let CommunicatorParts {
            private,
            calls,
            started,
            number,
        } = kept;
        let (clusters, network) = setup.locality.of(ranks);
        let network = network.map(Arc::new);
        let family = setup::family(native);
        // If the network is one of constants, the native collectives are not predicted.
        let is_measured = matches!(setup.locality, Locality::Platform { .. });
        let native_family = Some(family).filter(|_| is_measured || network.is_none());
        let version = setup.version;
        let chooser = Chooser::new(network.clone(), &clusters, native_family)
            .with_selector(Selector { family, version });
        let chooser = match setup.is_han {
            true => chooser.with_han(),
            false => chooser,
        };
        native.return_errors(private.handle())?;
        Ok(Ground {
            runners: None,
            place: CallContext {
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
            chooser: Mutex::new(chooser.with_eager_limit(setup.eager)),
            clusters,
            network,
            plans: Mutex::default(),
            workplace: Mutex::default(),
            is_in_memory: false,
        })
    }

    /// Sets the runners of its collectives, if its name gives them.
    pub fn with_runners(self, runners: Option<Collectives>) -> Self {
        Ground { runners, ..self }
    }

    /// Runner of an operation, if all others are run by `usual`.
    pub fn runner<'a>(&'a self, operation: Operation, usual: &'a Runner) -> &'a Runner {
        let own = self.runners.as_ref();
        own.map_or(usual, |runners| runners.runner(operation))
    }

    /// Sets whether one of its processes has an accelerator's runtime, as they agreed.
    pub fn with_devices(self, may_have_devices: bool) -> Self {
        Ground {
            may_have_devices,
            ..self
        }
    }

    /// Adds the topology of the application's communicator.
    pub fn with_neighbourhoods(self, neighbourhoods: Option<Neighbourhoods>) -> Self {
        let Some(neighbourhoods) = neighbourhoods else {
            return self;
        };
        let clusters = self.clusters.with_neighbourhoods(Arc::new(neighbourhoods));
        let chooser = self.chooser.into_inner().with_topology(&clusters);
        Ground {
            clusters,
            chooser: Mutex::new(chooser),
            ..self
        }
    }

    /// True if a neighbour of this process in the topology is missing.
    pub fn has_borders(&self) -> bool {
        let all = self.clusters.neighbourhoods();
        all.is_some_and(|all| all.has_borders(self.place.rank))
    }

    /// Adds the memory that its ranks of this host share. If all ranks share it, plans are chosen
    /// for the memory instead of a platform's links, if they are measured.
    pub fn with_memory(self, setup: &Setup, memory: Option<Memory>) -> Self {
        let is_whole = memory.as_ref().is_some_and(Memory::reaches_all);
        let is_measured = is_whole && setup.guard != GuardMode::Off;
        self.workplace.lock().tools.memory = memory;
        let shared = Ground {
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
                Ground {
                    chooser: Mutex::new(chooser),
                    network: Some(network),
                    ..shared
                }
            }
        }
    }

    /// True if its ranks are on near hosts, between which links are measured.
    pub fn is_between_near(&self) -> bool {
        let network = self.network.as_deref();
        network.is_some_and(|network| network.is_near() && !network.is_in_memory())
    }

    /// True if all ranks share memory, so that no plan sends messages of the MPI.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// True if the processor can read the data of a call, without communication.
    pub fn is_readable(&self, native: &Native, call: &Call) -> bool {
        let is_seen = |side: &Side| side.count == 0 || native.is_ordinary(side.buffer);
        !self.may_have_devices
            && (is_seen(&call.send) && is_seen(&call.receive) || !device::is_possible())
    }

    /// Returns the call on memory that the processor can read; `None` if the native MPI does it, on
    /// all processes, since one of them has data elsewhere. Collective.
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

    /// Reports this, once for a communicator.
    fn tell_of_devices(&self, what: &str) {
        if !self.told_of_devices.swap(true, Ordering::Relaxed) {
            log::info(what);
        }
    }

    /// Returns the private communicator of the same processes.
    pub fn private(&self) -> Comm {
        self.place.comm
    }

    /// Returns this process's rank.
    pub fn rank(&self) -> usize {
        self.place.rank
    }

    /// Returns the workplace, which is kept from call to call.
    pub fn workplace(&self) -> &Mutex<Workplace> {
        &self.workplace
    }

    /// Runs a plan on these spaces, and on the scratch buffer that is kept here.
    ///
    /// # Errors
    /// MPI's code.
    pub fn perform(
        &self,
        native: &Native,
        place: CallContext,
        plan: &Prepared,
        spaces: Spaces,
    ) -> Result<(), c_int> {
        let tools = &mut self.workplace().lock().tools;
        tools.perform(native, place, plan, spaces)
    }
}
