//! Collection of all ranks' partial profiles at the end of a job, on process 0, along a binomial
//! tree.

use thiserror::Error;
use treepie_base::{List, Process, Rank};
use treepie_mpi::Comm;
use treepie_mpi::native::{Native, NativeError};
use treepie_mpi::share::{BoundedMembers, Group, ShareError, gather, gather_bytes, share};
use treepie_process::machine::{allowed_cores, location};
use treepie_profile::partial_profiles::{Merged, Merger, PartialProfileError, RunDescription};
use treepie_profile::{GuardResults, HostTopology, Profile};

use super::Unlimited;
use super::identity::{Identity, identify};
use super::stream;

/// Reason why there is no profile.
#[derive(Debug, Error)]
pub enum CollectError {
    /// A native call failed, or shared data did not arrive.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// Partial profiles that do not match.
    #[error("a rank's partial profile {0}")]
    PartialProfile(#[from] PartialProfileError),
}

impl CollectError {
    /// True if this rank is to report it.
    pub fn is_reported_here(&self) -> bool {
        match self {
            CollectError::Share(error) => error.is_reported_here(),
            CollectError::PartialProfile(_) => true,
        }
    }
}

impl From<NativeError> for CollectError {
    fn from(error: NativeError) -> Self {
        CollectError::Share(error.into())
    }
}

/// Fixes the world whose ranks are used in all counts, before counting begins.
///
/// # Errors
/// A native call that failed.
pub fn prepare(native: &Native, world: Comm) -> Result<(), NativeError> {
    identify(Identity {
        process: Process(native.rank(native.world)?),
        rank: Rank(native.rank(world)?),
        host: native.processor_name(),
        allowed_cores: allowed_cores(),
        world: native.group(world)?,
    });
    Ok(())
}

/// Collects the record. Collective over all processes. `read_topology` is called on one process of
/// each host. `found` holds the results of guards that this process is to report. On process 0,
/// `write` gets the profile and returns true if it is written; the result is the same on every
/// process.
///
/// # Errors
/// A native call that failed, a process that does not answer, and on process 0 invalid partial
/// profiles.
pub fn collect(
    members: &BoundedMembers<'_>,
    run: &RunDescription,
    found: &GuardResults,
    read_topology: impl Fn() -> Option<String>,
    write: impl FnOnce(Profile) -> bool,
) -> Result<bool, CollectError> {
    let process = Process(members.rank());
    let mut partial = Vec::new();
    stream::encode(Unlimited, &mut partial);
    let partials = gather_bytes(members, partial)?;
    // Errors in the partial profiles must not keep the others waiting.
    let is_root = process == Process(0);
    let merged = is_root.then(|| Merger::merge_all(run, &partials));
    drop(partials);
    let first_of_hosts: Option<Vec<Process>> = merged.as_ref().map(|merged| match merged {
        Ok(Merged { profile }) => {
            let hosts = profile.hosts.iter();
            hosts
                .filter_map(|host| host.processes.first().copied())
                .collect()
        }
        Err(_) => Vec::new(),
    });
    let first_of_hosts = share(members, first_of_hosts)?;
    let is_first = first_of_hosts.contains(&process);
    let (topology, at) = (is_first.then(read_topology), is_first.then(location));
    let mut of_hosts = List::from(gather(members, &(topology.flatten(), at.flatten()))?);
    let found = gather(members, found)?;
    let (mut written, mut failed) = (false, None);
    if let Some(Ok(Merged { mut profile })) = merged {
        let mut texts = Vec::new();
        for (host, &first) in profile.hosts.iter().zip(&first_of_hosts) {
            let (text, at) = std::mem::take(&mut of_hosts[first]);
            texts.push(text);
            profile.locations.extend(at.map(|at| at.of(&host.name)));
        }
        profile.topologies = alike(&profile, texts);
        let found = GuardResults::together(found);
        (profile.guard, profile.guarded_epochs) = (found.collectives, found.epochs);
        written = write(profile);
    } else if let Some(Err(error)) = merged {
        failed = Some(error);
    }
    let written = share(members, is_root.then_some(written))?;
    failed.map_or(Ok(written), |error| Err(error.into()))
}

/// Returns the topologies, with hosts of equal hardware grouped.
fn alike(profile: &Profile, texts: Vec<Option<String>>) -> Vec<HostTopology> {
    let mut topologies: Vec<HostTopology> = Vec::new();
    for (host, text) in profile.hosts.iter().zip(texts) {
        let Some(machine) = text else { continue };
        match topologies.iter_mut().find(|known| known.machine == machine) {
            Some(known) => known.hosts.push(host.name.clone()),
            None => topologies.push(HostTopology {
                hosts: vec![host.name.clone()],
                machine,
            }),
        }
    }
    topologies
}
