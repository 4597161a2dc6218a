//! Shapes of the trees inside clusters along which each rank receives, or sends, a block of its
//! own.
//!
//! Unlike a broadcast's, a message of such a tree carries the blocks of the whole subtree. A deeper
//! tree therefore saves messages, not bytes: it is faster if blocks are short or if many ranks
//! share the network card of a host.

use crate::algorithms::by_cluster::inside::Fan;
use crate::algorithms::trees::Shape;
use crate::network::links::Network;
use treepie_platform::Link;

/// Division of a group of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Division {
    /// The leader serves every rank itself.
    None,
    /// By the levels inside clusters, each with a shape, widest level first.
    Levels(Vec<Shape>),
}

/// Blocks of one group of ranks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnBlocks {
    /// Bytes of a rank's block: the mean if they differ.
    pub(crate) bytes: u64,
    /// Largest message in bytes.
    pub(crate) largest: u64,
}

impl OwnBlocks {
    /// Gap in seconds of one message of `count` blocks.
    fn gap(&self, link: Option<&Link>, count: u64) -> f64 {
        let bytes = self.bytes.saturating_mul(count);
        link.map_or(0.0, |link| match bytes <= self.largest {
            true => link.gap(bytes),
            false => bytes as f64 / self.largest.max(1) as f64 * link.gap(self.largest),
        })
    }

    /// Latency in seconds of one message of `count` blocks, including its rendezvous.
    fn latency(&self, link: Option<&Link>, count: u64) -> f64 {
        let bytes = self.bytes.saturating_mul(count).min(self.largest);
        link.map_or(0.0, |link| link.latency() + link.handshake(bytes))
    }

    /// Division of a group whose leader serves `fans`, widest level first, and its time in seconds.
    pub(super) fn divided(&self, network: Option<&Network>, fans: &[Fan]) -> (Division, f64) {
        let Some(network) = network else {
            let by_rule = |fan: &Fan| fan.named.unwrap_or(Shape::of_unknown_links(fan.count));
            return (Division::Levels(fans.iter().map(by_rule).collect()), 0.0);
        };
        let (levels, seconds): (Vec<Shape>, Vec<f64>) = (0..fans.len())
            .map(|level| {
                let each = fans[level + 1..].iter().map(|fan| fan.count as u64);
                self.level(network, &fans[level], each.product())
            })
            .unzip();
        let seconds = seconds.iter().sum();
        let alone = self.alone(network, fans);
        let is_named = fans.iter().any(|fan| fan.named.is_some());
        match is_named || seconds < WORTH_A_TREE * alone {
            true => (Division::Levels(levels), seconds),
            false => (Division::None, alone),
        }
    }

    /// Seconds that the blocks of a group take with its best division; `None` if the leader serves
    /// every rank itself.
    pub(crate) fn by_levels(&self, network: &Network, fans: &[Fan]) -> Option<f64> {
        match self.divided(Some(network), fans) {
            (Division::Levels(_), seconds) => Some(seconds),
            (Division::None, _) => None,
        }
    }

    /// Seconds if the leader serves every rank itself.
    fn alone(&self, network: &Network, fans: &[Fan]) -> f64 {
        let (mut below, mut gaps, mut latency) = (1, 0.0, 0.0_f64);
        for fan in fans.iter().rev().filter(|fan| fan.count > 1) {
            let link = network.link(fan.pair.0, fan.pair.1);
            gaps += ((fan.count - 1) * below) as f64 * self.gap(link, 1);
            latency = latency.max(self.latency(link, 1));
            below *= fan.count;
        }
        gaps + latency
    }

    /// Shape of one level, each of whose places represents `each` ranks, and its time in seconds.
    fn level(&self, network: &Network, fan: &Fan, each: u64) -> (Shape, f64) {
        let link = network.link(fan.pair.0, fan.pair.1);
        let seconds = |shape| self.seconds(shape, fan.count, each, link);
        if let Some(named) = fan.named {
            return (named, seconds(named));
        }
        let [flat, binomial] = [Shape::Flat, Shape::Binomial].map(|shape| (shape, seconds(shape)));
        match binomial.1 < WORTH_A_TREE * flat.1 {
            true => binomial,
            false => flat,
        }
    }

    /// Seconds until the last place of a tree has its blocks: a place begins to serve others when
    /// the first message of its own blocks has arrived.
    fn seconds(&self, shape: Shape, count: usize, each: u64, link: Option<&Link>) -> f64 {
        let mut below = vec![each; count];
        for place in (1..count).rev() {
            if let Some(parent) = shape.visit(count, place, |_| ()) {
                below[parent] += below[place];
            }
        }
        let mut begins = vec![0.0; count];
        let mut last = 0.0_f64;
        for place in 0..count {
            let mut now: f64 = begins[place];
            shape.visit(count, place, |child| {
                let (gap, latency) = (
                    self.gap(link, below[child]),
                    self.latency(link, below[child]),
                );
                let bytes = self.bytes.saturating_mul(below[child]).max(1);
                let first = (self.largest as f64 / bytes as f64).min(1.0);
                begins[child] = now + first * gap + latency;
                now += gap;
                last = last.max(now + latency);
            });
        }
        last
    }
}

/// Factor by which a tree must be faster than a leader that serves all ranks itself.
const WORTH_A_TREE: f64 = 0.97;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::by_cluster::inside::fans;
    use crate::clusters::Clusters;
    use crate::grids;

    /// A link of 5 microseconds, on which a message of no bytes takes 2.
    fn lan() -> Link {
        Link::linear(5e-6, 2e-6, 9e-9).unwrap()
    }

    fn divided(hosts: usize, bytes: u64) -> Division {
        let network = grids::network(&[hosts], |_| lan(), |_, _| grids::wan(10.0, 100.0));
        let clusters = Clusters::of_network(&network);
        let blocks = OwnBlocks {
            bytes,
            largest: 64 << 10,
        };
        blocks.divided(Some(&network), &fans(&clusters, 0)).0
    }

    #[test]
    fn short_blocks_of_many_go_along_a_tree_and_long_ones_directly() {
        let binomial = Division::Levels(vec![Shape::Binomial]);
        assert_eq!(divided(64, 8), binomial);
        assert_eq!(divided(3, 8), Division::None);
        assert_eq!(divided(64, 1 << 20), Division::None);
    }

    #[test]
    fn a_level_takes_as_long_as_its_messages_one_by_one() {
        let link = lan();
        let blocks = OwnBlocks {
            bytes: 100,
            largest: 1 << 20,
        };
        let seconds = |shape| blocks.seconds(shape, 4, 1, Some(&link));
        let (one, two) = (link.gap(100), link.gap(200));
        let close = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(close(seconds(Shape::Flat), 3.0 * one + link.latency()));
        // The first child receives two blocks, and forwards one of them.
        let first = two + link.latency() + one + link.latency();
        let second = two + one + link.latency();
        assert!(close(seconds(Shape::Binomial), first.max(second)));
    }
}
