//! Start and end of replacing collectives.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::{Cluster, List, Process, Rank, Slice};
use treepie_choice::Progress;
use treepie_collective::{Clusters, Locality};
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::share::{Group as _, Members, ShareError, gather_to_all, share};
use treepie_mpi::{Comm, Group};
use treepie_native::Selector;
use treepie_platform::{Identity, Inside};
use treepie_process::{features, log};
use treepie_profile::GuardedCell;
use treepie_profile::settings::{Collectives, GuardMode, Started, Transport};

use crate::guard::knobs::Knobs;
use crate::guard::{self};
use crate::platform::{self, PlatformSource, PlatformUnknown};
use crate::setup::{SETUP, Setup, active, family};
use crate::started::{self, progress};
use crate::transport::located;
use crate::{attached, eager, guarded, own};

/// Settings of the user, as process 0 shares them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CollectiveSettings {
    /// Runner of each collective, in the syntax of the setting.
    pub collectives: String,
    /// True if reductions must not depend on where ranks run.
    pub reproducible: bool,
    /// Cluster of each process, if given.
    pub clusters: Option<List<Process, Cluster>>,
    /// Known platform, or how to obtain one.
    pub platform: PlatformSource,
    /// Mode of the guard: whether and how plans are measured against the MPI's own collectives
    /// before they replace them.
    pub guard: GuardMode,
    /// Transport of the messages between ranks of one host.
    pub transport: Transport,
    /// Setting for started collectives.
    pub started: Started,
    /// Results of guards in earlier runs: cells that start with the adopted plan.
    pub known: Vec<GuardedCell>,
    /// Results of guards in other programs: plans that are tried first.
    pub proven: Vec<GuardedCell>,
}

/// Reason why collectives are left to the native MPI.
#[derive(Debug, Error)]
pub enum SetupError {
    /// An internal call failed.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// Shared data did not arrive.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// There is no platform.
    #[error(transparent)]
    Platform(#[from] PlatformUnknown),
    /// Not every rank has a cluster.
    #[error(
        "clusters: {given} ranks have a cluster, and the job has {ranks} ranks; give one number \
         for each rank"
    )]
    Clusters {
        /// Number of ranks given.
        given: usize,
        /// Ranks of the job.
        ranks: usize,
    },
    /// Ranks were given different settings.
    #[error(
        "{variable} of rank {rank} is not that of rank 0; give all ranks the same settings, or \
         put them into one file that TREEPIE_CONFIG names"
    )]
    Differs {
        /// The variable.
        variable: &'static str,
        /// The first rank whose value differs.
        rank: usize,
    },
    /// An internal call failed on another rank.
    #[error("collectives: their set-up failed on another rank")]
    OnAnotherRank,
    /// The setting did not arrive.
    #[error("collectives: {0}")]
    Setting(String),
}

/// Variables that decide which collectives are replaced. Those of process 0 count; other processes
/// must not have different values.
const VARIABLES: [&str; 9] = [
    "TREEPIE_CONFIG",
    "TREEPIE_COLLECTIVES",
    "TREEPIE_STARTED",
    "TREEPIE_CLUSTERS",
    "TREEPIE_REPRODUCIBLE",
    "TREEPIE_GUARD",
    "TREEPIE_TRANSPORT",
    "TREEPIE_PLATFORM",
    "TREEPIE_PROBE",
];

/// Tests whether all ranks have the same settings. Collective.
fn same_settings(members: &Members<'_>) -> Result<(), SetupError> {
    let hash = |variable| {
        let mut hasher = DefaultHasher::new();
        env::var_os(variable).hash(&mut hasher);
        hasher.finish()
    };
    let all = gather_to_all(members, &VARIABLES.map(hash))?;
    for (rank, other) in all.iter().enumerate() {
        let mut both = other.iter().zip(&all[0]);
        if let Some(place) = both.position(|(own, first)| own != first) {
            let variable = VARIABLES[place];
            return Err(SetupError::Differs { variable, rank });
        }
    }
    Ok(())
}

