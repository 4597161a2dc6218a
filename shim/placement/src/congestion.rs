//! Congestion refinement: swaps ranks to lower the maximum link load.
//!
//! The maximum load alone does not guide a search: most swaps do not change it. So the sum over all
//! links of a high power of load times length is minimized, in which the most loaded links count
//! for nearly all of it. What a swap changes is found from the links above the two ranks and their
//! partners.

use super::constraints::SlotTree;
use super::objective::link_lengths;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// The power to which loads are raised.
const POWER: i32 = 8;

/// Links that are examined in each round, the most loaded first.
const LINKS: usize = 8;

/// Ranks below a link that are candidates for a swap, those that load it most first.
const RANKS: usize = 24;

/// Slots that each of them is offered.
const SEATS: usize = 48;

/// A placement, one slot for each rank, after swaps that lower link loads, in at most `rounds`
/// rounds. Links of the lowest level of `topology`, which the slots belong to, do not count: what a
/// rank sends goes over its own link wherever that is.
pub(crate) fn refine_congestion(
    matrix: &Matrix,
    topology: &Topology,
    slot_tree: &SlotTree,
    slots: Vec<usize>,
    rounds: usize,
) -> Vec<usize> {
    let levels = topology.depth() - 1;
    if levels == 0 {
        return slots;
    }
    let mut links = Links::new(matrix, slot_tree, slots, levels);
    for _ in 0..rounds {
        let mut improved = false;
        for (depth, node) in links.most_loaded() {
            improved |= links.relieve(depth, node);
        }
        if !improved {
            break;
        }
    }
    links.slot_of
}

/// Load of a link, in both directions.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    sent: f64,
    received: f64,
}

/// Another rank and the traffic to and from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partner {
    pub rank: u32,
    pub sent: f64,
    pub received: f64,
}

struct Links<'a> {
    slot_tree: &'a SlotTree,
    tree: &'a Topology,
    partners: Vec<Vec<Partner>>,
    slot_of: Vec<usize>,
    rank_on: Vec<Option<usize>>,
    /// The links above the nodes at depth `d + 1`: `loads[d][node]`.
    loads: Vec<Vec<Load>>,
    /// The length of a link of each level, as a part of the largest load.
    lengths: Vec<f64>,
    /// Links that a swap has changed, with their loads before.
    changed: Vec<(usize, usize, Load)>,
    is_changed: Vec<Vec<bool>>,
}

impl<'a> Links<'a> {
    fn new(matrix: &Matrix, slot_tree: &'a SlotTree, slot_of: Vec<usize>, levels: usize) -> Self {
        let tree = slot_tree.topology();
        let nodes = |depth: usize| tree.node_count(depth + 1);
        let mut rank_on = vec![None; tree.leaf_count()];
        for (rank, &slot) in slot_of.iter().enumerate() {
            rank_on[slot] = Some(rank);
        }
        let mut links = Links {
            partners: partners(matrix),
            loads: (0..levels)
                .map(|d| vec![Load::default(); nodes(d)])
                .collect(),
            is_changed: (0..levels).map(|d| vec![false; nodes(d)]).collect(),
            lengths: link_lengths(tree),
            changed: Vec::new(),
            slot_tree,
            tree,
            slot_of,
            rank_on,
        };
        for rank in 0..links.slot_of.len() {
            // Each pair from its smaller rank only.
            links.count(rank, 1.0, |partner| partner > rank);
        }
        links.changed_undone(false);
        let largest = links.weighted().map(|(load, _)| load).fold(0.0, f64::max);
        if largest > 0.0 {
            links
                .lengths
                .iter_mut()
                .for_each(|length| *length /= largest);
        }
        links
    }

