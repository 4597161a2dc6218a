//! Counts between pairs of ranks, and the metrics derived from them.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::from_name;

use super::matrix::TOO_LARGE;
use crate::matrix::{Matrix, MatrixError};

/// Traffic from one rank to another. Sums saturate at the largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of messages.
    pub messages: u64,
    /// Number of bytes of all messages.
    pub bytes: u64,
}

impl Traffic {
    /// `messages` messages with `bytes` bytes in total.
    pub const fn new(messages: u64, bytes: u64) -> Self {
        Traffic { messages, bytes }
    }

    /// True if nothing was sent, not even an empty message.
    pub const fn is_none(&self) -> bool {
        self.messages == 0 && self.bytes == 0
    }
}

impl Add for Traffic {
    type Output = Traffic;

    fn add(self, other: Traffic) -> Traffic {
        Traffic {
            messages: self.messages.saturating_add(other.messages),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Traffic {
    fn sum<I: Iterator<Item = Traffic>>(all: I) -> Traffic {
        all.fold(Traffic::default(), Add::add)
    }
}

/// Number that represents the affinity of a pair (TreeMatch thesis, 2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Metric {
    /// `msg`: the number of messages.
    #[strum(serialize = "msg")]
    Messages,
    /// `size`: the number of bytes.
    Size,
    /// `avg`: bytes per message, `size / msg`.
    #[strum(serialize = "avg")]
    Average,
}

impl Metric {
    /// All metrics.
    pub const ALL: &'static [Metric] = Self::VARIANTS;

    /// The affinity of `traffic`: messages, bytes, or bytes per message; zero if nothing was sent.
    pub fn value(self, traffic: Traffic) -> f64 {
        match self {
            Metric::Messages => traffic.messages as f64,
            Metric::Size => traffic.bytes as f64,
            Metric::Average if traffic.messages == 0 => 0.0,
            Metric::Average => traffic.bytes as f64 / traffic.messages as f64,
        }
    }
}

from_name!(Metric, "metric");

/// The traffic between all ordered pairs of ranks: `get(i, j)` is the traffic from `i` to `j`, and
/// `get(i, i)` that of `i` to itself. Memory grows with the number of pairs that communicated;
/// adding takes a search among the partners of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrafficMatrix {
    order: usize,
    /// For each sender up to the last with traffic, its receivers by increasing rank; pairs without
    /// traffic are not stored.
    rows: Vec<BTreeMap<u32, Traffic>>,
}

impl TrafficMatrix {
    /// Creates a matrix of `order` ranks without traffic.
    pub fn new(order: usize) -> Self {
        TrafficMatrix {
            order,
            rows: Vec::new(),
        }
    }

    /// Builds a matrix from entries `(from, to, traffic)` in any order; entries of the same pair
    /// add up.
    ///
    /// # Errors
    /// [`MatrixError::OutOfRange`] for an entry outside `order`.
    pub fn from_entries(
        order: usize,
        entries: impl IntoIterator<Item = (usize, usize, Traffic)>,
    ) -> Result<Self, MatrixError> {
        let mut matrix = TrafficMatrix::new(order);
        // Receivers of one rank in ascending order, as listed in files.
        let (mut sender, mut run) = (0, Vec::new());
        for (from, to, traffic) in entries {
            matrix.require(from, to)?;
            if traffic.is_none() {
                continue;
            }
            let to = to as u32;
            if from != sender || run.last().is_some_and(|&(last, _)| last >= to) {
                matrix.add_run(sender, &mut run);
                sender = from;
            }
            run.push((to, traffic));
        }
        matrix.add_run(sender, &mut run);
        Ok(matrix)
    }

    /// Adds the traffic of a rank to receivers in ascending order, and empties the list: a new row
    /// is built in one step.
    fn add_run(&mut self, from: usize, run: &mut Vec<(u32, Traffic)>) {
        if run.is_empty() {
            return;
        }
        let row = self.row_mut(from);
        if row.is_empty() {
            *row = run.drain(..).collect();
            return;
        }
        for (to, traffic) in run.drain(..) {
            *row.entry(to).or_default() += traffic;
        }
    }

    /// Adds traffic from `from` to `to`. A pair outside the matrix is an error of the caller: it
    /// stops a debug build, and is ignored otherwise. If the ranks come from outside,
    /// `TrafficMatrix::try_add` reports the error.
    pub fn add(&mut self, from: usize, to: usize, traffic: Traffic) {
        let added = self.try_add(from, to, traffic);
        debug_assert!(added.is_ok(), "{added:?}");
    }

    /// Adds traffic from `from` to `to`, if both are ranks of this matrix.
    ///
    /// # Errors
    /// [`MatrixError::OutOfRange`] if one of them is not.
    pub(crate) fn try_add(
        &mut self,
        from: usize,
        to: usize,
        traffic: Traffic,
    ) -> Result<(), MatrixError> {
        self.require(from, to)?;
        if !traffic.is_none() {
            *self.row_mut(from).entry(to as u32).or_default() += traffic;
        }
        Ok(())
    }