/// Replaces collectives from now on. `world` is the application's, in which processes have the
/// ranks `new_rank`, if these differ from their numbers. Collective.
///
/// # Errors
/// A platform that does not match, or a call that failed; the same on all ranks.
pub fn begin(
    native: &Native,
    world: Comm,
    wanted: &CollectiveSettings,
    new_rank: Option<&Slice<Process, Rank>>,
) -> Result<(), SetupError> {
    let members = Members::new(native, world)?;
    same_settings(&members)?;
    let collectives = wanted.collectives.parse().map_err(SetupError::Setting)?;
    let mut locality = locality_of(native, world, wanted, new_rank)?;
    if members.rank() == 0 {
        log_begin(wanted, &locality);
    }
    // Process 0's values are shared: plans must be the same on all ranks.
    let seen = (members.rank() == 0).then(|| {
        let family = family(native);
        let limit = eager::limit(native, family);
        let selector = Selector::new(family, &native.library_version());
        (
            limit,
            (own::is_han(native, family), selector.version),
            seed(),
        )
    });
    let (eager, (is_han, version), seed) = share(&members, seen)?;
    if let Locality::Platform { eager_limit, .. } = &mut locality {
        *eager_limit = eager;
    }
    let knobs = Knobs::agree(native, &members, (wanted.guard, is_han))?;
    let located = match wanted.transport {
        Transport::Messages => Vec::new(),
        Transport::Memory => gather_to_all(&members, &located())?,
    };
    // This may fail on a single rank: then none replaces anything.
    let own = own_objects(native, world);
    if native.least(world, own.is_ok().into())? == 0 {
        own?;
        return Err(SetupError::OnAnotherRank);
    }
    let (world_group, alone) = own?;
    let wants_thread = wanted.started == Started::Thread;
    let progress = match wanted.started == Started::Native {
        false => progress::agree(native, world, wants_thread)?,
        true => Progress::Own,
    };
    let starts = starts(wanted, &collectives, &locality, progress);
    if members.rank() == 0 {
        log_progress(native, wanted, progress, || {
            self::starts(wanted, &collectives, &locality, Progress::Called)
        });
    }
    let setup = Setup {
        collectives,
        reproducible: wanted.reproducible,
        locality,
        world_group,
        alone: Mutex::new(Some(alone)),
        eager,
        is_han,
        version,
        guard: wanted.guard,
        knobs: knobs.map(Arc::new),
        located,
        known: wanted.known.clone(),
        proven: wanted.proven.clone(),
        seed,
        progress,
    };
    if SETUP.set(setup).is_ok() {
        features::begin(features::REPLACING);
        if let (true, Some(setup)) = (starts, SETUP.get()) {
            attached::with(native, setup, world, |_| ());
            // Started collectives are only replaced if progress is made on every rank.
            let is_called = progress == Progress::Own || progress::begin(native, wants_thread);
            if native.least(world, is_called.into())? == 1 {
                features::begin(features::STARTED);
            }
        }
    }
    Ok(())
}

/// True if plans may replace started collectives of this job, with this kind of progress.
fn starts(
    wanted: &CollectiveSettings,
    collectives: &Collectives,
    locality: &Locality,
    progress: Progress,
) -> bool {
    let all: Vec<usize> = (0..locality.ranks()).collect();
    let are_far = locality.of(&all).0.are_far();
    wanted.started != Started::Native
        && started::is_wanted(collectives, wanted.reproducible, are_far, progress)
}

/// Logs which collectives are replaced, and the locality of the ranks.
fn log_begin(wanted: &CollectiveSettings, locality: &Locality) {
    let cluster_of_rank = locality.cluster_of_rank();
    let count = Clusters::new(&cluster_of_rank.raw).count();
    let ranks = cluster_of_rank.len();
    let guard = match wanted.guard {
        GuardMode::Off => "",
        GuardMode::On => ", guarded",
        GuardMode::Report => ", tried and reported",
    };
    log::info(&format!(
        "collectives: {}{guard}, on {ranks} ranks in {count} cluster{}",
        wanted.collectives,
        if count == 1 { "" } else { "s" }
    ));
    let levels = locality.inside().iter();
    let levels: Vec<&str> = levels.map(|inside| inside.level.as_str()).collect();
    if !levels.is_empty() {
        let levels = levels.join(", ");
        log::info(&format!(
            "collectives: ranks are bound to parts of hosts: {levels}"
        ));
    }
    let numbers: Vec<String> = cluster_of_rank.iter().map(Cluster::to_string).collect();
    log::debug(&format!(
        "collectives: the clusters of the ranks are {}",
        numbers.join(",")
    ));
}

