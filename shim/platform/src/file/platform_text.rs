//! Platforms in their written form.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::contents::{Contents, Host, Parallel, PlatformCluster, PlatformError, Probing};
use crate::description::Platform;
use crate::file::cluster::ClusterText;
use crate::file::link::{COLUMNS, LinkText, Medium};
use crate::inside::{Inside, LEVELS};
use crate::numbers::rounded;
use treepie_base::{Cluster, FileContents, Kind, List, list};

/// A platform in its written form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlatformText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mpi: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measured: Option<Probing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(default = "all_columns")]
    columns: String,
    /// If left out, the hosts of the clusters, with unknown ranks.
    #[serde(default)]
    hosts: Vec<Host>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inside: Vec<Inside>,
    clusters: List<Cluster, ClusterText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkBetween>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parallel: Vec<ParallelText>,
}

impl FileContents for PlatformText {
    const KIND: Kind = Kind::Platform;
}

fn all_columns() -> String {
    COLUMNS.to_owned()
}

#[derive(Serialize, Deserialize)]
struct LinkBetween {
    from: String,
    to: String,
    #[serde(flatten)]
    link: LinkText,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParallelText {
    from: String,
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    pairs: usize,
    megabytes_per_second: f64,
}

impl PlatformText {
    /// Builds and checks the platform.
    pub(super) fn build(&self) -> Result<Platform, PlatformError> {
        self.checked(Platform::new)
    }

    /// Builds the parts and checks that they agree with the entries for human readers.
    pub(super) fn checked<T>(
        &self,
        new: impl FnOnce(Contents) -> Result<T, PlatformError>,
    ) -> Result<T, PlatformError> {
        if self.columns != COLUMNS {
            let problem = format!("are `{}`; this treepie reads `{COLUMNS}`", self.columns);
            return Err(PlatformError::new("columns", problem));
        }
        let contents = self.contents()?;
        let made = new(contents.clone())?;
        self.check_ranks(&contents)?;
        Ok(made)
    }

    pub(super) fn new(contents: &Contents, mpi: Option<String>) -> Self {
        let name = |cluster: Cluster| contents.clusters[cluster].name.clone();
        PlatformText {
            mpi,
            measured: contents.probing.clone(),
            tolerance: contents.tolerance,
            columns: all_columns(),
            hosts: contents.hosts.clone(),
            inside: contents.inside.clone(),
            clusters: contents
                .clusters
                .keys()
                .map(|cluster| ClusterText::new(contents, cluster))
                .collect(),
            links: contents
                .links
                .iter()
                .map(|(&(from, to), link)| LinkBetween {
                    from: name(from),
                    to: name(to),
                    link: LinkText::new(link),
                })
                .collect(),
            parallel: contents
                .parallel
                .iter()
                .map(|parallel| ParallelText {
                    from: name(parallel.from),
                    to: name(parallel.to),
                    level: parallel.level.map(str::to_owned),
                    pairs: parallel.pairs,
                    megabytes_per_second: rounded(parallel.bytes_per_second / 1e6),
                })
                .collect(),
        }
    }

    /// All hosts; those of the clusters if none are listed.
    fn listed_hosts(&self) -> Vec<Host> {
        if !self.hosts.is_empty() {
            return self.hosts.clone();
        }
        let names = self.clusters.iter().flat_map(|cluster| &cluster.hosts);
        let mut hosts: Vec<Host> = Vec::new();
        for name in names {
            if hosts.iter().all(|host| host.name != *name) {
                hosts.push(Host {
                    name: name.clone(),
                    ranks: Vec::new(),
                });
            }
        }
        hosts
    }

    fn contents(&self) -> Result<Contents, PlatformError> {
        let listed = self.listed_hosts();
        let hosts: HashMap<&str, usize> = named(listed.iter().map(|host| host.name.as_str()));
        let clusters: HashMap<&str, Cluster> = named(self.clusters.iter().map(|c| c.name.as_str()));
        if let Some(twice) = first_duplicate(self.clusters.iter().map(|c| c.name.as_str())) {
            let problem = format!("two are called {twice}; give each its own name");
            return Err(PlatformError::new("clusters", problem));
        }
        let cluster_called = |field: String, name: &str| {
            clusters.get(name).copied().ok_or_else(|| {
                let problem = format!("no cluster is called {name}; name one of `clusters`");
                PlatformError::new(field, problem)
            })
        };
        let mut links = BTreeMap::new();
        for (place, link) in self.links.iter().enumerate() {
            let field = |name: &str| format!("links[{place}].{name}");
            let from = cluster_called(field("from"), &link.from)?;
            let to = cluster_called(field("to"), &link.to)?;
            let parameters = link.link.build(&format!("links[{place}]"), Medium::Wire)?;
            if links.insert((from, to), parameters).is_some() {
                let problem = format!("{} to {} is listed twice; keep one", link.from, link.to);
                return Err(PlatformError::new(field("from"), problem));
            }
        }
        let mut parallel = Vec::new();
        for (place, line) in self.parallel.iter().enumerate() {
            let field = |name: &str| format!("parallel[{place}].{name}");
            let level = |name: &String| {
                LEVELS
                    .into_iter()
                    .find(|level| level == name)
                    .ok_or_else(|| {
                        let problem = format!("{name} is none; write one of {}", LEVELS.join(", "));
                        PlatformError::new(field("level"), problem)
                    })
            };
            parallel.push(Parallel {
                from: cluster_called(field("from"), &line.from)?,
                to: cluster_called(field("to"), &line.to)?,
                level: line.level.as_ref().map(level).transpose()?,
                pairs: line.pairs,
                bytes_per_second: line.megabytes_per_second * 1e6,
            });
        }
        let built = self.clusters.iter_enumerated();
        let mut clusters: List<Cluster, PlatformCluster> = built
            .map(|(place, cluster)| cluster.build(place, &hosts))
            .collect::<Result<_, _>>()?;
        for cluster in &mut clusters {
            let ranks = cluster.hosts.iter().map(|&host| &listed[host].ranks);
            if cluster.leader == usize::MAX {
                cluster.leader = ranks.clone().flatten().copied().min().unwrap_or(0);
            }
            let ranks: usize = ranks.map(Vec::len).sum();
            let unsaid = cluster.contention.as_mut().filter(|known| known.ranks == 0);
            if let Some(contention) = unsaid {
                contention.ranks = ranks;
            }
        }
        Ok(Contents {
            hosts: listed,
            inside: self.inside.clone(),
            clusters,
            links,
            parallel,
            tolerance: self.tolerance,
            probing: self.measured.clone(),
        })
    }

    /// `ranks` of a cluster is for human readers: it must agree with the hosts.
    fn check_ranks(&self, contents: &Contents) -> Result<(), PlatformError> {
        for (place, cluster) in self.clusters.iter_enumerated() {
            let found = contents.ranks_of(place);
            if !cluster.ranks.is_empty() && cluster.ranks != found {
                let problem = format!(
                    "are {}, and its hosts have the ranks {}; correct one of them",
                    list::to_text(&cluster.ranks),
                    list::to_text(&found)
                );
                return Err(PlatformError::new(
                    format!("clusters[{place}].ranks"),
                    problem,
                ));
            }
        }
        Ok(())
    }
}

fn named<'a, I: From<usize>>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, I> {
    names
        .enumerate()
        .map(|(place, name)| (name, place.into()))
        .collect()
}

fn first_duplicate<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
