//! Levels inside the hosts of a network: whom their links join.

use crate::clusters::Clusters;
use std::sync::Arc;
use treepie_platform::{LEVELS, Level, Link};

/// A level inside hosts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inner {
    /// The group of each rank, unique in the network.
    pub group_of: Vec<usize>,
    /// Of each cluster, the link between two ranks that share this level and nothing closer.
    pub link: Vec<Option<Arc<Link>>>,
}

/// How far inside a level of this name is.
fn depth(name: &str) -> usize {
    let place = LEVELS.iter().position(|&level| level == name);
    place.unwrap_or(LEVELS.len())
}

/// The link between two ranks that share no `next` closer level, of those that are known, the
/// widest first: the closest that is wider than `next`, or else the widest.
pub(super) fn known_link(known: &[Level], next: Option<&str>) -> Option<Arc<Link>> {
    known_level(known, next).map(|level| Arc::new(level.link.clone()))
}

/// The level of that link.
pub(super) fn known_level<'a>(known: &'a [Level], next: Option<&str>) -> Option<&'a Level> {
    let limit = next.map_or(usize::MAX, depth);
    let mut wider = known.iter().rev();
    let found = wider.find(|level| depth(&level.name) < limit);
    found.or(known.first())
}

/// The innermost `count` levels of `clusters`, whose links are `link(level, cluster)`.
pub(super) fn innermost(
    clusters: &Clusters,
    count: usize,
    link: impl Fn(usize, usize) -> Option<Arc<Link>>,
) -> Vec<Inner> {
    let closer = clusters.closer();
    let levels = closer[closer.len() - count..].iter().enumerate();
    levels
        .map(|(level, group_of)| Inner {
            group_of: group_of.clone(),
            link: (0..clusters.count())
                .map(|cluster| link(level, cluster))
                .collect(),
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