    /// The row of a rank of this matrix, to which traffic is about to be added.
    fn row_mut(&mut self, from: usize) -> &mut BTreeMap<u32, Traffic> {
        if self.rows.len() <= from {
            self.rows.resize_with(from + 1, BTreeMap::new);
        }
        &mut self.rows[from]
    }

    fn require(&self, from: usize, to: usize) -> Result<(), MatrixError> {
        let order = self.order();
        if from >= order || to >= order {
            return Err(MatrixError::OutOfRange {
                row: from,
                column: to,
                order,
            });
        }
        Ok(())
    }

    /// Adds all traffic of `other`, rank by rank.
    ///
    /// # Errors
    /// [`MatrixError::OutOfRange`] if `other` has traffic of ranks that this matrix does not have;
    /// preceding entries have then been added.
    pub fn merge(&mut self, other: &TrafficMatrix) -> Result<(), MatrixError> {
        if self.order() == other.order() && self.rows.is_empty() {
            self.clone_from(other);
            return Ok(());
        }
        other
            .entries()
            .try_for_each(|(from, to, traffic)| self.try_add(from, to, traffic))
    }

    /// Number of ranks.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Number of ordered pairs that communicated.
    pub fn non_zeros(&self) -> usize {
        self.rows.iter().map(BTreeMap::len).sum()
    }

    /// Traffic from `from` to `to`; none outside the matrix.
    pub fn get(&self, from: usize, to: usize) -> Traffic {
        let Ok(column) = u32::try_from(to) else {
            return Traffic::default();
        };
        self.rows
            .get(from)
            .and_then(|row| row.get(&column))
            .copied()
            .unwrap_or_default()
    }

    /// All pairs that communicated, `(from, to, traffic)`, by sender, then by receiver.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, Traffic)> + '_ {
        self.rows.iter().enumerate().flat_map(|(from, row)| {
            row.iter()
                .map(move |(&to, &traffic)| (from, to as usize, traffic))
        })
    }

    /// Sum of all traffic, including that of ranks with themselves.
    pub fn total(&self) -> Traffic {
        self.entries().map(|(_, _, traffic)| traffic).sum()
    }

    /// Renumbers the ranks: rank `i` of this matrix is rank `new_rank[i]` of the result, like
    /// [`Matrix::renumbered`].
    ///
    /// # Errors
    /// [`MatrixError::OutOfRange`] if `new_rank` leaves the matrix.
    pub fn renumbered(&self, new_rank: &[usize]) -> Result<TrafficMatrix, MatrixError> {
        let order = self.order();
        let name = |rank: usize| new_rank.get(rank).copied().unwrap_or(order);
        TrafficMatrix::from_entries(
            order,
            self.entries()
                .map(|(from, to, traffic)| (name(from), name(to), traffic)),
        )
    }

    /// Like [`TrafficMatrix::affinity`], without rounding.
    ///
    /// # Errors
    /// [`MatrixError::Inexact`] for a count of 2^53 or more.
    pub fn exact_affinity(&self, metric: Metric) -> Result<Matrix, MatrixError> {
        let largest = |traffic: Traffic| match metric {
            Metric::Messages => traffic.messages,
            Metric::Size => traffic.bytes,
            Metric::Average => traffic.messages.max(traffic.bytes),
        };
        let found = self
            .entries()
            .map(|(from, to, traffic)| (from, to, largest(traffic)))
            .find(|&(.., count)| count >= TOO_LARGE);
        match found {
            None => Ok(self.affinity(metric)),
            Some((row, column, count)) => Err(MatrixError::Inexact { row, column, count }),
        }
    }

