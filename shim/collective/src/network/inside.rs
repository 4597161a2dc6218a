//! Levels inside the hosts of a network, and the links between ranks on them.

use crate::clusters::Clusters;
use std::sync::Arc;
use treepie_base::{Cluster, List};
use treepie_platform::{LEVELS, Level, Link};

/// A level inside hosts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inner {
    /// Group of each rank, unique in the network.
    pub group_of: Vec<usize>,
    /// For each cluster, the link between two ranks that share this level but no closer one.
    pub link: List<Cluster, Option<Arc<Link>>>,
}

/// Depth of the level of this name inside a host.
fn depth(name: &str) -> usize {
    let place = LEVELS.iter().position(|&level| level == name);
    place.unwrap_or(LEVELS.len())
}

/// Link between two ranks that do not share the closer level `next`, from the known levels, widest
/// first: that of the closest level that is wider than `next`, or else of the widest.
pub(super) fn known_link(known: &[Level], next: Option<&str>) -> Option<Arc<Link>> {
    known_level(known, next).map(|level| Arc::new(level.link.clone()))
}

/// Level of the link of [`known_link`].
pub(super) fn known_level<'a>(known: &'a [Level], next: Option<&str>) -> Option<&'a Level> {
    let limit = next.map_or(usize::MAX, depth);
    let mut wider = known.iter().rev();
    let found = wider.find(|level| depth(&level.name) < limit);
    found.or(known.first())
}

/// The innermost `count` levels of `clusters`, with links `link(level, cluster)`.
pub(super) fn innermost(
    clusters: &Clusters,
    count: usize,
    link: impl Fn(usize, Cluster) -> Option<Arc<Link>>,
) -> Vec<Inner> {
    let closer = clusters.closer();
    let levels = closer[closer.len() - count..].iter().enumerate();
    levels
        .map(|(level, group_of)| Inner {
            group_of: group_of.clone(),
            link: clusters.all().map(|cluster| link(level, cluster)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_levels_that_were_not_measured_are_those_around_them() {
        let level = |name: &str, microseconds: f64| Level {
            name: name.to_owned(),
            link: Link::linear(1e-6 * microseconds, 1e-7, 1e-10).unwrap(),
        };
        let known = [level("node", 4.0), level("socket", 2.0), level("l3", 1.0)];
        let latency = |known: &[Level], next: Option<&str>| {
            let link = known_link(known, next).unwrap();
            (1e6 * link.latency()).round()
        };
        // Ranks that share a host and no socket, a socket and no NUMA node, and so on.
        let found = [Some("socket"), Some("numa"), Some("l3"), Some("l2"), None];
        assert_eq!(
            found.map(|next| latency(&known, next)),
            [4.0, 2.0, 2.0, 1.0, 1.0]
        );
        assert_eq!(latency(&known[1..], Some("socket")), 2.0);
        assert_eq!(known_link(&[], None), None);
    }
}
