//! Links of a target: their loads, and the swaps that may relieve them.

use crate::target::occupancy::Occupancy;

/// Number of slots offered to a rank on a loaded link.
pub(crate) const OFFERS: usize = 48;

/// Load of a link in both directions. A directed link only has the first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load {
    pub sent: f64,
    pub received: f64,
}

impl Load {
    /// Load of the busier direction: links carry both at the same time.
    pub(crate) fn busier(&self) -> f64 {
        self.sent.max(self.received)
    }
}

/// Links between the slots of a target, numbered from 0.
pub(crate) trait Links {
    /// Upper bound of the numbers of links.
    fn count(&self) -> usize;

    /// Factor of a load on a link: its length, or the inverse of its capacity.
    fn weight(&self, link: usize) -> f64;

    /// Distance between two slots.
    fn distance(&self, a: usize, b: usize) -> f64;

    /// Calls `each` for every link between two slots, with its share of the traffic that the first
    /// one sends and receives.
    fn route(&self, a: usize, b: usize, traffic: Load, each: impl FnMut(usize, Load));

    /// Traffic of each rank over a link; ranks without any may be left out.
    fn load_of_ranks(&self, link: usize, ranks: &Occupancy) -> Vec<(f64, usize)>;

    /// Slots to which a rank that loads a link may be swapped, ascending.
    fn offers(&mut self, rank: usize, link: usize, ranks: &Occupancy) -> Vec<usize>;
}
