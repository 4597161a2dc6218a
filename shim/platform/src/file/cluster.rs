//! A cluster as it is written.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::link::LinkText;
use crate::{Cluster, Contention, Level, Platform};
use treepie_base::{FileError, list};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterText {
    pub(super) name: String,
    hosts: Vec<String>,
    /// For the reader; the hosts decide.
    #[serde(with = "list", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ranks: Vec<usize>,
    leader: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contention: Option<ContentionText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<LinkText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentionText {
    gamma: f64,
    delta_us: f64,
    threshold: u64,
}

#[derive(Serialize, Deserialize)]
struct LevelText {
    level: String,
    #[serde(flatten)]
    link: LinkText,
}

impl ClusterText {
    pub(super) fn new(platform: &Platform, place: usize) -> Self {
        let cluster = &platform.clusters()[place];
        ClusterText {
            name: cluster.name.clone(),
            hosts: cluster
                .hosts
                .iter()
                .map(|&host| platform.hosts()[host].name.clone())
                .collect(),
            ranks: platform.ranks_of(place),
            leader: cluster.leader,
            contention: cluster.contention.map(|contention| ContentionText {
                gamma: contention.gamma,
                delta_us: contention.delta * 1e6,
                threshold: contention.threshold,
            }),
            within: cluster.within.as_ref().map(LinkText::new),
            levels: cluster
                .levels
                .iter()
                .map(|level| LevelText {
                    level: level.name.clone(),
                    link: LinkText::new(&level.link),
                })
                .collect(),
        }
    }

    pub(super) fn build(
        &self,
        path: &Path,
        place: usize,
        hosts: &HashMap<&str, usize>,
    ) -> Result<Cluster, FileError> {
        let field = |name: &str| format!("clusters[{place}].{name}");
        let host_called = |name: &String| {
            hosts.get(name.as_str()).copied().ok_or_else(|| {
                let problem = format!("no host is called {name}; name one of `hosts`");
                FileError::field(path, field("hosts"), problem)
            })
        };
        let contention = match &self.contention {
            None => None,
            Some(text) if text.gamma >= 0.0 && text.delta_us.is_finite() => Some(Contention {
                gamma: text.gamma,
                delta: text.delta_us * 1e-6,
                threshold: text.threshold,
            }),
            Some(_) => {
                let problem = "has a negative gamma or no number; measure it again";
                return Err(FileError::field(path, field("contention"), problem));
            }
        };
        let levels = self.levels.iter().enumerate();
        Ok(Cluster {
            name: self.name.clone(),
            hosts: self
                .hosts
                .iter()
                .map(host_called)
                .collect::<Result<_, _>>()?,
            leader: self.leader,
            within: match &self.within {
                Some(link) => Some(link.build(path, &field("within"))?),
                None => None,
            },
            levels: levels
                .map(|(at, level)| {
                    Ok(Level {
                        name: level.level.clone(),
                        link: level.link.build(path, &field(&format!("levels[{at}]")))?,
                    })
                })
                .collect::<Result<_, FileError>>()?,
            contention,
        })
    }
}
