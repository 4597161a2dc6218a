//! The begin and the end of replacing collectives.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::{List, Process, Rank, Slice};
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

/// What the user asks for, as process 0 tells all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Wanted {
    /// Who runs which collective, as the setting is written.
    pub collectives: String,
    /// Reductions do not depend on where ranks run.
    pub reproducible: bool,
    /// The clusters of the processes, if they were given.
    pub clusters: Option<List<Process, usize>>,
    /// What is known of the platform.
    pub platform: PlatformSource,
    /// Whether plans are measured against the MPI's own collectives before they replace them.
    pub guard: GuardMode,
    /// Way of the messages between ranks of one host.
    pub transport: Transport,
    /// Who runs started collectives.
    pub started: Started,
    /// What guards of earlier runs found: cells that start with the plan that was adopted.
    pub known: Vec<GuardedCell>,
    /// What guards found in other programs: plans that are tried first.
    pub proven: Vec<GuardedCell>,
}

/// Why collectives are left to the native MPI.
#[derive(Debug, Error)]
pub enum SetupError {
    /// A call of ours failed.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// What was shared did not come across.
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
        /// Numbers given.
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
    /// A call of ours failed elsewhere.
    #[error("collectives: their set-up failed on another rank")]
    OnAnotherRank,
    /// The setting did not come across.
    #[error("collectives: {0}")]
    Setting(String),
}

/// What says which collectives are replaced. Process 0's decides; others must not say
/// something else.
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

/// Looks whether all ranks were given the same settings. Collective.
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

/// From now on collectives are replaced. `world` is the application's, in which processes have the
/// ranks `new_rank`, where these are others than their numbers. Collective.
///
/// # Errors
/// A platform that is not this one, or a call that failed; all ranks get the same.
pub fn begin(
    native: &Native,
    world: Comm,
    wanted: &Wanted,
    new_rank: Option<&Slice<Process, Rank>>,
) -> Result<(), SetupError> {
    let members = Members::new(native, world)?;
    same_settings(&members)?;
    let collectives = wanted.collectives.parse().map_err(SetupError::Setting)?;
    let mut locality = locality_of(native, world, wanted, new_rank)?;
    if members.rank() == 0 {
        log_begin(wanted, &locality);
    }
    // Process 0 tells all: plans must be the same on all ranks.
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
    // This may fail on one rank alone: then none replaces anything.
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
            // Nothing is started where one rank would not be called.
            let is_called = progress == Progress::Own || progress::begin(native, wants_thread);
            if native.least(world, is_called.into())? == 1 {
                features::begin(features::STARTED);
            }
        }
    }
    Ok(())
}

/// Whether plans may take the place of started collectives of this job, with such a progress.
fn starts(
    wanted: &Wanted,
    collectives: &Collectives,
    locality: &Locality,
    progress: Progress,
) -> bool {
    let all: Vec<usize> = (0..locality.ranks()).collect();
    let are_far = locality.of(&all).0.are_far();
    wanted.started != Started::Native
        && started::is_wanted(collectives, wanted.reproducible, are_far, progress)
}

/// Logs what is replaced, and where the ranks are.
fn log_begin(wanted: &Wanted, locality: &Locality) {
    let cluster_of_rank = locality.cluster_of_rank();
    let count = Clusters::new(&cluster_of_rank).count();
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
    let numbers: Vec<String> = cluster_of_rank.iter().map(usize::to_string).collect();
    log::debug(&format!(
        "collectives: the clusters of the ranks are {}",
        numbers.join(",")
    ));
}

/// Logs why started collectives are replaced in part, or no thread goes on with them.
fn log_progress(
    native: &Native,
    wanted: &Wanted,
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

/// A number that no other run has.
fn seed() -> u64 {
    treepie_base::since_epoch(SystemTime::now()).as_nanos() as u64
}

/// The group of the world, and a communicator of this process alone that returns errors; the
/// attribute is there then by which ours hang on communicators.
fn own_objects(native: &Native, world: Comm) -> Result<(Group, OwnComm), NativeError> {
    attached::prepare(native)?;
    let alone = native.split_quietly(native.comm_self, 0)?;
    native.return_errors(alone.handle())?;
    Ok((native.group(world)?, alone))
}

/// From now on the native MPI does all collectives. `world` is the application's.
/// Collective.
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

/// Where every rank is: in the cluster that was given, where the platform has it, or else in a
/// cluster for each host; and what it is bound to there. The eager limit is left to be said.
fn locality_of(
    native: &Native,
    world: Comm,
    wanted: &Wanted,
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
    let mut cluster_of_rank = List::from(host_of_rank.clone());
    for (process, &cluster) in wanted.clusters.iter().flat_map(|all| all.iter_enumerated()) {
        let rank = new_rank.map_or(Rank(process.0), |new_rank| new_rank[process]);
        cluster_of_rank[rank] = cluster;
    }
    Ok(Locality::Numbers {
        cluster_of_rank: cluster_of_rank.raw,
        host_of_rank,
        inside: Inside::of(&identities),
    })
}