/// Logs why only some started collectives are replaced, or why no thread drives them.
fn log_progress(
    native: &Native,
    wanted: &CollectiveSettings,
    progress: Progress,
    would_start_if_called: impl FnOnce() -> bool,
) {
    let has_thread = progress == Progress::Called && progress::takes_thread(native);
    if wanted.started == Started::Thread && !has_thread {
        log::info(
            "started collectives: no thread goes on with them, since the program was not granted \
             MPI_THREAD_MULTIPLE on all ranks, or this is MPICH from 4.3 on or Open MPI 6",
        );
    }
    if progress == Progress::Own && would_start_if_called() {
        log::info(
            "started collectives: this MPI calls nobody while it waits, so only plans are taken in \
             which no message waits for another",
        );
    }
}

/// Returns a number that no other run has.
fn seed() -> u64 {
    treepie_base::since_epoch(SystemTime::now()).as_nanos() as u64
}

/// Returns the group of the world, and a communicator of this process alone that returns errors;
/// also creates the attribute by which this library's communicators are attached to others.
fn own_objects(native: &Native, world: Comm) -> Result<(Group, OwnComm), NativeError> {
    attached::prepare(native)?;
    let alone = native.split_quietly(native.comm_self, 0)?;
    native.return_errors(alone.handle())?;
    Ok((native.group(world)?, alone))
}

/// Leaves all collectives to the native MPI from now on. `world` is the application's. Collective.
pub fn end(native: &Native, world: Comm) {
    if let Some(setup) = active() {
        guarded::end(native);
        if features::any(features::STARTED) {
            progress::end(native);
        }
        features::end(features::REPLACING | features::STARTED);
        attached::detach(native, world);
        *setup.alone.lock() = None;
    }
    guard::end_controls();
}

/// Returns the locality of the ranks: in the clusters that were given, in those of the platform, or
/// else in one cluster for each host; with their bindings there. The eager limit is not set yet.
fn locality_of(
    native: &Native,
    world: Comm,
    wanted: &CollectiveSettings,
    new_rank: Option<&Slice<Process, Rank>>,
) -> Result<Locality, SetupError> {
    let ranks = native.size(world)?;
    if let Some(clusters) = &wanted.clusters
        && clusters.len() != ranks
    {
        let given = clusters.len();
        return Err(SetupError::Clusters { given, ranks });
    }
    let identities = gather_to_all(&Members::new(native, world)?, &platform::identity(native))?;
    if wanted.clusters.is_none()
        && let Some(platform) = platform::settle(native, world, &identities, &wanted.platform)?
    {
        return Ok(Locality::Platform {
            platform,
            eager_limit: 0,
        });
    }
    let mut known = std::collections::HashMap::new();
    let mut number = |name| {
        let next = known.len();
        *known.entry(name).or_insert(next)
    };
    let hosts = identities.iter().map(|one: &Identity| one.host.as_str());
    let host_of_rank: Vec<usize> = hosts.map(&mut number).collect();
    let mut cluster_of_rank: List<Rank, Cluster> = Cluster::list(host_of_rank.iter().copied());
    for (process, &cluster) in wanted.clusters.iter().flat_map(|all| all.iter_enumerated()) {
        let rank = new_rank.map_or(Rank(process.0), |new_rank| new_rank[process]);
        cluster_of_rank[rank] = cluster;
    }
    Ok(Locality::Numbers {
        cluster_of_rank,
        host_of_rank,
        inside: Inside::of(&identities),
    })
}
