//! Patterns of traffic that are known without a run: rings, trees, halos, and the groups used in
//! training neural networks.

use std::str::FromStr;

use crate::matrix::{Matrix, MatrixError};
use thiserror::Error;

/// A pattern of traffic between ranks.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// Each rank sends to the next, the last to the first.
    Ring,
    /// Each rank exchanges with its parent in a binary tree, of which rank 0 is the root.
    Tree,
    /// Each rank exchanges with all others.
    AllToAll,
    /// Each rank of a grid exchanges with its neighbours in each dimension; the last dimension
    /// varies fastest.
    Halo(Vec<usize>),
    /// Groups of ranks, the first varies fastest.
    Groups(Vec<Group>),
}

/// A division of the work of a training over ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    kind: Kind,
    ranks: usize,
    /// Bytes to a partner, relative to those of other groups.
    weight: f64,
}

/// Kinds of groups, by the collectives that they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Tensor, context and data parallel: rings.
    Ring,
    /// Pipeline: a chain.
    Chain,
    /// Experts: an exchange among all.
    Exchange,
}

/// Names of kinds of groups, and the usual weight of their traffic: a tensor group exchanges in
/// each layer, a data group once per step, a pipeline one activation for each part of a batch.
const KINDS: [(&str, Kind, f64); 5] = [
    ("tp", Kind::Ring, 32.0),
    ("cp", Kind::Ring, 8.0),
    ("ep", Kind::Exchange, 8.0),
    ("dp", Kind::Ring, 4.0),
    ("pp", Kind::Chain, 1.0),
];

/// Reason why a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// No pattern has this name.
    #[error(
        "`{0}` is no pattern; write ring, tree, all-to-all, halo:8x8, groups such as tp8,pp4,dp16, \
         or name a profile or a matrix"
    )]
    Unknown(String),
    /// The pattern has another number of ranks than the hosts.
    #[error("{pattern} has {own} ranks, and the hosts have {ranks}; change one of the two")]
    OtherRanks {
        /// The pattern in its written form.
        pattern: String,
        /// Its number of ranks.
        own: usize,
        /// Number of ranks of all hosts.
        ranks: usize,
    },
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let unknown = || PatternError::Unknown(text.to_owned());
        let size = |text: &str| text.parse().ok().filter(|&size: &usize| size > 0);
        if let Some(sizes) = text.strip_prefix("halo:") {
            let sizes: Option<Vec<usize>> = sizes.split('x').map(size).collect();
            return sizes.map(Pattern::Halo).ok_or_else(unknown);
        }
        match text {
            "ring" => Ok(Pattern::Ring),
            "tree" => Ok(Pattern::Tree),
            "all-to-all" => Ok(Pattern::AllToAll),
            _ => {
                let group = |text: &str| {
                    let (text, given) = match text.split_once('*') {
                        Some((text, weight)) => (text, Some(weight.parse().ok()?)),
                        None => (text, None),
                    };
                    let (_, kind, usual) = KINDS.iter().find(|kind| text.starts_with(kind.0))?;
                    let weight = given.unwrap_or(*usual);
                    Some(Group {
                        kind: *kind,
                        ranks: size(&text[2..])?,
                        weight: Some(weight).filter(|weight: &f64| (0.0..1e9).contains(weight))?,
                    })
                };
                let groups: Option<Vec<Group>> = text.split(',').map(group).collect();
                groups.map(Pattern::Groups).ok_or_else(unknown)
            }
        }
    }
}

impl Pattern {
    /// The number of ranks that follows from the pattern itself, if any.
    fn own_ranks(&self) -> Option<usize> {
        let sizes: Vec<usize> = match self {
            Pattern::Ring | Pattern::Tree | Pattern::AllToAll => return None,
            Pattern::Halo(sizes) => sizes.clone(),
            Pattern::Groups(groups) => groups.iter().map(|group| group.ranks).collect(),
        };
        let product = sizes
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        Some(product.unwrap_or(usize::MAX))
    }

    /// Checks that the pattern has `ranks` ranks; `text` is for the message.
    ///
    /// # Errors
    /// The pattern has another number of ranks.
    pub fn require_ranks(&self, text: &str, ranks: usize) -> Result<(), PatternError> {
        match self.own_ranks().filter(|&own| own != ranks) {
            Some(own) => Err(PatternError::OtherRanks {
                pattern: text.to_owned(),
                own,
                ranks,
            }),
            None => Ok(()),
        }
    }

