//! Links, ways and remarks of a probe, as answers come in.

use std::collections::{BTreeMap, HashMap};

use super::assemble::Measured;
use crate::link::Link;
use crate::ways::Ways;

/// Purpose of the pairs of a round.
pub(super) enum LinkSubject {
    /// Clusters, from and to.
    Between(Vec<(usize, usize)>),
    /// A cluster and what its two ranks share: `None` for a cluster's hosts.
    Inside(Vec<(usize, Option<&'static str>)>),
}

impl LinkSubject {
    /// The line about links, or what else was not measured there, and what follows.
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
        format!("{what}: there was no time for them, {result}; give a larger --budget")
    }
}

impl Measured {
    /// The sizes around the switch to rendezvous between hosts, as far as it is known: it belongs
    /// to the native MPI, so that other links have it at the same place.
    pub(crate) fn switch(&self) -> Vec<u64> {
        let within = self.inside.values().filter_map(|links| links.get(&None));
        let found = self.between.values().chain(within).find_map(|link| {
            let last = link.eager_limit()?;
            let first = link.samples().iter().find(|sample| sample.bytes > last)?;
            Some(vec![last, first.bytes])
        });
        found.unwrap_or_default()
    }

    /// Keeps the ways of a round, with their links.
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

    /// Keeps the links of a round.
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
