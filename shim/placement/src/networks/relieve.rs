//! Swaps that lower the load of the most loaded links.
//!
//! As on trees ([`super::super::congestion`]) the sum over all links of a high power of their loads
//! is minimized, in which the most loaded ones count for nearly all of it. What a swap changes is
//! found from the routes of the two ranks.

use super::field::Field;
use super::near::Near;
use crate::congestion::{Partner, partners};
use crate::random::Random;
use treepie_traffic::Matrix;

/// The power to which loads are raised.
const POWER: i32 = 8;

/// Links that are examined in each round, the most loaded first.
const LINKS: usize = 8;

/// Ranks that are offered other slots for each of them.
const RANKS: usize = 24;

/// Slots that each of them is offered.
const SLOTS: usize = 48;

/// What a search may spend.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Rounds over the most loaded links, at most.
    pub rounds: usize,
    /// Hop-bytes that are not exceeded.
    pub hop_bytes: f64,
    /// Links that swaps may count, at most: what bounds the time.
    pub work: usize,
}

/// The slots of the vertices after swaps that lower the loads of links.
pub(crate) fn relieved(
    field: &Field,
    matrix: &Matrix,
    near: &Near,
    slot_of: Vec<u32>,
    limits: Limits,
    seed: u64,
) -> Vec<u32> {
    let mut state = State::new(field, matrix, near, slot_of, limits, seed);
    for _ in 0..limits.rounds {
        let mut improved = false;
        for link in state.most_loaded() {
            improved |= state.relieve(link);
        }
        if !improved || state.work > limits.work {
            break;
        }
    }
    state.slot_of
}

struct State<'a> {
    field: &'a Field<'a>,
    near: &'a Near,
    partners: Vec<Vec<Partner>>,
    slot_of: Vec<u32>,
    vertex_on: Vec<u32>,
    /// Load by capacity.
    loads: Vec<f64>,
    /// The inverse of the capacity times that of the largest load.
    scale: Vec<f64>,
    changed: Vec<(u32, f64)>,
    is_changed: Vec<bool>,
    hop_bytes: f64,
    limits: Limits,
    work: usize,
    random: Random,
}

impl<'a> State<'a> {
    fn new(
        field: &'a Field<'a>,
        matrix: &Matrix,
        near: &'a Near,
        slot_of: Vec<u32>,
        limits: Limits,
        seed: u64,
    ) -> Self {
        let network = field.nodes.network();
        let mut vertex_on = vec![super::field::NOBODY; field.node_of_slot.len()];
        for (vertex, &slot) in slot_of.iter().enumerate() {
            vertex_on[slot as usize] = vertex as u32;
        }
        let exists = |link: usize| network.ends(link).is_some();
        let scale = (0..network.links()).map(|link| match exists(link) {
            true => 1.0 / network.capacity(link),
            false => 0.0,
        });
        let mut state = State {
            partners: partners(matrix),
            loads: vec![0.0; network.links()],
            is_changed: vec![false; network.links()],
            scale: scale.collect(),
            changed: Vec::new(),
            hop_bytes: 0.0,
            work: 0,
            random: Random::new(seed),
            field,
            near,
            slot_of,
            vertex_on,
            limits,
        };
        for rank in 0..field.ranks as u32 {
            // Each pair from its smaller rank only.
            state.count(rank, 1.0, |partner| partner > rank);
        }
        state.forget(false);
        state.work = 0;
        let largest = state.relative().map(|(load, _)| load).fold(0.0, f64::max);
        if largest > 0.0 {
            state.scale.iter_mut().for_each(|scale| *scale /= largest);
        }
        state
    }

    fn relative(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let both = self.loads.iter().zip(&self.scale).enumerate();
        both.map(|(link, (load, scale))| (load * scale, link as u32))
    }

    fn most_loaded(&self) -> Vec<u32> {
        let mut all: Vec<(f64, u32)> = self.relative().filter(|link| link.0 > 0.0).collect();
        let by_load = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if all.len() > LINKS {
            all.select_nth_unstable_by(LINKS, by_load);
            all.truncate(LINKS);
        }
        all.sort_by(by_load);
        all.into_iter().map(|link| link.1).collect()
    }

    fn position(&self, vertex: u32) -> usize {
        let node = self.field.node_of_slot[self.slot_of[vertex as usize] as usize];
        self.field.nodes.position(node as usize)
    }

    /// The swaps that relieve a link most, one for each of the ranks that load it. Whether there
    /// was one.
    fn relieve(&mut self, link: u32) -> bool {
        let mut improved = false;
        for rank in self.loading(link) {
            let mut best = (-1e-9, None);
            for there in self.offered(rank) {
                let other = self.vertex_on[there as usize];
                let here = self.slot_of[rank as usize];
                if here == there || !self.field.may_swap((rank, here), (other, there)) {
                    continue;
                }
                let before = self.hop_bytes;
                let change = self.swap(rank, other);
                let fits = self.hop_bytes <= self.limits.hop_bytes.max(before);
                self.exchange(rank, other);
                self.forget(true);
                self.hop_bytes = before;
                if change < best.0 && fits {
                    best = (change, Some(other));
                }
            }
            if let Some(other) = best.1 {
                self.swap(rank, other);
                self.forget(false);
                improved = true;
            }
            if self.work > self.limits.work {
                break;
            }
        }
        improved
    }

