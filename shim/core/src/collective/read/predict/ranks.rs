//! Trees over ranks that know no clusters, simulated message by message: what a
//! library does that goes by rank alone.
//!
//! Between clusters such a library has several messages on the way at once, and
//! the clusters' links carry one at a time:
//!
//! ```text
//!   a0 --\                       /--> b0        four ranks of a, each to its own
//!   a1 ---+-- out of a -- into b -+---> b1       partner in b: the last message is
//!   a2 ---/                       \--> b2        there after L + 3 g, not L + g
//! ```

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use crate::collective::read::models::segment::segments;
use crate::platform::{Link, Platform};

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

    /// How many ranks are below each, itself included: the blocks that a scatter
    /// sends it.
    pub fn below(&self) -> Vec<u64> {
        let mut order = vec![self.root];
        let mut at = 0;
        while let Some(&rank) = order.get(at) {
            order.extend_from_slice(&self.children[rank]);
            at += 1;
        }
        let mut blocks = vec![1_u64; self.children.len()];
        for &rank in order.iter().rev() {
            let children = self.children[rank].iter();
            blocks[rank] += children.map(|&child| blocks[child]).sum::<u64>();
        }
        blocks
    }
}

/// What a message from one rank to another meets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Passage {
    /// How long it occupies its sender, in seconds.
    pub gap: f64,
    /// How much later it is there, in seconds.
    pub latency: f64,
    /// Whether it waits for its receiver before it goes, as a rendezvous does. Such
    /// messages of one sender go on together and share the link evenly; others
    /// leave one after the other.
    pub waits: bool,
    /// The clusters that it leaves and enters, whose links it shares with others;
    /// `None` inside a cluster.
    pub clusters: Option<(usize, usize)>,
}

/// The links out of clusters and into them: when each has time for a message.
#[derive(Debug, Default)]
struct Shared {
    leaving: HashMap<usize, f64>,
    entering: HashMap<usize, f64>,
}

impl Shared {
    /// Sends a message whose sender is ready at `ready`: when the sender is ready
    /// again, and when the message is there.
    fn send(&mut self, ready: f64, passage: Passage) -> (f64, f64) {
        let Passage { gap, latency, .. } = passage;
        let Some((from, to)) = passage.clusters else {
            return (ready + gap, ready + gap + latency);
        };
        let leaving = self.leaving.entry(from).or_default();
        let left = leaving.max(ready) + gap;
        *leaving = left;
        let entering = self.entering.entry(to).or_default();
        let there = (left + latency).max(*entering + gap);
        *entering = there;
        (left, there)
    }

    /// Sends messages that are all ready at once and share evenly what they have in
    /// common: the sender's own link, or that out of its cluster, and the links into
    /// other clusters. When each is there.
    fn together(&mut self, ready: f64, passages: &[Passage]) -> Vec<f64> {
        let mut order: Vec<usize> = (0..passages.len()).collect();
        order.sort_by(|&one, &other| passages[one].gap.total_cmp(&passages[other].gap));
        let mut out: HashMap<Option<usize>, Even> = HashMap::new();
        let mut into: HashMap<usize, Even> = HashMap::new();
        for passage in passages {
            let (from, to) = passage.clusters.unzip();
            let begins = from.map_or(ready, |from| {
                self.leaving
                    .get(&from)
                    .map_or(ready, |&free| free.max(ready))
            });
            out.entry(from).or_insert(Even::from(begins)).open += 1.0;
            if let Some(to) = to {
                let begins = self.entering.get(&to).copied().unwrap_or(f64::NEG_INFINITY);
                into.entry(to).or_insert(Even::from(begins)).open += 1.0;
            }
        }
        let mut there = vec![0.0; passages.len()];
        for place in order {
            let passage = passages[place];
            let (from, to) = passage.clusters.unzip();
            let left = out.entry(from).or_default().through(passage.gap);
            there[place] = left + passage.latency;
            if let Some(from) = from {
                self.leaving.insert(from, left);
            }
            if let Some(to) = to {
                let entered = into.entry(to).or_default().through(passage.gap);
                there[place] = there[place].max(entered);
                self.entering.insert(to, there[place]);
            }
        }
        there
    }
}

/// A link that several messages share evenly from `begins` on. Asked from the
/// shortest to the longest: one of gap g is through after the sum of min(g, g') over
/// the gaps g' of all.
#[derive(Debug, Default)]
struct Even {
    begins: f64,
    /// Gaps of those that are through.
    passed: f64,
    /// Number of those that are not.
    open: f64,
}

