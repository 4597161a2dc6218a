//! Ranks of a communicator.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use treepie_base::Rank;

/// Ranks of the world, in the order of a communicator. A sequence takes no memory, whatever length
/// a page claims for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Members {
    /// An arithmetic sequence.
    Row {
        /// First rank.
        first: usize,
        /// Distance between ranks.
        stride: usize,
        /// Number of them.
        size: usize,
    },
    /// A list.
    Listed(Vec<Rank>),
}

impl Members {
    /// Returns a sequence of members, if all are ranks of a job of `ranks`.
    pub(crate) fn row(first: u64, stride: u64, size: usize, ranks: usize) -> Option<Members> {
        let behind = (size as u64).saturating_sub(1).checked_mul(stride)?;
        let last = first.checked_add(behind)?;
        (size == 0 || last < ranks as u64).then_some(Members::Row {
            first: first as usize,
            stride: stride as usize,
            size,
        })
    }

    /// Returns the number of members.
    #[allow(clippy::len_without_is_empty)] // no communicator is empty
    pub fn len(&self) -> usize {
        match self {
            Members::Row { size, .. } => *size,
            Members::Listed(list) => list.len(),
        }
    }

    /// Returns the member at this index.
    pub fn get(&self, place: usize) -> Option<Rank> {
        match self {
            Members::Row {
                first,
                stride,
                size,
            } => {
                // The answer of another host may contain any values.
                let member = first.saturating_add(place.saturating_mul(*stride));
                (place < *size).then_some(Rank(member))
            }
            Members::Listed(list) => list.get(place).copied(),
        }
    }

    /// Returns all of them.
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Returns those that are keys of a map, in their order, in time proportional to the map or the
    /// list.
    pub(crate) fn known_in<T>(&self, map: &BTreeMap<Rank, T>) -> Vec<Rank> {
        match self {
            Members::Row {
                first,
                stride,
                size,
            } => {
                let is_in = |rank: &Rank| match rank.0.checked_sub(*first) {
                    Some(0) => *size > 0,
                    Some(far) => *stride > 0 && far % stride == 0 && far / stride < *size,
                    None => false,
                };
                map.keys().copied().filter(is_in).collect()
            }
            Members::Listed(list) => {
                let is_in = |rank: &Rank| map.contains_key(rank);
                list.iter().copied().filter(is_in).collect()
            }
        }
    }
}

impl FromIterator<Rank> for Members {
    fn from_iter<I: IntoIterator<Item = Rank>>(ranks: I) -> Members {
        Members::Listed(ranks.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_members_of_its_list() {
        let map: BTreeMap<Rank, ()> = (0..40).step_by(3).map(|rank| (Rank(rank), ())).collect();
        for (first, stride, size) in [(0, 1, 8), (3, 4, 9), (6, 0, 1), (5, 2, 0)] {
            let row = Members::row(first, stride, size, 40).unwrap();
            let listed: Members = row.iter().collect();
            assert_eq!(row.len(), size);
            assert_eq!(listed.len(), size);
            assert_eq!(row.get(size), None);
            assert_eq!(row.known_in(&map), listed.known_in(&map), "{row:?}");
        }
    }

    #[test]
    fn a_row_beyond_the_job_is_not_known() {
        for (first, stride, size) in [
            (0, 1, 9),
            (8, 0, 1),
            (1, 7, 2),
            (u64::MAX, 1, 2),
            (1, u64::MAX, 3),
        ] {
            assert_eq!(Members::row(first, stride, size, 8), None);
        }
        assert!(Members::row(0, 1, 8, 8).is_some());
    }
}
