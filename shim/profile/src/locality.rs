//! Locality of the ranks, as the plans of a profile's run saw it: an input for the expansion of
//! their traffic.
//!
//! ```yaml
//! locality:
//!   clusters: 0,0,1,1
//!   hosts: 0,0,1,1
//!   inside:                      # where ranks are bound to parts of hosts
//!   - {level: socket, groups: 0,0,1,1}
//! ```
//!
//! or, instead, the platform that the plans were made for, as in a platform file, and the eager
//! limit of the MPI in bytes:
//!
//! ```yaml
//! locality:
//!   eager_limit: 65000
//!   platform:
//!     treepie: platform
//!     ...
//! ```

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use treepie_base::{Cluster, FileError, List, Rank, Slice, convert, list, yaml};
use treepie_collective::Locality;
use treepie_platform::{Inside, Platform};

/// Platform, as in a platform file.
#[derive(Serialize, Deserialize)]
struct PlatformText(#[serde(with = "treepie_platform::file")] Platform);

/// Locality as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalityText {
    #[serde(default, skip_serializing_if = "Slice::is_empty", with = "list")]
    clusters: List<Rank, Cluster>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list")]
    hosts: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inside: Vec<Inside>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eager_limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform: Option<PlatformText>,
}

impl LocalityText {
    fn new(locality: &Locality) -> Self {
        let mut document = LocalityText {
            clusters: List::new(),
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
                document.inside.clone_from(inside);
            }
            Locality::Platform {
                platform,
                eager_limit,
            } => {
                document.eager_limit = Some(*eager_limit);
                document.platform = Some(PlatformText(platform.clone()));
            }
        }
        document
    }

    /// Returns the locality, or the problem on failure.
    fn build(self) -> Result<Locality, &'static str> {
        let Some(PlatformText(platform)) = self.platform else {
            return Ok(Locality::Numbers {
                cluster_of_rank: self.clusters,
                host_of_rank: self.hosts,
                inside: self.inside,
            });
        };
        let missing = "eager_limit is missing; write it in bytes";
        Ok(Locality::Platform {
            platform,
            eager_limit: self.eager_limit.ok_or(missing)?,
        })
    }
}

/// Checks a locality of a job of `ranks` ranks; returns the problem on failure.
pub(crate) fn check(locality: &Locality, ranks: usize) -> Result<(), String> {
    if let Locality::Numbers {
        inside,
        host_of_rank,
        ..
    } = locality
    {
        if inside.iter().any(|one| one.group_of_rank.len() != ranks) {
            return Err(format!(
                "a level of `inside` has not {ranks} groups; write one number for each rank"
            ));
        }
        if ![0, ranks].contains(&host_of_rank.len()) {
            let found = host_of_rank.len();
            return Err(format!(
                "{found} ranks have a host, and there are {ranks}; write one number for each"
            ));
        }
    }
    match locality.ranks() {
        found if found == ranks => Ok(()),
        found => Err(format!(
            "{found} ranks have a cluster, and there are {ranks}; take the profile again"
        )),
    }
}

/// Writes a locality, for `#[serde(with = "locality")]`.
pub(crate) fn serialize<S: Serializer>(
    locality: &Option<Locality>,
    out: S,
) -> Result<S::Ok, S::Error> {
    locality.as_ref().map(LocalityText::new).serialize(out)
}

/// Reads a locality, still to be checked, for `#[serde(with = "locality")]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Locality>, D::Error> {
    convert::mapping(input, LocalityText::build).map(Some)
}

/// Returns a locality as text, for partial profiles.
///
/// # Errors
/// A value that cannot be written.
pub fn locality_text(locality: &Locality) -> Result<String, FileError> {
    yaml::to_text(Path::new(TEXT), &LocalityText::new(locality))
}

/// Parses the locality of `ranks` ranks in a text of [`locality_text`].
///
/// # Errors
/// Invalid text, or a locality for other ranks.
pub(crate) fn locality_from_text(text: &str, ranks: usize) -> Result<Locality, FileError> {
    let path = Path::new(TEXT);
    let text: LocalityText = yaml::parse(path, text)?;
    let locality = text
        .build()
        .map_err(|problem| FileError::at(path, 0, problem))?;
    check(&locality, ranks).map_err(|problem| FileError::at(path, 0, problem))?;
    Ok(locality)
}

/// Name of the text in messages.
const TEXT: &str = "the locality of the plans";