impl Even {
    fn from(begins: f64) -> Even {
        Even {
            begins,
            ..Even::default()
        }
    }

    fn through(&mut self, gap: f64) -> f64 {
        let at = self.begins + self.passed + self.open * gap;
        self.passed += gap;
        self.open -= 1.0;
        at
    }
}

/// A rank that may send to its next child.
#[derive(Debug, PartialEq)]
struct Turn {
    ready: f64,
    rank: usize,
    child: usize,
}

impl Eq for Turn {}

impl Ord for Turn {
    /// The earliest is the greatest; of equals the lowest rank.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .ready
            .total_cmp(&self.ready)
            .then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// When the last rank has what comes down `tree`, in seconds. Each rank starts all
/// its sends as soon as it has the message; [`Passage::waits`] says how they share
/// the way. `passage` says what a message meets, for its sender and receiver.
pub fn simulate(tree: &Tree, passage: impl Fn(usize, usize) -> Passage) -> f64 {
    let mut shared = Shared::default();
    let mut last: f64 = 0.0;
    let first = |rank: usize, ready: f64| Turn {
        ready,
        rank,
        child: 0,
    };
    let mut turns = BinaryHeap::from([first(tree.root, 0.0)]);
    while let Some(turn) = turns.pop() {
        let children = &tree.children[turn.rank];
        if turn.child == 0 {
            // Those that wait for their receivers go on beside the others.
            let (waiting, passages): (Vec<usize>, Vec<Passage>) = children
                .iter()
                .map(|&child| (child, passage(turn.rank, child)))
                .filter(|(_, passage)| passage.waits)
                .unzip();
            let there = shared.together(turn.ready, &passages);
            for (child, there) in waiting.into_iter().zip(there) {
                last = last.max(there);
                turns.push(first(child, there));
            }
        }
        let Some(&child) = children.get(turn.child) else {
            continue;
        };
        let next = passage(turn.rank, child);
        let mut ready = turn.ready;
        if !next.waits {
            let there;
            (ready, there) = shared.send(turn.ready, next);
            last = last.max(there);
            turns.push(first(child, there));
        }
        turns.push(Turn {
            ready,
            rank: turn.rank,
            child: turn.child + 1,
        });
    }
    last
}

/// When the last rank of a chain has all of `bytes`, sent in segments of `segment`
/// bytes: the first segment passes every hop, and the others follow as fast as
/// the slowest part of the way takes them, which is a hop, or a cluster's link that
/// several hops share.
///
/// `hops` gives what a message of a size meets from each rank to the next.
pub fn pipeline(hops: impl Iterator<Item = Passage>, bytes: u64, segment: u64) -> f64 {
    let mut first = 0.0;
    let mut slowest: f64 = 0.0;
    let mut shared: HashMap<(bool, usize), f64> = HashMap::new();
    for hop in hops {
        first += hop.gap + hop.latency;
        slowest = slowest.max(hop.gap);
        if let Some((from, to)) = hop.clusters {
            *shared.entry((false, from)).or_default() += hop.gap;
            *shared.entry((true, to)).or_default() += hop.gap;
        }
    }
    let slowest = shared.into_values().fold(slowest, f64::max);
    let followers = segments(bytes, segment.clamp(1, bytes.max(1))) - 1;
    first + followers as f64 * slowest
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

    /// What a message of `bytes` meets. Nothing, where nothing is known about ranks
    /// so close.
    pub(super) fn passage(&self, from: usize, to: usize, bytes: u64) -> Passage {
        let (here, there) = (self.cluster_of[from], self.cluster_of[to]);
        let link = self.between(from, to);
        link.map_or_else(Passage::default, |link| Passage {
            gap: link.gap(bytes),
            latency: link.latency() + link.handshake(bytes),
            waits: link.handshake(bytes) > 0.0,
            clusters: (here != there).then_some((here, there)),
        })
    }

    /// When the last of these messages of `bytes`, all sent at once, is there.
    pub(super) fn round(&self, pairs: impl Iterator<Item = (usize, usize)>, bytes: u64) -> f64 {
        let mut shared = Shared::default();
        pairs
            .map(|(from, to)| shared.send(0.0, self.passage(from, to, bytes)).1)
            .fold(0.0, f64::max)
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
