//! Trees over ranks that know no clusters, simulated message by message: what a
//! library does that goes by rank alone.

use super::super::{Link, Platform};

/// A broadcast tree: the children of every rank in the order in which they are
/// served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Children of every rank.
    pub children: Vec<Vec<usize>>,
    /// The rank that has the message.
    pub root: usize,
}

impl Tree {
    /// The root serves all, by rank.
    pub fn flat(ranks: usize, root: usize) -> Tree {
        let mut children = vec![Vec::new(); ranks];
        children[root] = (1..ranks).map(|step| (root + step) % ranks).collect();
        Tree { children, root }
    }

    /// Each serves the next, by rank.
    pub fn chain(ranks: usize, root: usize) -> Tree {
        let next = |rank: usize| (rank + 1) % ranks;
        let child = |rank: usize| (next(rank) != root).then(|| next(rank));
        let children = (0..ranks).map(|rank| child(rank).into_iter().collect());
        Tree {
            children: children.collect(),
            root,
        }
    }

    /// The binomial tree that libraries use by default: the farthest child first.
    pub fn binomial(ranks: usize, root: usize) -> Tree {
        let mut children = vec![Vec::new(); ranks];
        for relative in 0..ranks {
            let lowest_bit = match relative {
                0 => ranks.next_power_of_two(),
                _ => 1 << relative.trailing_zeros(),
            };
            let mut bit = lowest_bit >> 1;
            while bit > 0 {
                if relative + bit < ranks {
                    children[(relative + root) % ranks].push((relative + bit + root) % ranks);
                }
                bit >>= 1;
            }
        }
        Tree { children, root }
    }
}

/// When the last rank has all of `bytes`, sent down `tree` in segments of
/// `segment` bytes, in seconds. `cost` gives, for two ranks and a size, how long
/// the sender is occupied and how much later the message is there.
///
/// Each rank sends one segment at a time to one child after the other.
pub fn simulate(
    tree: &Tree,
    bytes: u64,
    segment: u64,
    cost: impl Fn(usize, usize, u64) -> (f64, f64),
) -> f64 {
    let segment = segment.clamp(1, bytes.max(1));
    let count = bytes.div_ceil(segment).max(1) as usize;
    let mut arrived: Vec<Vec<f64>> = vec![Vec::new(); tree.children.len()];
    arrived[tree.root] = vec![0.0; count];
    let mut last: f64 = 0.0;
    let mut reached = vec![tree.root];
    while let Some(rank) = reached.pop() {
        let has = std::mem::take(&mut arrived[rank]);
        let children = &tree.children[rank];
        let costs: Vec<(f64, f64)> = children
            .iter()
            .map(|&child| cost(rank, child, segment))
            .collect();
        let mut free = 0.0;
        for child in children {
            arrived[*child] = Vec::with_capacity(count);
        }
        for time in has {
            for (&child, &(gap, latency)) in children.iter().zip(&costs) {
                free = f64::max(free, time) + gap;
                arrived[child].push(free + latency);
                last = last.max(free + latency);
            }
        }
        reached.extend_from_slice(children);
    }
    last
}

/// When the last rank has its block of `bytes`, scattered down `tree`: each
/// child gets the blocks of all below it, the largest part first.
pub(super) fn simulate_scatter(
    tree: &Tree,
    bytes: u64,
    cost: impl Fn(usize, usize, u64) -> (f64, f64),
) -> f64 {
    let mut order = vec![tree.root];
    let mut at = 0;
    while let Some(&rank) = order.get(at) {
        order.extend_from_slice(&tree.children[rank]);
        at += 1;
    }
    let mut blocks = vec![1_u64; tree.children.len()];
    for &rank in order.iter().rev() {
        blocks[rank] += tree.children[rank]
            .iter()
            .map(|&child| blocks[child])
            .sum::<u64>();
    }
    let mut free = vec![0.0; tree.children.len()];
    let mut last: f64 = 0.0;
    for &rank in &order {
        for &child in &tree.children[rank] {
            let (gap, latency) = cost(rank, child, blocks[child].saturating_mul(bytes));
            free[rank] += gap;
            free[child] = free[rank] + latency;
            last = last.max(free[child]);
        }
    }
    last
}

/// The link between two ranks of a platform, by where they are.
pub(super) struct Links<'a> {
    platform: &'a Platform,
    cluster_of: Vec<usize>,
    host_of: Vec<usize>,
}

impl<'a> Links<'a> {
    pub(super) fn of(platform: &'a Platform) -> Self {
        Links {
            platform,
            cluster_of: platform.cluster_of_rank(),
            host_of: platform.host_of_rank(),
        }
    }

    /// How long a message of `bytes` occupies its sender, and how much later it
    /// is there. Nothing, where nothing is known about ranks so close.
    pub(super) fn cost(&self, from: usize, to: usize, bytes: u64) -> (f64, f64) {
        self.between(from, to).map_or((0.0, 0.0), |link| {
            (link.gap(bytes), link.latency() + link.handshake(bytes))
        })
    }

    /// One message alone, from send to receipt.
    pub(super) fn delivery(&self, from: usize, to: usize, bytes: u64) -> f64 {
        let (gap, latency) = self.cost(from, to, bytes);
        gap + latency
    }

    /// The link from one rank to another.
    fn between(&self, from: usize, to: usize) -> Option<&'a Link> {
        let (here, there) = (self.cluster_of[from], self.cluster_of[to]);
        if here != there {
            return Some(self.platform.between(here, there));
        }
        let cluster = &self.platform.clusters()[here];
        let closer = cluster.levels.first().map(|level| &level.link);
        let within = cluster.within.as_ref();
        match self.host_of[from] == self.host_of[to] {
            true => closer.or(within),
            false => within.or(closer),
        }
    }
}