    /// Load times length of every link, and where it is.
    fn weighted(&self) -> impl Iterator<Item = (f64, (usize, usize))> + '_ {
        let levels = self.loads.iter().zip(&self.lengths).enumerate();
        levels.flat_map(|(depth, (loads, length))| {
            let loads = loads.iter().enumerate();
            loads.map(move |(node, load)| (load.sent.max(load.received) * length, (depth, node)))
        })
    }

    fn most_loaded(&self) -> Vec<(usize, usize)> {
        let mut all: Vec<_> = self.weighted().filter(|link| link.0 > 0.0).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(LINKS).map(|link| link.1).collect()
    }

    /// The swaps that relieve the link above a node most, one for each of the
    /// ranks that load it. Whether there was one.
    fn relieve(&mut self, depth: usize, node: usize) -> bool {
        let mut improved = false;
        for rank in self.loading(depth, node) {
            let here = self.slot_of[rank];
            let mut best = (-1e-9, None);
            for there in self.offered(rank, depth, node) {
                let other = self.rank_on[there];
                if self.slot_tree.may_swap((Some(rank), here), (other, there)) {
                    let change = self.swap(here, there);
                    self.swap_back(here, there);
                    if change < best.0 {
                        best = (change, Some(there));
                    }
                }
            }
            if let Some(there) = best.1 {
                self.swap(here, there);
                self.changed_undone(false);
                improved = true;
            }
        }
        improved
    }

    /// The ranks below a node that send or receive most over the link above it.
    fn loading(&self, depth: usize, node: usize) -> Vec<usize> {
        let below = self.tree.leaves_below(depth + 1, node);
        let ranks = below.clone().filter_map(|slot| self.rank_on[slot]);
        let outside = |rank: usize| -> f64 {
            let partners = self.partners[rank].iter();
            let outside = partners.filter(|p| !below.contains(&self.slot_of[p.rank as usize]));
            outside.map(|partner| partner.sent + partner.received).sum()
        };
        let mut ranks: Vec<(f64, usize)> = ranks.map(|rank| (outside(rank), rank)).collect();
        ranks.retain(|rank| rank.0 > 0.0);
        ranks.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranks.into_iter().take(RANKS).map(|rank| rank.1).collect()
    }

    /// Slots outside a node for one of its ranks: those beside its partners, and
    /// some spread over the tree.
    fn offered(&self, rank: usize, depth: usize, node: usize) -> Vec<usize> {
        let below = self.tree.leaves_below(depth + 1, node);
        let lowest = self.loads.len();
        let mut offered: Vec<usize> = Vec::new();
        for partner in &self.partners[rank] {
            let slot = self.slot_of[partner.rank as usize];
            if !below.contains(&slot) && offered.len() < SEATS {
                offered.extend(
                    self.tree
                        .leaves_below(lowest, self.tree.ancestor(slot, lowest)),
                );
            }
        }
        offered.truncate(SEATS);
        let leaves = self.tree.leaf_count();
        let step = leaves.div_ceil(SEATS / 2);
        offered.extend((0..leaves).skip(rank % step).step_by(step));
        offered.retain(|slot| !below.contains(slot) && !self.tree.leaf(*slot).forbidden);
        offered.sort_unstable();
        offered.dedup();
        offered
    }

    /// Swaps the ranks of two slots; returns the change of the sum.
    fn swap(&mut self, here: usize, there: usize) -> f64 {
        let (one, other) = (self.rank_on[here], self.rank_on[there]);
        self.both(one, other, -1.0);
        self.exchange(here, there);
        self.both(one, other, 1.0);
        let value = |load: &Load, depth: usize| {
            (load.sent.max(load.received) * self.lengths[depth]).powi(POWER)
        };
        let changes = self.changed.iter().map(|&(depth, node, before)| {
            value(&self.loads[depth][node], depth) - value(&before, depth)
        });
        changes.sum()
    }

    fn swap_back(&mut self, here: usize, there: usize) {
        self.exchange(here, there);
        self.changed_undone(true);
    }

    fn exchange(&mut self, here: usize, there: usize) {
        self.rank_on.swap(here, there);
        for slot in [here, there] {
            if let Some(rank) = self.rank_on[slot] {
                self.slot_of[rank] = slot;
            }
        }
    }

    /// Counts the traffic of two ranks, that between them once.
    fn both(&mut self, one: Option<usize>, other: Option<usize>, sign: f64) {
        if let Some(one) = one {
            self.count(one, sign, |_| true);
        }
        if let Some(other) = other {
            self.count(other, sign, |partner| Some(partner) != one);
        }
    }

    /// Adds the traffic of a rank with some of its partners to the links that it
    /// goes over, or takes it away.
    fn count(&mut self, rank: usize, sign: f64, counts: impl Fn(usize) -> bool) {
        for at in 0..self.partners[rank].len() {
            let partner = self.partners[rank][at];
            if !counts(partner.rank as usize) {
                continue;
            }
            let mut a = self.slot_of[rank];
            let mut b = self.slot_of[partner.rank as usize];
            let (sent, received) = (sign * partner.sent, sign * partner.received);
            for depth in (0..self.tree.depth()).rev() {
                if a == b {
                    break;
                }
                if depth < self.loads.len() {
                    self.add(depth, a, sent, received);
                    self.add(depth, b, received, sent);
                }
                a = self.tree.parent(depth + 1, a);
                b = self.tree.parent(depth + 1, b);
            }
        }
    }

    fn add(&mut self, depth: usize, node: usize, sent: f64, received: f64) {
        let load = &mut self.loads[depth][node];
        if !std::mem::replace(&mut self.is_changed[depth][node], true) {
            self.changed.push((depth, node, *load));
        }
        load.sent += sent;
        load.received += received;
    }

    /// Forgets what was changed, after putting it back if `undo`.
    fn changed_undone(&mut self, undo: bool) {
        for (depth, node, before) in self.changed.drain(..) {
            self.is_changed[depth][node] = false;
            if undo {
                self.loads[depth][node] = before;
            }
        }
    }
}

/// The partners of every rank, both directions in one.
pub(super) fn partners(matrix: &Matrix) -> Vec<Vec<Partner>> {
    let mut partners: Vec<Vec<Partner>> = vec![Vec::new(); matrix.order()];
    for (from, to, value) in matrix.entries().filter(|(from, to, _)| from != to) {
        for (one, other, sent, received) in [(from, to, value, 0.0), (to, from, 0.0, value)] {
            partners[one].push(Partner {
                rank: other as u32,
                sent,
                received,
            });
        }
    }
    for all in &mut partners {
        all.sort_by_key(|partner| partner.rank);
        all.dedup_by(|next, first| {
            let same = next.rank == first.rank;
            if same {
                first.sent += next.sent;
                first.received += next.received;
            }
            same
        });
    }
    partners
}
