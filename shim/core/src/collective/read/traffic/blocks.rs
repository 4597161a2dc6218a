//! The sizes of the blocks that a collective moves, one for each rank.

/// Blocks in a row, and how many bytes are in any stretch of them. Bytes are
/// those of all calls of a record together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blocks {
    /// `count` blocks of `bytes` bytes each.
    Equal { count: usize, bytes: u64 },
    /// One message of `bytes` bytes cut into `count` parts as equal as can be.
    Parts { count: usize, bytes: u64 },
    /// Blocks of any size: bytes before each of them, and before the end.
    Listed(Vec<u128>),
}

impl Blocks {
    pub(super) fn listed(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut before = 0;
        let ends = sizes.into_iter().map(|bytes| {
            before += u128::from(bytes);
            before
        });
        Blocks::Listed(std::iter::once(0).chain(ends).collect())
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Blocks::Equal { count, .. } | Blocks::Parts { count, .. } => *count,
            Blocks::Listed(before) => before.len() - 1,
        }
    }

    /// Bytes in all blocks before block `index`.
    fn before(&self, index: usize) -> u128 {
        match self {
            Blocks::Equal { bytes, .. } => u128::from(*bytes) * index as u128,
            Blocks::Parts { count, bytes } => u128::from(*bytes) * index as u128 / *count as u128,
            Blocks::Listed(before) => before[index],
        }
    }

    /// Bytes in the blocks `first..end`, the largest number if there are more.
    pub(super) fn range(&self, first: usize, end: usize) -> u64 {
        u64::try_from(self.before(end) - self.before(first)).unwrap_or(u64::MAX)
    }

    /// Bytes in all blocks.
    pub(super) fn all(&self) -> u64 {
        self.range(0, self.count())
    }

    /// Bytes in block `index`.
    pub(super) fn one(&self, index: usize) -> u64 {
        self.range(index, index + 1)
    }

    /// Bytes in the `length` blocks from block `first` on, where the first block
    /// follows the last one.
    pub(super) fn around(&self, first: usize, length: usize) -> u64 {
        let (count, first) = (self.count(), first % self.count());
        match (first + length).checked_sub(count) {
            Some(over) if over > 0 => self.range(first, count).saturating_add(self.range(0, over)),
            _ => self.range(first, first + length),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::collective::read::traffic::blocks::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_of_a_message_are_nearly_equal_and_add_up_to_it(count in 1usize..40, bytes: u64) {
            let parts = Blocks::Parts { count, bytes };
            prop_assert_eq!(parts.around(count / 2, count), bytes);
            for index in 0..count {
                let part = parts.one(index);
                prop_assert!(part == bytes / count as u64 || part == bytes / count as u64 + 1);
            }
        }

        #[test]
        fn listed_blocks_know_their_sizes(sizes in prop::collection::vec(0u64..1000, 1..20)) {
            let blocks = Blocks::listed(sizes.iter().copied());
            prop_assert_eq!(blocks.count(), sizes.len());
            for (index, &bytes) in sizes.iter().enumerate() {
                prop_assert_eq!(blocks.one(index), bytes);
                let rest = sizes.iter().sum::<u64>() - bytes;
                prop_assert_eq!(blocks.around(index + 1, sizes.len() - 1), rest);
            }
        }
    }

    #[test]
    fn a_stretch_of_too_many_bytes_is_the_largest_number() {
        let blocks = Blocks::Equal {
            count: 3,
            bytes: u64::MAX,
        };
        assert_eq!(blocks.range(0, 3), u64::MAX);
        assert_eq!(blocks.around(2, 2), u64::MAX);
    }
}
