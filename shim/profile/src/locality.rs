//! Who is near whom, as the plans of a profile's run saw it: what their traffic is expanded with.
//!
//! ```yaml
//! locality:
//!   clusters: 0,0,1,1
//!   hosts: 0,0,1,1
//!   inside:                      # where ranks are bound to parts of hosts
//!   - {level: socket, groups: 0,0,1,1}
//! ```
//!
//! or, in their place, the platform that the plans were made on, as in a file of its own, and the
//! eager limit of the MPI in bytes:
//!
//! ```yaml
//! locality:
//!   eager_limit: 65000
//!   platform:
//!     treepie: platform
//!     ...
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use treepie_base::{FileError, list, yaml};
use treepie_collective::Locality;
use treepie_platform::file;
use treepie_platform::file::{InsideText, PlatformFile};

/// The locality as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalityDocument {
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list")]
    clusters: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list")]
    hosts: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inside: Vec<InsideText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eager_limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform: Option<file::Document>,
}

impl LocalityDocument {
    pub(super) fn new(locality: &Locality) -> Self {
        let mut document = LocalityDocument {
            clusters: Vec::new(),
            hosts: Vec::new(),
            inside: Vec::new(),
            eager_limit: None,
            platform: None,
        };
        match locality {
            Locality::Numbers {
                cluster_of_rank,
                host_of_rank,
                inside,
            } => {
                document.clusters.clone_from(cluster_of_rank);
                document.hosts.clone_from(host_of_rank);
                document.inside = inside.iter().map(InsideText::new).collect();
            }
            Locality::Platform {
                platform,
                eager_limit,
            } => {
                document.eager_limit = Some(*eager_limit);
                document.platform = Some(file::Document::new(&PlatformFile {
                    producer: String::new(),
                    date: String::new(),
                    mpi: None,
                    platform: platform.clone(),
                }));
            }
        }
        document
    }

    /// The locality of `ranks` ranks; `path` is for messages.
    pub(super) fn build(self, path: &Path, ranks: usize) -> Result<Locality, FileError> {
        let wrong = |problem: String| Err(FileError::field(path, "locality", problem));
        let locality = match self.platform {
            Some(platform) => Locality::Platform {
                platform: platform.build(path)?.platform,
                eager_limit: match self.eager_limit {
                    Some(limit) => limit,
                    None => return wrong("eager_limit is missing; write it in bytes".into()),
                },
            },
            None => Locality::Numbers {
                cluster_of_rank: self.clusters,
                host_of_rank: self.hosts,
                inside: self.inside.into_iter().map(InsideText::build).collect(),
            },
        };
        if let Locality::Numbers { inside, .. } = &locality
            && inside.iter().any(|one| one.group_of_rank.len() != ranks)
        {
            return wrong(format!(
                "a level of `inside` has not {ranks} groups; write one number for each rank"
            ));
        }
        if let Locality::Numbers { host_of_rank, .. } = &locality
            && ![0, ranks].contains(&host_of_rank.len())
        {
            let found = host_of_rank.len();
            return wrong(format!(
                "{found} ranks have a host, and there are {ranks}; write one number for each"
            ));
        }
        match locality.ranks() {
            found if found == ranks => Ok(locality),
            found => wrong(format!(
                "{found} ranks have a cluster, and there are {ranks}; take the profile again"
            )),
        }
    }
}

/// A locality as text, for partial profiles.
///
/// # Errors
/// [`FileError::Unwritable`].
pub fn locality_text(locality: &Locality) -> Result<String, FileError> {
    yaml::to_text(Path::new(TEXT), &LocalityDocument::new(locality))
}

/// The locality of `ranks` ranks in a text of [`locality_text`].
///
/// # Errors
/// Text that is none, or for other ranks.
pub(crate) fn locality_from_text(text: &str, ranks: usize) -> Result<Locality, FileError> {
    let path = Path::new(TEXT);
    yaml::parse::<LocalityDocument>(path, text)?.build(path, ranks)
}

/// What messages call a text.
const TEXT: &str = "the locality of the plans";
