//! A platform: hosts in logical clusters, and the links inside and between them.

use thiserror::Error;
use treepie_base::{Cluster, List, Rank, Slice};

use crate::check;
use crate::contents::{Contents, Host, PlatformCluster, PlatformError};
use crate::inside::Inside;
use crate::link::Link;

impl PlatformError {
    pub(crate) fn new(field: impl Into<String>, problem: impl ToString) -> Self {
        PlatformError {
            field: field.into(),
            problem: problem.to_string(),
        }
    }
}

/// Reason why a platform does not match a job.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Mismatch {
    /// The job has a host that the platform does not have.
    #[error(
        "was measured on other hosts: it does not know {host}, where rank {rank} runs; \
         measure this platform with `treepie probe`"
    )]
    UnknownHost {
        /// The host.
        host: String,
        /// A rank on it.
        rank: usize,
    },
    /// Latencies differ too much from those in the file.
    #[error(
        "does not fit what is here: from {from} to {to} it has a latency of \
         {expected:.1} us and {found:.1} us were measured now; measure it again with `treepie probe`"
    )]
    OtherLatency {
        /// Name of one cluster.
        from: String,
        /// Name of the other.
        to: String,
        /// Latency in the file, in microseconds.
        expected: f64,
        /// Latency now, in microseconds.
        found: f64,
    },
}

/// A consistent platform: every rank on one host, every host in one cluster, a link for every pair
/// of clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform(Contents);

impl Platform {
    /// Checks the parts.
    ///
    /// # Errors
    /// Reports the first part that is inconsistent with the others.
    pub fn new(contents: Contents) -> Result<Self, PlatformError> {
        check::check(&contents)?;
        Ok(Platform(contents))
    }

    /// The parts of the platform.
    pub fn contents(&self) -> &Contents {
        &self.0
    }

    /// True if it was written by hand, or by a tool without a record of the measurement.
    pub fn is_by_hand(&self) -> bool {
        self.0.probing.is_none()
    }

    /// All machines.
    pub fn hosts(&self) -> &[Host] {
        &self.0.hosts
    }

    /// Levels inside hosts to which ranks are bound, the widest first.
    pub fn inside(&self) -> &[Inside] {
        &self.0.inside
    }

    /// Binds the ranks to these levels.
    ///
    /// # Errors
    /// The levels are not those of its ranks and hosts.
    pub fn with_inside(self, inside: Vec<Inside>) -> Result<Self, PlatformError> {
        Platform::new(Contents { inside, ..self.0 })
    }

    /// All clusters.
    pub fn clusters(&self) -> &Slice<Cluster, PlatformCluster> {
        &self.0.clusters
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.0.hosts.iter().map(|host| host.ranks.len()).sum()
    }

    /// The ranks of a cluster, from low to high.
    pub fn ranks_of(&self, cluster: Cluster) -> Vec<usize> {
        self.0.ranks_of(cluster)
    }

    /// Clusters whose contention was fitted to another number of ranks, so that no prediction uses
    /// it: each with the fitted number and its own.
    pub fn unused_contention(&self) -> Vec<(&PlatformCluster, usize, usize)> {
        let clusters = self.0.clusters.iter_enumerated();
        let unused = clusters.filter_map(|(number, cluster)| {
            let (known, ranks) = (cluster.contention?, self.ranks_of(number).len());
            (!known.holds_among(ranks)).then_some((cluster, known.ranks, ranks))
        });
        unused.collect()
    }

    /// Cluster of every rank.
    pub fn cluster_of_rank(&self) -> List<Rank, Cluster> {
        let mut of: List<Rank, Cluster> = vec![Cluster(0); self.ranks()].into();
        for cluster in self.0.clusters.keys() {
            for rank in self.ranks_of(cluster) {
                of[Rank(rank)] = cluster;
            }
        }
        of
    }

    /// Index of every rank's host.
    pub fn host_of_rank(&self) -> Vec<usize> {
        let mut of = vec![0; self.ranks()];
        for (place, host) in self.0.hosts.iter().enumerate() {
            for &rank in &host.ranks {
                of[rank] = place;
            }
        }
        of
    }

    /// The link from one cluster to another one.
    ///
    /// # Panics
    /// Panics if they are the same or do not exist.
    pub fn between(&self, from: Cluster, to: Cluster) -> &Link {
        let links = &self.0.links;
        links
            .get(&(from, to))
            .or_else(|| links.get(&(to, from)))
            .expect("a platform has a link for every two clusters")
    }

    /// Adapts the platform to a job whose ranks run on other hosts of it, or in another order:
    /// `host_of_rank` has the name of every rank's host.
    ///
    /// The binding of ranks is then unknown. Clusters without a rank are left out; leaders that
    /// moved are replaced by the lowest rank of their cluster.
    ///
    /// # Errors
    /// The platform does not have a host.
    pub fn for_job(&self, host_of_rank: &[String]) -> Result<Platform, Mismatch> {
        let ranks_on = self.0.ranks_on(host_of_rank)?;
        let unchanged = self.0.hosts.iter().zip(&ranks_on);
        if unchanged.clone().all(|(host, ranks)| host.ranks == *ranks) {
            return Ok(self.clone());
        }
        Ok(Platform(self.0.with_ranks(&ranks_on)))
    }

    /// Compares a few latencies measured now, `(from, to, seconds)` between
    /// clusters, with those of the file. They may differ by a `factor`.
    ///
    /// # Errors
    /// Reports the first that differs by more.
    pub(crate) fn check_latencies(
        &self,
        measured: &[(Cluster, Cluster, f64)],
        factor: f64,
    ) -> Result<(), Mismatch> {
        for &(from, to, seconds) in measured {
            let expected = self.between(from, to).latency();
            if seconds > factor * expected || seconds * factor < expected {
                return Err(Mismatch::OtherLatency {
                    from: self.0.clusters[from].name.clone(),
                    to: self.0.clusters[to].name.clone(),
                    expected: expected * 1e6,
                    found: seconds * 1e6,
                });
            }
        }
        Ok(())
    }
}
