//! At the end of a job: every rank's part of the record, brought to process 0
//! along a binomial tree over a communicator of our own.

use treepie_core::files::parts::{Merged, Merger, PartError, RunDescription};
use treepie_core::files::profile::{HostTopology, Profile};

use super::Unlimited;
use super::communicators;
use super::stream::{self, Identity};
use crate::machine::allowed_cores;
use crate::mpi::Word;
use crate::mpi::native::gather::{broadcast_numbers, gather, texts_of};
use crate::mpi::native::{Native as Host, NativeError as HostError};

use thiserror::Error;

/// Why there is no profile.
#[derive(Debug, Error)]
pub enum CollectError {
    /// A call of the host's failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Parts that do not go together.
    #[error("a rank's part {0}")]
    Part(#[from] PartError),
}

/// Fixes the world in whose ranks everything is counted, before counting begins.
///
/// # Errors
/// A call of the host's that failed.
pub fn prepare(host: &Host, world: Word) -> Result<(), HostError> {
    communicators::set_world(host, world)?;
    stream::identify(Identity {
        process: host.rank(host.world)? as u32,
        rank: host.rank(world)? as u32,
        host: host.processor_name(),
        allowed_cores: allowed_cores(),
    });
    Ok(())
}

/// Collects the record. Collective. `read_topology` is called on one process of
/// each host. On process 0, `write` gets the profile and says whether it is
/// written; the result is the same on every process.
///
/// # Errors
/// A call of the host's that failed, and on process 0 parts that make no sense.
pub fn collect(
    host: &Host,
    run: &RunDescription,
    read_topology: impl Fn() -> Option<String>,
    write: impl FnOnce(&Profile) -> bool,
) -> Result<bool, CollectError> {
    let mut part = Vec::new();
    stream::encode(Unlimited, &mut part);
    let private = host.split(host.world, host.rank(host.world)?)?;
    let result = host
        .return_errors(private)
        .map_err(CollectError::Host)
        .and_then(|()| collect_over(host, private, run, part, read_topology, write));
    host.free_communicator(private);
    result
}

fn collect_over(
    host: &Host,
    private: Word,
    run: &RunDescription,
    part: Vec<u8>,
    read_topology: impl Fn() -> Option<String>,
    write: impl FnOnce(&Profile) -> bool,
) -> Result<bool, CollectError> {
    let process = host.rank(private)?;
    let parts = gather(host, private, part)?;
    // What is wrong with the parts must not keep the others waiting.
    let mut merged = match process {
        0 => Some(Merger::merge_all(run, &parts)),
        _ => None,
    };
    drop(parts);
    let first_of_hosts = match &merged {
        Some(Ok(Merged { profile })) => profile
            .hosts
            .iter()
            .filter_map(|host| host.processes.first().copied())
            .collect(),
        _ => Vec::new(),
    };
    let first_of_hosts = broadcast_numbers(host, private, first_of_hosts)?;
    let topologies = texts_of(host, private, &first_of_hosts, read_topology)?;
    let mut written = [0];
    if let Some(Ok(Merged { profile })) = &mut merged {
        profile.topologies = alike(profile, topologies);
        written = [u8::from(write(profile))];
    }
    host.broadcast(private, &mut written)?;
    match merged {
        Some(Err(error)) => Err(error.into()),
        _ => Ok(written == [1]),
    }
}

/// Hosts with the same hardware, together.
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
