//! A cluster in its written form.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::link::{LinkText, Medium};
use crate::contention::Contention;
use crate::contents::{Contents, Level, PlatformCluster, PlatformError};
use treepie_base::{Cluster, list};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterText {
    pub(super) name: String,
    pub(super) hosts: Vec<String>,
    /// For human readers only; the hosts determine the ranks.
    #[serde(with = "list", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ranks: Vec<usize>,
    /// The lowest of its ranks if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leader: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contention: Option<Contention>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<LinkText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelText>,
}

#[derive(Serialize, Deserialize)]
struct LevelText {
    level: String,
    #[serde(flatten)]
    link: LinkText,
}

impl ClusterText {
    pub(super) fn new(contents: &Contents, place: Cluster) -> Self {
        let cluster = &contents.clusters[place];
        ClusterText {
            name: cluster.name.clone(),
            hosts: cluster
                .hosts
                .iter()
                .map(|&host| contents.hosts[host].name.clone())
                .collect(),
            ranks: contents.ranks_of(place),
            leader: Some(cluster.leader),
            contention: cluster.contention,
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
        place: Cluster,
        hosts: &HashMap<&str, usize>,
    ) -> Result<PlatformCluster, PlatformError> {
        let field = |name: &str| format!("clusters[{place}].{name}");
        let host_called = |name: &String| {
            hosts.get(name.as_str()).copied().ok_or_else(|| {
                let problem = format!("no host is called {name}; name one of `hosts`");
                PlatformError::new(field("hosts"), problem)
            })
        };
        if let Some(contention) = self.contention
            && !(contention.gamma >= 0.0 && contention.delta.is_finite())
        {
            let problem = "has a negative gamma or no number; measure it again";
            return Err(PlatformError::new(field("contention"), problem));
        }
        let levels = self.levels.iter().enumerate();
        Ok(PlatformCluster {
            name: self.name.clone(),
            hosts: self
                .hosts
                .iter()
                .map(host_called)
                .collect::<Result<_, _>>()?,
            leader: self.leader.unwrap_or(usize::MAX),
            within: match &self.within {
                Some(link) => Some(link.build(&field("within"), Medium::Wire)?),
                None => None,
            },
            levels: levels
                .map(|(at, level)| {
                    Ok(Level {
                        name: level.level.clone(),
                        link: level
                            .link
                            .build(&field(&format!("levels[{at}]")), Medium::Memory)?,
                    })
                })
                .collect::<Result<_, PlatformError>>()?,
            contention: self.contention,
        })
    }
}
