//! Stages of a pipeline.

use crate::algorithms::trees::Shape;
use crate::network::costs::MessageCost;

/// A stage of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Stage {
    /// Seconds until the first segment has come through.
    pub(super) first: f64,
    /// Seconds between two segments.
    pub(super) period: f64,
}

impl Stage {
    /// The segments of this stage go on to `next`.
    pub(super) fn then(self, next: Stage) -> Stage {
        Stage {
            first: self.first + next.first,
            period: self.period.max(next.period),
        }
    }

    /// Seconds for so many segments.
    pub(super) fn seconds(self, segments: f64) -> f64 {
        self.first + (segments - 1.0).max(0.0) * self.period
    }

    /// One of `members` serves the others along the tree of a cluster, or is served by them.
    pub(super) fn group(members: usize, cost: MessageCost) -> Stage {
        if members < 2 {
            return Stage::default();
        }
        let rounds = f64::from(members.next_power_of_two().trailing_zeros());
        let (sends, hops) = match Shape::for_cluster(members) {
            Shape::Flat => ((members - 1) as f64, 1.0),
            _ => (rounds, rounds),
        };
        Stage {
            first: sends * cost.gap + hops * cost.latency,
            period: sends * cost.gap,
        }
    }
}
