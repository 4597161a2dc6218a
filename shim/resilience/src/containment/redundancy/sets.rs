//! Redundancy sets, their tolerance, and the effect of failures on them.

use std::collections::BTreeMap;

use crate::containment::domains::Domains;

/// Scheme by which the members of a set protect each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// A parity over the set: one member may be lost.
    Xor,
    /// A copy at the next member, that of the last at the first: a member may be lost if its next
    /// is not.
    Partner,
    /// Reed-Solomon codes: this number of members may be lost.
    ReedSolomon(usize),
}

impl Scheme {
    /// True if a set loses data when the members are lost for which `lost` is true, in the order of
    /// the set. A set of one member has no redundancy.
    fn breaks(self, lost: &[bool]) -> bool {
        let count = lost.iter().filter(|&&lost| lost).count();
        let next = lost.iter().cycle().skip(1);
        match self {
            _ if lost.len() < 2 => count > 0,
            Scheme::Xor => count > 1,
            Scheme::ReedSolomon(losses) => count > losses.min(lost.len() - 1),
            Scheme::Partner => lost.iter().zip(next).any(|(&here, &next)| here && next),
        }
    }

    /// Stored bytes for each byte of a checkpoint, in a set of `size`.
    pub fn cost(self, size: usize) -> f64 {
        let size = size as f64;
        match self {
            _ if size < 2.0 => 1.0,
            Scheme::Partner => 2.0,
            Scheme::Xor => size / (size - 1.0),
            Scheme::ReedSolomon(losses) => size / (size - (losses as f64).min(size - 1.0)),
        }
    }
}

/// The sets of one library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sets {
    /// Scheme of protection.
    pub scheme: Scheme,
    /// The ranks of each set, in its order. A rank represents its host if the library has one
    /// member for each host.
    pub members: Vec<Vec<usize>>,
}

/// Effect of failures of one kind of domain on sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakage {
    /// Number of domains.
    pub domains: usize,
    /// Domains whose failure breaks a set, with the numbers of the broken sets.
    pub breaking: BTreeMap<usize, Vec<usize>>,
    /// Number of sets with all members in one domain.
    pub inside: usize,
}

impl Sets {
    /// Number of sets of one member, which protect nothing.
    pub fn unprotected(&self) -> usize {
        self.members.iter().filter(|set| set.len() < 2).count()
    }

    /// Sets that the failure of each domain breaks.
    pub fn breakage(&self, domains: &Domains) -> Breakage {
        let of_rank = domains.of_rank();
        let mut breaking: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut inside = 0;
        for (number, set) in self.members.iter().enumerate() {
            let mut there: Vec<usize> = set.iter().map(|&rank| of_rank[rank]).collect();
            there.sort_unstable();
            there.dedup();
            inside += usize::from(there.len() == 1);
            for domain in there {
                let lost: Vec<bool> = set.iter().map(|&rank| of_rank[rank] == domain).collect();
                if self.scheme.breaks(&lost) {
                    breaking.entry(domain).or_default().push(number);
                }
            }
        }
        Breakage {
            domains: domains.count(),
            breaking,
            inside,
        }
    }
}
