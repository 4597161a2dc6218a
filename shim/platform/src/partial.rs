//! Clusters known from elsewhere, by the names of their hosts: their links may be missing, until a
//! job measures them ([`complete`](crate::probe::complete)).

use treepie_topology::{Topology, TopologyError};

use crate::check;
use crate::clustering::Partition;
use crate::contents::{Contents, Host, PlatformCluster, PlatformError};
use crate::description::{Mismatch, Platform};
use crate::distances::network_of;

/// A platform whose links, and ranks of hosts, may be missing.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialPlatform(Contents);

/// The part of a file's platform that applies to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenPlatform {
    /// A complete platform.
    Complete(Platform),
    /// Clusters with their hosts, and perhaps some links.
    Partial(PartialPlatform),
}

impl PartialPlatform {
    /// Checks the existing parts.
    ///
    /// # Errors
    /// Reports the first part that is inconsistent with the others.
    pub fn new(contents: Contents) -> Result<Self, PlatformError> {
        check::check_partial(&contents)?;
        Ok(PartialPlatform(contents))
    }

    /// Builds clusters of hosts by their names, without any link. A host named several times, in
    /// one cluster, has as many ranks.
    ///
    /// # Errors
    /// A host is in two clusters.
    pub fn from_clusters(clusters: &[Vec<(usize, String)>]) -> Result<Self, PlatformError> {
        let mut contents = Contents::default();
        for (number, members) in clusters.iter().enumerate() {
            let first = contents.hosts.len();
            for (rank, name) in members {
                let known = contents.hosts[first..].iter_mut();
                match known.into_iter().find(|host| host.name == *name) {
                    Some(host) => host.ranks.push(*rank),
                    None => contents.hosts.push(Host {
                        name: name.clone(),
                        ranks: vec![*rank],
                    }),
                }
            }
            contents.clusters.push(PlatformCluster {
                name: format!("cluster{number}"),
                hosts: (first..contents.hosts.len()).collect(),
                leader: members.iter().map(|(rank, _)| *rank).min().unwrap_or(0),
                within: None,
                levels: Vec::new(),
                contention: None,
            });
        }
        PartialPlatform::new(contents)
    }

    /// The known parts.
    pub fn contents(&self) -> &Contents {
        &self.0
    }

    /// The clusters as a network: hosts below clusters.
    ///
    /// # Errors
    /// The clusters do not form a tree.
    pub fn network(&self) -> Result<Topology, TopologyError> {
        network_of(&self.0)
    }

    /// The platform for a job, from the name of every rank's host; parts without ranks are left
    /// out.
    ///
    /// # Errors
    /// A host is not known.
    pub fn for_job(&self, host_of_rank: &[String]) -> Result<GivenPlatform, Mismatch> {
        let ranks_on = self.0.ranks_on(host_of_rank)?;
        let contents = self.0.with_ranks(&ranks_on);
        Ok(match Platform::new(contents.clone()) {
            Ok(platform) => GivenPlatform::Complete(platform),
            Err(_) => GivenPlatform::Partial(PartialPlatform(contents)),
        })
    }

    /// Its clusters as indices in another list of the same hosts.
    pub(crate) fn partition(&self, hosts: &[Host]) -> Partition {
        let is_in = |cluster: &PlatformCluster, name: &str| {
            let mut known = cluster.hosts.iter();
            known.any(|&host| self.0.hosts[host].name == name)
        };
        let places = |cluster: &PlatformCluster| {
            let hosts = hosts.iter().enumerate();
            let own = hosts.filter(|(_, host)| is_in(cluster, &host.name));
            own.map(|(place, _)| place).collect()
        };
        Partition {
            clusters: self.0.clusters.iter().map(places).collect(),
        }
    }

    /// Adds all known parts to a platform measured in its clusters.
    pub(crate) fn completed(&self, measured: Platform) -> Result<Platform, PlatformError> {
        let mut contents = measured.contents().clone();
        for (cluster, known) in contents.clusters.iter_mut().zip(&self.0.clusters) {
            cluster.name.clone_from(&known.name);
            cluster.leader = known.leader;
            cluster.contention = cluster.contention.or(known.contention);
        }
        contents.parallel.extend(&self.0.parallel);
        contents.tolerance = None;
        Platform::new(contents)
    }
}

impl GivenPlatform {
    /// Builds the parts of a file: a complete platform if nothing is missing.
    ///
    /// # Errors
    /// Reports the first part that is inconsistent with the others.
    pub(crate) fn new(contents: Contents) -> Result<Self, PlatformError> {
        let has_ranks = contents.hosts.iter().any(|host| !host.ranks.is_empty());
        match has_ranks && check::has_all_links(&contents) {
            true => Platform::new(contents).map(GivenPlatform::Complete),
            false => PartialPlatform::new(contents).map(GivenPlatform::Partial),
        }
    }

    /// The part for a job, from the name of every rank's host.
    ///
    /// # Errors
    /// A host is not known.
    pub fn for_job(&self, host_of_rank: &[String]) -> Result<GivenPlatform, Mismatch> {
        match self {
            GivenPlatform::Complete(platform) => {
                platform.for_job(host_of_rank).map(GivenPlatform::Complete)
            }
            GivenPlatform::Partial(partial) => partial.for_job(host_of_rank),
        }
    }
}