    /// The affinity matrix of one metric: messages, bytes, or bytes per message; counts of 2^53 and
    /// more are rounded.
    pub fn affinity(&self, metric: Metric) -> Matrix {
        let entries = self
            .entries()
            .map(|(from, to, traffic)| (from, to, metric.value(traffic)));
        Matrix::from_entries(self.order(), entries)
            .expect("pairs are in range, and a ratio of counts is finite and not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::{entries, permutations, traffic, traffic_matrices};
    use proptest::prelude::*;

    #[test]
    fn every_metric_is_read_back_from_its_name() {
        for &metric in Metric::ALL {
            assert_eq!(metric.to_string().parse(), Ok(metric));
        }
        assert_eq!(
            "bytes".parse::<Metric>().unwrap_err().to_string(),
            "no metric is called `bytes`: write one of msg, size, avg"
        );
    }

    #[test]
    fn metrics_are_messages_bytes_and_bytes_a_message() {
        let sent = TrafficMatrix::from_entries(
            3,
            [(0, 1, Traffic::new(4, 100)), (2, 0, Traffic::new(3, 0))],
        )
        .unwrap();
        let at = |metric, from, to| sent.affinity(metric).get(from, to);
        assert_eq!(
            [Metric::Messages, Metric::Size, Metric::Average].map(|metric| at(metric, 0, 1)),
            [4.0, 100.0, 25.0]
        );
        assert_eq!(
            [Metric::Messages, Metric::Size, Metric::Average].map(|metric| at(metric, 2, 0)),
            [3.0, 0.0, 0.0]
        );
        assert_eq!(
            [Metric::Messages, Metric::Size, Metric::Average].map(|metric| at(metric, 1, 2)),
            [0.0, 0.0, 0.0]
        );
    }

    #[test]
    fn counts_that_would_be_rounded_make_no_exact_matrix() {
        let large = (1 << 53) - 1;
        let entries = [
            (0, 1, Traffic::new(large, 8)),
            (1, 0, Traffic::new(1, large + 1)),
        ];
        let sent = TrafficMatrix::from_entries(2, entries).unwrap();
        assert_eq!(
            sent.exact_affinity(Metric::Messages),
            Ok(sent.affinity(Metric::Messages))
        );
        for metric in [Metric::Size, Metric::Average] {
            assert_eq!(
                sent.exact_affinity(metric).unwrap_err().to_string(),
                "rank 1 sends 9007199254740992 to rank 0, but counts from 2^53 on cannot be exact \
                 in a matrix: no job sends that much, take the profile again"
            );
        }
    }

    #[test]
    fn the_average_is_zero_where_bytes_came_without_a_message() {
        assert_eq!(Metric::Average.value(Traffic::new(0, 5)), 0.0);
    }

    #[test]
    fn sums_stop_at_the_largest_number() {
        let most = Traffic::new(u64::MAX, u64::MAX - 1);
        assert_eq!(most + Traffic::new(1, 5), Traffic::new(u64::MAX, u64::MAX));
        let mut matrix = TrafficMatrix::new(2);
        matrix.add(0, 1, most);
        matrix.add(0, 1, most);
        matrix.add(1, 0, most);
        assert_eq!(matrix.total(), Traffic::new(u64::MAX, u64::MAX));
    }

    #[test]
    fn traffic_of_ranks_outside_the_matrix_is_refused() {
        let mut matrix = TrafficMatrix::new(2);
        for (from, to) in [(2, 0), (0, 2), (usize::MAX, 1 << 32)] {
            assert!(matches!(
                matrix.try_add(from, to, Traffic::new(1, 1)),
                Err(MatrixError::OutOfRange { order: 2, .. })
            ));
        }
        assert_eq!(matrix, TrafficMatrix::new(2));
        assert_eq!(matrix.get(0, 1 << 32), Traffic::default());
        let other = TrafficMatrix::from_entries(3, [(0, 2, Traffic::new(1, 1))]).unwrap();
        assert!(matrix.merge(&other).is_err());
    }

    #[test]
    fn entries_in_any_order_make_the_same_matrix() {
        let one = |from, to, messages| (from, to, Traffic::new(messages, 0));
        let sorted = [one(0, 1, 3), one(0, 2, 1), one(2, 0, 4), one(2, 1, 5)];
        let mixed = [
            one(2, 1, 2),
            one(0, 2, 1),
            one(0, 1, 1),
            one(0, 1, 2),
            one(2, 0, 4),
            one(2, 1, 3),
        ];
        let of = |entries: &[_]| TrafficMatrix::from_entries(3, entries.iter().copied()).unwrap();
        assert_eq!(of(&mixed), of(&sorted));
        assert_eq!(of(&sorted).entries().collect::<Vec<_>>(), sorted);
        assert!(TrafficMatrix::from_entries(0, []).unwrap().rows.is_empty());
    }

    #[test]
    fn pairs_that_sent_nothing_take_no_memory() {
        let mut matrix = TrafficMatrix::new(2);
        matrix.add(0, 1, Traffic::default());
        assert_eq!(matrix.non_zeros(), 0);
        matrix.add(0, 1, Traffic::new(1, 0));
        assert_eq!(matrix.non_zeros(), 1, "an empty message was sent");
    }

    proptest! {
        #[test]
        fn adding_in_any_order_gives_the_same_matrix((order, entries) in entries(10, traffic())) {
            let forwards = TrafficMatrix::from_entries(order, entries.clone()).unwrap();
            let backwards = TrafficMatrix::from_entries(order, entries.into_iter().rev()).unwrap();
            prop_assert!(forwards.entries().is_sorted_by_key(|entry| (entry.0, entry.1)));
            prop_assert_eq!(forwards, backwards);
        }

        #[test]
        fn merging_adds_pair_by_pair(first in traffic_matrices(8), second in traffic_matrices(8)) {
            let order = first.order().max(second.order());
            let mut both = TrafficMatrix::new(order);
            both.merge(&first).unwrap();
            both.merge(&second).unwrap();
            for from in 0..order {
                for to in 0..order {
                    prop_assert_eq!(both.get(from, to), first.get(from, to) + second.get(from, to));
                }
            }
        }

        #[test]
        fn renumbering_moves_traffic_as_it_moves_its_affinity(
            (matrix, new_rank) in traffic_matrices(10)
                .prop_flat_map(|matrix| (Just(matrix.clone()), permutations(matrix.order())))
        ) {
            let renumbered = matrix.renumbered(&new_rank).unwrap();
            for &metric in Metric::ALL {
                prop_assert_eq!(
                    renumbered.affinity(metric),
                    matrix.affinity(metric).renumbered(&new_rank).unwrap()
                );
            }
        }
    }
}
