//! Congestion refinement: swaps ranks to lower the maximum link load.
//!
//! The maximum load alone does not guide a search: most swaps do not change it. So the sum over all
//! links of a high power of load times weight is minimized, in which the most loaded links
//! dominate. The change by a swap is computed from the routes of the two ranks.

use crate::constraints::slot_tree::SlotTree;
use crate::refine::refiner::Refiner;
use crate::target::links::{Links, Load};
use crate::target::occupancy::Occupancy;
use treepie_base::{List, Rank, Slot};
use treepie_traffic::Matrix;

/// Power to which loads are raised.
const POWER: i32 = 8;

/// Number of links examined in each round, the most loaded first.
const LINKS: usize = 8;

/// Number of ranks that are offered other slots for each link, those that load it most first.
const RANKS: usize = 24;

/// Least change of the sum that exceeds rounding, in powers of the largest load.
const LEAST_GAIN: f64 = 1e-9;

/// Limits of a refinement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of rounds over the most loaded links.
    pub rounds: usize,
    /// Maximum hop-bytes.
    pub hop_bytes: f64,
    /// Maximum number of links counted for swaps, which limits the time.
    pub work: usize,
}

/// Refiner that lowers the maximum load of the links of a target.
pub(crate) struct CongestionRefiner<'a, L> {
    pub matrix: &'a Matrix,
    pub slot_tree: &'a SlotTree,
    pub links: L,
    pub limits: Limits,
}

impl<L: Links> Refiner for CongestionRefiner<'_, L> {
    fn refine(&mut self, slot_of_rank: List<Rank, Slot>) -> List<Rank, Slot> {
        if self.links.count() == 0 {
            return slot_of_rank;
        }
        let occupancy = Occupancy::new(self.matrix, self.slot_tree, slot_of_rank);
        let mut search = LinkLoads::new(&mut self.links, self.slot_tree, occupancy, self.limits);
        for _ in 0..self.limits.rounds {
            let mut improved = false;
            for link in search.most_loaded() {
                improved |= search.relieve(link);
            }
            if !improved || search.work > self.limits.work {
                break;
            }
        }
        Slot::list(search.ranks.slot_of)
    }
}

/// Loads of all links under an occupancy that swaps change.
struct LinkLoads<'a, L> {
    links: &'a mut L,
    slot_tree: &'a SlotTree,
    ranks: Occupancy,
    loads: Vec<Load>,
    /// Weight of each link relative to the largest weighted load.
    weights: Vec<f64>,
    /// Links that a swap has changed, with their loads before.
    changed: Vec<(usize, Load)>,
    is_changed: Vec<bool>,
    hop_bytes: f64,
    limits: Limits,
    work: usize,
}

impl<'a, L: Links> LinkLoads<'a, L> {
    fn new(links: &'a mut L, slot_tree: &'a SlotTree, ranks: Occupancy, limits: Limits) -> Self {
        let count = links.count();
        let mut all = LinkLoads {
            loads: vec![Load::default(); count],
            weights: (0..count).map(|link| links.weight(link)).collect(),
            changed: Vec::new(),
            is_changed: vec![false; count],
            hop_bytes: 0.0,
            work: 0,
            links,
            slot_tree,
            ranks,
            limits,
        };
        for rank in 0..all.ranks.slot_of.len() {
            // Each pair from its smaller rank only.
            all.count(rank, 1.0, |partner| partner > rank);
        }
        all.commit();
        all.work = 0;
        let largest = all.weighted().map(|(load, _)| load).fold(0.0, f64::max);
        if largest > 0.0 {
            all.weights.iter_mut().for_each(|weight| *weight /= largest);
        }
        all
    }

