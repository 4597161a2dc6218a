//! Links, methods and remarks of a probe, collected from answers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use treepie_base::Cluster;

use super::assemble::Measured;
use crate::inside::LEVELS;
use crate::link::Link;
use crate::partial::PartialPlatform;
use crate::probe::orders::Pair;
use crate::transfer_methods::Ways;

/// Purpose of the pairs of a round.
pub(super) enum LinkSubject {
    /// Clusters, from and to.
    Between(Vec<(Cluster, Cluster)>),
    /// A cluster and the level that its two ranks share: `None` for a cluster's hosts.
    Inside(Vec<(Cluster, Option<&'static str>)>),
}

impl LinkSubject {
    /// The line on links, or other subjects, that were not measured, and the consequence.
    pub(crate) fn left_out(&self, subject: &str, result: &str) -> String {
        let what = match self {
            LinkSubject::Between(pairs) => {
                let names: Vec<String> = pairs
                    .iter()
                    .map(|(from, to)| format!("{from} to {to}"))
                    .collect();
                format!("{subject} between clusters ({})", names.join(", "))
            }
            LinkSubject::Inside(inner) => {
                let names: Vec<String> = inner.iter().map(|(of, _)| of.to_string()).collect();
                format!("{subject} inside clusters ({})", names.join(", "))
            }
        };
        format!("{what}: there was no time for them, {result}; give a longer --time-limit")
    }
}

impl Measured {
    /// Starts with the links that are known before any measurement.
    pub(super) fn known(platform: &PartialPlatform) -> Self {
        let contents = platform.contents();
        let clusters = contents.clusters.iter_enumerated();
        let inside = clusters.map(|(place, cluster)| {
            let within = cluster.within.iter().map(|link| (None, link.clone()));
            let levels = cluster.levels.iter().filter_map(|level| {
                let name = LEVELS.into_iter().find(|name| *name == level.name)?;
                Some((Some(name), level.link.clone()))
            });
            (place, within.chain(levels).collect())
        });
        let known: BTreeSet<(Cluster, Cluster)> = contents.links.keys().copied().collect();
        Measured {
            between: contents.links.clone(),
            inside: inside.collect(),
            known,
            ..Measured::default()
        }
    }

    /// The pairs of a round to be measured: a link known in one direction is taken to be the same
    /// in the other.
    pub(super) fn lacking(
        &self,
        (ranks, kind): (Vec<Pair>, LinkSubject),
    ) -> (Vec<Pair>, LinkSubject) {
        fn kept<T>(
            ranks: Vec<Pair>,
            of: Vec<T>,
            lacks: impl Fn(&T) -> bool,
        ) -> (Vec<Pair>, Vec<T>) {
            ranks
                .into_iter()
                .zip(of)
                .filter(|(_, one)| lacks(one))
                .unzip()
        }
        match kind {
            LinkSubject::Between(pairs) => {
                let lacks = |&(from, to): &(Cluster, Cluster)| {
                    !self.known.contains(&(from, to)) && !self.known.contains(&(to, from))
                };
                let (ranks, pairs) = kept(ranks, pairs, lacks);
                (ranks, LinkSubject::Between(pairs))
            }
            LinkSubject::Inside(inner) => {
                let lacks = |(cluster, level): &(Cluster, Option<&'static str>)| {
                    let known = self.inside.get(cluster);
                    known.is_none_or(|links| !links.contains_key(level))
                };
                let (ranks, inner) = kept(ranks, inner, lacks);
                (ranks, LinkSubject::Inside(inner))
            }
        }
    }

    /// The sizes around the switch to rendezvous between hosts, as far as known: it is a property
    /// of the native MPI, so that other links have it at the same size.
    pub(crate) fn switch(&self) -> Vec<u64> {
        let within = self.inside.values().filter_map(|links| links.get(&None));
        let found = self.between.values().chain(within).find_map(|link| {
            let last = link.eager_limit()?;
            let first = link.samples().iter().find(|sample| sample.bytes > last)?;
            Some(vec![last, first.bytes])
        });
        found.unwrap_or_default()
    }

    /// Records the methods of a round, with their links.
    pub(crate) fn note_ways(&mut self, kind: &LinkSubject, ways: Vec<Option<Ways>>) {
        let links: Vec<Option<&mut Link>> = match kind {
            LinkSubject::Between(pairs) => {
                let mut known: BTreeMap<_, _> = self.between.iter_mut().collect();
                pairs.iter().map(|pair| known.remove(pair)).collect()
            }
            LinkSubject::Inside(inner) => {
                let mut known = HashMap::new();
                for (cluster, links) in &mut self.inside {
                    known.extend(
                        links
                            .iter_mut()
                            .map(|(level, link)| ((*cluster, *level), link)),
                    );
                }
                inner.iter().map(|inner| known.remove(inner)).collect()
            }
        };
        for (link, ways) in links.into_iter().zip(ways) {
            if let (Some(link), Some(ways)) = (link, ways) {
                *link = link.clone().with_ways(ways);
            }
        }
    }

    /// Records the links of a round.
    pub(crate) fn note(&mut self, kind: &LinkSubject, links: Vec<Option<Link>>) {
        match kind {
            LinkSubject::Between(pairs) => {
                for (&pair, link) in pairs.iter().zip(links) {
                    if let Some(link) = link {
                        self.between.insert(pair, link);
                    }
                }
            }
            LinkSubject::Inside(inner) => {
                for (&(cluster, level), link) in inner.iter().zip(links) {
                    if let Some(link) = link {
                        self.inside.entry(cluster).or_default().insert(level, link);
                    }
                }
            }
        }
    }
}