    /// Ranks whose messages go over a link, those that load it most first.
    fn loading(&self, link: u32) -> Vec<u32> {
        let network = self.field.nodes.network();
        let mut load = vec![0.0; self.field.ranks];
        for rank in 0..self.field.ranks as u32 {
            let here = self.position(rank);
            for partner in self.partners[rank as usize].iter().filter(|p| p.sent > 0.0) {
                let there = self.position(partner.rank);
                if here != there {
                    network.route(here, there, &mut |on, share| {
                        if on == link as usize {
                            load[rank as usize] += share * partner.sent;
                            load[partner.rank as usize] += share * partner.sent;
                        }
                    });
                }
            }
        }
        let mut ranks: Vec<u32> = (0..self.field.ranks as u32)
            .filter(|&rank| load[rank as usize] > 0.0)
            .collect();
        ranks.sort_by(|&a, &b| {
            load[b as usize]
                .total_cmp(&load[a as usize])
                .then(a.cmp(&b))
        });
        ranks.truncate(RANKS);
        ranks
    }

    /// Slots for a rank: at and near its partners' nodes, near its own, and some anywhere.
    fn offered(&mut self, rank: u32) -> Vec<u32> {
        let field = self.field;
        let node = |vertex: u32| field.node_of_slot[self.slot_of[vertex as usize] as usize];
        let mut nodes: Vec<u32> = self.near.of(node(rank)).iter().take(8).copied().collect();
        for partner in &self.partners[rank as usize] {
            let there = node(partner.rank);
            nodes.push(there);
            nodes.extend(self.near.of(there).iter().take(6));
        }
        let mut offered = Vec::new();
        let step = nodes.len().div_ceil(SLOTS).max(1);
        for &node in nodes.iter().step_by(step) {
            let slots = field.slots_of(node as usize);
            if !slots.is_empty() {
                offered.push(slots[self.random.below(slots.len())]);
            }
        }
        let all = field.slots();
        offered.extend((0..SLOTS / 4).map(|_| all[self.random.below(all.len())]));
        offered.sort_unstable();
        offered.dedup();
        offered
    }

    /// Swaps two vertices; returns the change of the sum.
    fn swap(&mut self, one: u32, other: u32) -> f64 {
        self.both(one, other, -1.0);
        self.exchange(one, other);
        self.both(one, other, 1.0);
        let value = |load: f64, link: u32| (load * self.scale[link as usize]).max(0.0).powi(POWER);
        let changes = self
            .changed
            .iter()
            .map(|&(link, before)| value(self.loads[link as usize], link) - value(before, link));
        changes.sum()
    }

    fn exchange(&mut self, one: u32, other: u32) {
        self.slot_of.swap(one as usize, other as usize);
        for vertex in [one, other] {
            self.vertex_on[self.slot_of[vertex as usize] as usize] = vertex;
        }
    }

    /// Counts the traffic of two vertices, that between them once.
    fn both(&mut self, one: u32, other: u32, sign: f64) {
        self.count(one, sign, |_| true);
        self.count(other, sign, |partner| partner != one);
    }

    /// Adds the traffic of a vertex with some of its partners to the links of its routes.
    fn count(&mut self, vertex: u32, sign: f64, counts: impl Fn(u32) -> bool) {
        if vertex as usize >= self.field.ranks {
            return;
        }
        let network = self.field.nodes.network();
        let here = self.position(vertex);
        for at in 0..self.partners[vertex as usize].len() {
            let partner = self.partners[vertex as usize][at];
            if !counts(partner.rank) {
                continue;
            }
            let there = self.position(partner.rank);
            if here == there {
                continue;
            }
            let distance = f64::from(network.distance(here, there));
            self.hop_bytes += sign * distance * (partner.sent + partner.received) / 2.0;
            for (from, to, amount) in [(here, there, partner.sent), (there, here, partner.received)]
            {
                if amount > 0.0 {
                    self.add(from, to, sign * amount);
                }
            }
        }
    }

    fn add(&mut self, from: usize, to: usize, amount: f64) {
        let network = self.field.nodes.network();
        let (loads, changed) = (&mut self.loads, &mut self.changed);
        let (is_changed, work) = (&mut self.is_changed, &mut self.work);
        network.route(from, to, &mut |link, share| {
            *work += 1;
            if !std::mem::replace(&mut is_changed[link], true) {
                changed.push((link as u32, loads[link]));
            }
            loads[link] += share * amount;
        });
    }

    /// Forgets what was changed, after putting it back if `undo`.
    fn forget(&mut self, undo: bool) {
        for (link, before) in self.changed.drain(..) {
            self.is_changed[link as usize] = false;
            if undo {
                self.loads[link as usize] = before;
            }
        }
    }
}