    /// The traffic between hosts of `per_host` ranks each, which have the ranks in order, in
    /// relative bytes.
    ///
    /// # Errors
    /// None after [`Pattern::require_ranks`].
    pub fn between_hosts(&self, hosts: usize, per_host: usize) -> Result<Matrix, MatrixError> {
        let ranks = hosts * per_host;
        let mut entries = Vec::new();
        let mut send = |from: usize, to: usize, weight: f64| {
            let (from, to) = (from / per_host, to / per_host);
            if from != to {
                entries.push((from, to, weight));
            }
        };
        match self {
            Pattern::Ring => ring(0, ranks, 1, 1.0, &mut send),
            Pattern::Tree => {
                for child in 1..ranks {
                    send(child, (child - 1) / 2, 1.0);
                    send((child - 1) / 2, child, 1.0);
                }
            }
            Pattern::AllToAll => {
                // The ranks of two hosts all exchange.
                let weight = (per_host * per_host) as f64;
                let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
                for (from, to) in pairs {
                    send(from * per_host, to * per_host, weight);
                }
            }
            Pattern::Halo(sizes) => halo(sizes, &mut send),
            Pattern::Groups(groups) => {
                let mut stride = 1;
                for group in groups {
                    let span = stride * group.ranks;
                    let firsts = (0..ranks).filter(|rank| rank % span < stride);
                    firsts.for_each(|first| group.traffic(first, stride, &mut send));
                    stride = span;
                }
            }
        }
        Matrix::from_entries(hosts, entries)
    }
}

impl Group {
    /// The traffic of the group that begins at rank `first`.
    fn traffic(&self, first: usize, stride: usize, send: &mut dyn FnMut(usize, usize, f64)) {
        let at = |place: usize| first + place * stride;
        match self.kind {
            Kind::Ring => ring(first, self.ranks, stride, self.weight, send),
            Kind::Chain => {
                for place in 1..self.ranks {
                    send(at(place - 1), at(place), self.weight);
                    send(at(place), at(place - 1), self.weight);
                }
            }
            Kind::Exchange => {
                for from in 0..self.ranks {
                    for to in (0..self.ranks).filter(|&to| to != from) {
                        send(at(from), at(to), self.weight / self.ranks as f64);
                    }
                }
            }
        }
    }
}

fn ring(
    first: usize,
    ranks: usize,
    stride: usize,
    weight: f64,
    send: &mut dyn FnMut(usize, usize, f64),
) {
    for place in 0..ranks {
        let next = (place + 1) % ranks;
        if next != place {
            send(first + place * stride, first + next * stride, weight);
        }
    }
}

fn halo(sizes: &[usize], send: &mut dyn FnMut(usize, usize, f64)) {
    let ranks: usize = sizes.iter().product();
    let mut stride = ranks;
    for &size in sizes {
        stride /= size;
        for rank in (0..ranks).filter(|rank| rank / stride % size + 1 < size) {
            send(rank, rank + stride, 1.0);
            send(rank + stride, rank, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(text: &str, hosts: usize, per_host: usize) -> Matrix {
        let pattern: Pattern = text.parse().unwrap();
        pattern.require_ranks(text, hosts * per_host).unwrap();
        pattern.between_hosts(hosts, per_host).unwrap()
    }

    #[test]
    fn a_ring_crosses_from_each_host_to_the_next_once() {
        let matrix = between("ring", 4, 8);
        let entries: Vec<_> = matrix.entries().collect();
        assert_eq!(
            entries,
            [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)]
        );
    }

    #[test]
    fn a_halo_has_its_rows_on_hosts() {
        // Rows of four ranks, one on each host: all exchange with the next row.
        let matrix = between("halo:4x4", 4, 4);
        assert_eq!(matrix.get(1, 2), 4.0);
        assert_eq!((matrix.get(0, 2), matrix.get(0, 3)), (0.0, 0.0));
        assert_eq!(between("halo:2x2x2", 8, 1).non_zeros(), 24);
    }

    #[test]
    fn groups_inside_of_a_host_cross_to_no_other() {
        let matrix = between("tp8,pp2,dp2", 4, 8);
        // Tensor groups are hosts; pipelines join 0 with 1 and 2 with 3, data groups 0 with 2.
        assert_eq!((matrix.get(0, 1), matrix.get(2, 3)), (8.0, 8.0));
        assert_eq!((matrix.get(0, 2), matrix.get(1, 3)), (32.0, 32.0));
        assert_eq!((matrix.get(0, 3), matrix.get(1, 2)), (0.0, 0.0));
        assert_eq!(between("tp8,pp2*3,dp2", 4, 8).get(0, 1), 24.0);
        assert_eq!(between("ep4", 2, 2).get(0, 1), 8.0);
    }

    #[test]
    fn all_pairs_of_ranks_exchange_in_an_exchange_of_all() {
        assert_eq!(between("all-to-all", 3, 4).total(), 6.0 * 16.0);
        assert_eq!(between("tree", 4, 1).total(), 6.0);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_what_there_is() {
        for text in [
            "rings", "halo:", "halo:0x4", "tp", "tp0", "xp4", "tp4*-1", "",
        ] {
            let error = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no pattern; ")),
                "{error}"
            );
        }
        let pattern: Pattern = "tp8,dp4".parse().unwrap();
        assert_eq!(
            pattern
                .require_ranks("tp8,dp4", 16)
                .unwrap_err()
                .to_string(),
            "tp8,dp4 has 32 ranks, and the hosts have 16; change one of the two"
        );
    }
}
