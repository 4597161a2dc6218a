//! Platforms as YAML: logical clusters, their hosts and ranks, and pLogP
//! parameters inside and between them.
//!
//! ```yaml
//! treepie: platform
//! version: 1
//! columns: bytes gap_us handshake_us send_us receive_us confidence_us
//! hosts:
//! - {name: a1, ranks: 0-3}
//! - {name: b1, ranks: 4-7}
//! clusters:
//! - {name: a, hosts: [a1], leader: 0}
//! - {name: b, hosts: [b1], leader: 4}
//! links:
//! - from: a
//!   to: b
//!   latency_us: 10000
//!   samples:
//!   - 0 5
//!   - 1048576 90000
//! ```
//!
//! If ranks are bound to parts of their hosts, `inside` has the group of each rank, a number, on
//! each level, the widest first: `- {level: socket, groups: "0,0,1,1"}`. The links are in `levels`
//! of the clusters, by the name of the closest level that two ranks share: `node`, `socket`,
//! `numa`, `l3`, `l2`, `core`.
//!
//! A sample is one line of the `columns`; the last ones may be left out. The defaults are no
//! handshake, and overheads equal to those of the smallest message (LogGP's `o`), in memory equal
//! to the gap. If `treepie probe --ways` measured them, a link has `ways`: for each method a line
//! for each size of pieces, `bytes one_us further_us`, and `epochs_us`. With `--together`,
//! `parallel` has the bandwidth of several simultaneous pairs, between clusters, hosts of one
//! (`from` and `to` are the same), or ranks of a host (of this `level`): `- {from: a, to: a, level:
//! node, pairs: 2, megabytes_per_second: 9000}`. Files of other tools can be read, too: [`magpie`]
//! clusters, [`logp_mpi`] tables, [`latencies`] as CSV.

mod cluster;
pub mod latencies;
mod link;
pub mod logp_mpi;
pub mod magpie;
#[cfg(test)]
mod tests;
mod ways;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::contents::{Cluster, Contents, Host, Parallel, PlatformError, Probing};
use crate::description::Platform;
use crate::inside::{Inside, LEVELS};
use crate::numbers::rounded;
use crate::partial::{GivenPlatform, PartialPlatform};
use cluster::ClusterText;
use link::{COLUMNS, LinkText, Medium};
use treepie_base::{File, FileContents, FileError, Header, Kind, convert, file, list, text};

/// A platform with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct PlatformFile {
    /// Origin of the file.
    pub header: Header,
    /// Version text of the MPI used for the measurement.
    pub mpi: Option<String>,
    /// The platform in the file.
    pub platform: Platform,
}

/// A platform in its written form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlatformText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mpi: Option<String>,
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
    clusters: Vec<ClusterText>,
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

impl PlatformFile {
    /// Reads and checks a platform.
    ///
    /// # Errors
    /// The file cannot be read, is not a platform, or is inconsistent.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        PlatformFile::from_text(path, &text::read(path)?)
    }

    /// Parses the platform from the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// The text is not a platform, or is inconsistent.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        let File { header, body } = File::<PlatformText>::from_text(path, text)?;
        let mpi = body.mpi.clone();
        let platform = body
            .build()
            .map_err(|error| FileError::field(path, error.field, error.problem))?;
        Ok(PlatformFile {
            header,
            mpi,
            platform,
        })
    }

    /// Parses the platform of a file for a job; links of clusters and ranks of hosts may be
    /// missing.
    ///
    /// # Errors
    /// The text is not a platform, or is inconsistent.
    pub fn given(path: &Path, text: &str) -> Result<GivenPlatform, FileError> {
        let File { body, .. } = File::<PlatformText>::from_text(path, text)?;
        let given = body.checked(GivenPlatform::new);
        given.map_err(|error| FileError::field(path, error.field, error.problem))
    }

    /// Writes clusters whose links may be missing, atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_partial(
        path: &Path,
        header: &Header,
        partial: &PartialPlatform,
    ) -> Result<(), FileError> {
        let body = PlatformText::new(partial.contents(), None);
        text::write(path, &file::to_text(path, Kind::Platform, header, &body)?)
    }

    /// Writes the platform atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        text::write(path, &self.to_text(path)?)
    }

    /// Formats the text of the file; `path` is for messages.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        let body = PlatformText::new(self.platform.contents(), self.mpi.clone());
        file::to_text(path, Kind::Platform, &self.header, &body)
    }
}

/// For `#[serde(with = "treepie_platform::file")]`: writes a platform within another file.
///
/// # Errors
/// Those of the writer.
pub fn serialize<S: Serializer>(platform: &Platform, out: S) -> Result<S::Ok, S::Error> {
    let file = File {
        header: Header::default(),
        body: PlatformText::new(platform.contents(), None),
    };
    file.serialize(out)
}

/// For `#[serde(with = "treepie_platform::file")]`: reads a platform within another file.
///
/// # Errors
/// The lines do not describe a platform.
pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Platform, D::Error> {
    convert::mapping(input, |file: File<PlatformText>| file.build())
}

impl PlatformText {
    /// Builds and checks the platform.
    fn build(&self) -> Result<Platform, PlatformError> {
        self.checked(Platform::new)
    }

    /// Builds the parts and checks that they agree with the entries for human readers.
    fn checked<T>(
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

    fn new(contents: &Contents, mpi: Option<String>) -> Self {
        let name = |cluster: usize| contents.clusters[cluster].name.clone();
        PlatformText {
            mpi,
            measured: contents.probing.clone(),
            tolerance: contents.tolerance,
            columns: all_columns(),
            hosts: contents.hosts.clone(),
            inside: contents.inside.clone(),
            clusters: (0..contents.clusters.len())
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
        let clusters: HashMap<&str, usize> = named(self.clusters.iter().map(|c| c.name.as_str()));
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
        let built = self.clusters.iter().enumerate();
        let mut clusters: Vec<Cluster> = built
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
        for (place, cluster) in self.clusters.iter().enumerate() {
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

fn named<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    names
        .enumerate()
        .map(|(place, name)| (name, place))
        .collect()
}

fn first_duplicate<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
