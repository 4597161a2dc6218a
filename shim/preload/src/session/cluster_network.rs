//! Network above the hosts on which ranks are placed: the clusters of a platform file, clusters
//! given as numbers, or the network of the hosts.

use std::path::Path;

use treepie_base::{Cluster, List, Process, Slice, text};
use treepie_placement::allocation::{Allocation, AllocationError, network_of};
use treepie_placement::binding::LaunchedProcess;
use treepie_platform::file::PlatformFile;
use treepie_platform::{GivenPlatform, PartialPlatform, Platform};
use treepie_process::log;
use treepie_profile::settings::{Probe, Settings};
use treepie_topology::formats::HostLocation;
use treepie_topology::networks::{Network, Site};
use treepie_topology::{Topology, formats};
use treepie_traffic::Traffic;

use super::hosts::HostFacts;
use super::request_error::RequestError;

/// Name of a platform that has no file of its own.
pub const STORED: &str = "store: what an earlier job measured here";

/// Clusters or network of the job's hosts.
pub enum ClusterNetwork {
    /// None is known.
    Nothing,
    /// A platform, and the name of its file.
    Platform(String, Box<Platform>),
    /// Clusters whose links are not known yet, and the name of their file.
    Partial(String, Box<PartialPlatform>),
    /// The cluster of each process of the launcher's world.
    Clusters(List<Process, Cluster>),
    /// The network of the hosts, and its file or description.
    Network(String, Box<Site>),
}

/// Returns a network without names of hosts, with those of the job if their systems report their
/// locations; unchanged if they report none, or locations on another network.
fn located(site: &Site, locations: &[HostLocation]) -> Site {
    if locations.is_empty() {
        return site.clone();
    }
    formats::by_coordinates(locations, Some(site)).unwrap_or_else(|error| {
        log::info(&format!("{error}; nodes are taken in order"));
        site.clone()
    })
}

impl ClusterNetwork {
    /// Reads the settings. A platform that is to be measured is not known yet.
    ///
    /// # Errors
    /// A file that is not a platform, or not a network.
    pub fn read(settings: &Settings) -> Result<Self, RequestError> {
        if let Some(text) = &settings.network {
            let site = Box::new(formats::named(text)?);
            return Ok(ClusterNetwork::Network(text.clone(), site));
        }
        if let Some(clusters) = &settings.clusters {
            return Ok(ClusterNetwork::Clusters(clusters.clone()));
        }
        match &settings.platform {
            Some(path) if settings.probe == Probe::Never || path.exists() => {
                let name = path.display().to_string();
                Ok(match PlatformFile::given(path, &text::read(path)?)? {
                    GivenPlatform::Complete(platform) => {
                        ClusterNetwork::Platform(name, Box::new(platform))
                    }
                    GivenPlatform::Partial(partial) => {
                        ClusterNetwork::Partial(name, Box::new(partial))
                    }
                })
            }
            _ => Ok(ClusterNetwork::Nothing),
        }
    }

    /// Returns itself, or the platform that an earlier job has measured if nothing is known.
    pub fn or(self, stored: Option<&PlatformFile>) -> Self {
        match (self, stored) {
            (ClusterNetwork::Nothing, Some(file)) => {
                ClusterNetwork::Platform(STORED.to_owned(), Box::new(file.platform.clone()))
            }
            (known, _) => known,
        }
    }

    /// True if the locations of hosts are useful: on a network whose file or description names
    /// none.
    pub fn wants_locations(&self) -> bool {
        matches!(self, ClusterNetwork::Network(_, site) if site.hosts().is_empty())
    }

    /// Returns the job's processes on its hosts, grouped by clusters. If the clusters do not match
    /// the job's hosts, logs a warning and treats all hosts alike.
    ///
    /// # Errors
    /// With `strict`, clusters that do not match this job; `file` names what is placed. Hosts that
    /// do not form a tree.
    pub fn allocation(
        &self,
        file: &Path,
        processes: &Slice<Process, LaunchedProcess>,
        facts: &HostFacts,
        strict: bool,
    ) -> Result<Allocation, RequestError> {
        let machine_of = |native: &str| facts.machines.get(native).cloned();
        let plain = || {
            Allocation::new(processes, machine_of, None)
                .map_err(|error| RequestError::allocation(file, error))
        };
        let below = |above: &Topology| Allocation::new(processes, machine_of, Some(above));
        let (name, found) = match self {
            ClusterNetwork::Nothing => return plain(),
            ClusterNetwork::Platform(name, platform) => {
                let clusters = platform.network().map_err(AllocationError::from);
                (
                    name.as_str(),
                    clusters.and_then(|clusters| below(&clusters)),
                )
            }
            ClusterNetwork::Partial(name, partial) => {
                let clusters = partial.network().map_err(AllocationError::from);
                (
                    name.as_str(),
                    clusters.and_then(|clusters| below(&clusters)),
                )
            }
            ClusterNetwork::Clusters(numbers) => {
                let clusters = network_of(processes, numbers);
                ("clusters", clusters.and_then(|clusters| below(&clusters)))
            }
            ClusterNetwork::Network(name, site) => {
                let found = match site.network() {
                    Network::Tree(tree) => below(tree.topology()),
                    _ => Allocation::new(processes, machine_of, None)
                        .and_then(|hosts| hosts.on_network(located(site, &facts.locations))),
                };
                (name.as_str(), found)
            }
        };
        match found {
            Ok(allocation) => Ok(allocation),
            Err(error) if strict => Err(RequestError::Clusters {
                name: name.to_owned(),
                error,
            }),
            Err(error) => {
                log::warn(&format!(
                    "{name}: {error}; ranks are placed without {}",
                    match self {
                        ClusterNetwork::Network(..) => "the network",
                        _ => "clusters",
                    }
                ));
                plain()
            }
        }
    }

    /// Returns the allocation with measured times as distances, for messages of this traffic's
    /// average size; unchanged if no times were measured.
    pub fn measured(&self, allocation: &Allocation, total: Traffic) -> Option<Allocation> {
        let ClusterNetwork::Platform(_, platform) = self else {
            return None;
        };
        allocation.topology().cluster_depth()?;
        let bytes = total.bytes / total.messages.max(1);
        allocation.measured(platform, bytes).ok()
    }
}