    /// Weighted load of every link.
    fn weighted(&self) -> impl Iterator<Item = (f64, usize)> + '_ {
        let links = self.loads.iter().zip(&self.weights).enumerate();
        links.map(|(link, (load, weight))| (load.busier() * weight, link))
    }

    fn most_loaded(&self) -> Vec<usize> {
        let mut all: Vec<(f64, usize)> = self.weighted().filter(|link| link.0 > 0.0).collect();
        let by_load = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if all.len() > LINKS {
            all.select_nth_unstable_by(LINKS, by_load);
            all.truncate(LINKS);
        }
        all.sort_by(by_load);
        all.into_iter().map(|link| link.1).collect()
    }

    /// Makes the swaps that relieve a link most, one for each of the ranks that load it; returns
    /// true if there was one.
    fn relieve(&mut self, link: usize) -> bool {
        let mut ranks = self.links.load_of_ranks(link, &self.ranks);
        ranks.retain(|rank| rank.0 > 0.0);
        ranks.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut improved = false;
        for (_, rank) in ranks.into_iter().take(RANKS) {
            let here = self.ranks.slot_of[rank];
            let mut best = (-LEAST_GAIN, None);
            for there in self.links.offers(rank, link, &self.ranks) {
                if let Some(change) = self.judge(here, there)
                    && change < best.0
                {
                    best = (change, Some(there));
                }
            }
            if let Some(there) = best.1 {
                self.swap(here, there);
                self.commit();
                improved = true;
            }
            if self.work > self.limits.work {
                break;
            }
        }
        improved
    }

    /// Change of the sum by a swap; `None` if constraints or the limit of hop-bytes forbid it.
    fn judge(&mut self, here: usize, there: usize) -> Option<f64> {
        let swap = (self.ranks.at(here), self.ranks.at(there));
        if here == there || !self.slot_tree.may_swap(swap.0, swap.1) {
            return None;
        }
        let before = self.hop_bytes;
        let change = self.swap(here, there);
        let fits = self.hop_bytes <= self.limits.hop_bytes.max(before);
        self.ranks.swap(here, there);
        self.roll_back();
        self.hop_bytes = before;
        fits.then_some(change)
    }

    /// Swaps the ranks of two slots; returns the change of the sum.
    fn swap(&mut self, here: usize, there: usize) -> f64 {
        let (one, other) = (self.ranks.rank_on[here], self.ranks.rank_on[there]);
        self.count_both(one, other, -1.0);
        self.ranks.swap(here, there);
        self.count_both(one, other, 1.0);
        let value = |load: &Load, link: usize| (load.busier() * self.weights[link]).powi(POWER);
        let changed = self.changed.iter();
        changed
            .map(|(link, before)| value(&self.loads[*link], *link) - value(before, *link))
            .sum()
    }

    /// Counts the traffic of two ranks, with that between them once.
    fn count_both(&mut self, one: Option<usize>, other: Option<usize>, sign: f64) {
        if let Some(one) = one {
            self.count(one, sign, |_| true);
        }
        if let Some(other) = other {
            self.count(other, sign, |partner| Some(partner) != one);
        }
    }

    /// Adds the traffic of a rank with some of its partners to the links of its routes, or
    /// subtracts it.
    fn count(&mut self, rank: usize, sign: f64, counts: impl Fn(usize) -> bool) {
        let here = self.ranks.slot_of[rank];
        for partner in &self.ranks.partners[rank] {
            if !counts(partner.rank as usize) {
                continue;
            }
            let there = self.ranks.slot_of[partner.rank as usize];
            if self.limits.hop_bytes.is_finite() {
                let amount = (partner.sent + partner.received) / 2.0;
                self.hop_bytes += sign * self.links.distance(here, there) * amount;
            }
            let traffic = Load {
                sent: sign * partner.sent,
                received: sign * partner.received,
            };
            let (loads, changed) = (&mut self.loads, &mut self.changed);
            let (is_changed, work) = (&mut self.is_changed, &mut self.work);
            self.links.route(here, there, traffic, |link, more| {
                *work += 1;
                let load = &mut loads[link];
                if !std::mem::replace(&mut is_changed[link], true) {
                    changed.push((link, *load));
                }
                load.sent += more.sent;
                load.received += more.received;
            });
        }
    }

    /// Accepts the changed loads.
    fn commit(&mut self) {
        for (link, _) in self.changed.drain(..) {
            self.is_changed[link] = false;
        }
    }

    /// Restores the loads before the change.
    fn roll_back(&mut self) {
        for (link, before) in self.changed.drain(..) {
            self.is_changed[link] = false;
            self.loads[link] = before;
        }
    }
}
