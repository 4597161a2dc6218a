//! What happens inside a cluster, along the trees that generators use there: hosts
//! first, then the ranks of a host.

use super::{Hop, Scene, Size, longer};
use crate::collective::algorithms::Shape;

/// A part of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stage {
    /// Seconds until the first piece has come through.
    pub first: f64,
    /// Seconds between two pieces.
    pub period: f64,
}

impl Stage {
    /// The pieces of this stage go on to `next`.
    pub fn then(self, next: Stage) -> Stage {
        Stage {
            first: self.first + next.first,
            period: longer(self.period, next.period),
        }
    }

    /// Seconds for so many pieces.
    pub fn seconds(self, pieces: f64) -> f64 {
        self.first + (pieces - 1.0).max(0.0) * self.period
    }

    /// One of `members` serves the others, or is served by them.
    fn group(members: usize, hop: Hop) -> Stage {
        if members < 2 {
            return Stage::default();
        }
        let sends = match Shape::for_cluster(members) {
            Shape::Flat => (members - 1) as f64,
            _ => f64::from(members.next_power_of_two().trailing_zeros()),
        };
        let hops = match Shape::for_cluster(members) {
            Shape::Flat => 1.0,
            _ => sends,
        };
        Stage {
            first: sends * hop.gap + hops * hop.latency,
            period: sends * hop.gap,
        }
    }
}

impl Stage {
    /// The coordinator of a cluster of this size serves its members.
    pub(in crate::collective) fn inside(size: &Size, within: Hop, on_host: Hop) -> Stage {
        let last = Stage::group(size.on_host, on_host);
        match size.hosts {
            1 => last,
            hosts => Stage::group(hosts, within).then(last),
        }
    }
}

impl Scene<'_> {
    /// A cluster's coordinator serves its members with pieces, or is served.
    pub fn inside(&self, cluster: usize) -> Stage {
        self.piece.inside[cluster]
    }

    /// The members of a cluster exchange `bytes` in all with each other, each rank with
    /// every other: how long the busiest of them is at it.
    pub fn spread(&self, cluster: usize, bytes: u64) -> f64 {
        let size = self.sizes[cluster];
        if size.ranks < 2 {
            return 0.0;
        }
        let hop = match size.hosts {
            1 => self.piece.on_host[cluster],
            _ => self.piece.within[cluster],
        };
        self.volume(bytes) * hop.gap + hop.latency
    }
}
