//! Typed numbers, and vectors that accept only one type of index: a vector of ranks cannot be
//! indexed by a process.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Vector with an index of type `I`, as in `List<Rank, Leaf>`.
pub type List<I, T> = typed_index_collections::TiVec<I, T>;

/// Slice of a [`List`].
pub type Slice<I, T> = typed_index_collections::TiSlice<I, T>;

macro_rules! indexes {
    ($($(#[$documentation:meta])* $name:ident)+) => { $(
        $(#[$documentation])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub usize);

        impl $name {
            /// Returns a list of items with these numbers.
            pub fn list<I>(numbers: impl IntoIterator<Item = usize>) -> List<I, Self> {
                numbers.into_iter().map($name).collect()
            }
        }

        impl From<usize> for $name {
            fn from(number: usize) -> Self {
                $name(number)
            }
        }

        impl From<$name> for usize {
            fn from(index: $name) -> usize {
                index.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )+ };
}

indexes! {
    /// Rank: number of a process in the application's world.
    Rank
    /// Number of a process in the launcher's world.
    Process
    /// Leaf of a topology, from the left.
    Leaf
    /// Slot of a leaf, which takes one rank.
    Slot
    /// Cluster of a platform, or of a communicator, in its order.
    Cluster
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_written_and_read_as_their_numbers() {
        let leaf_of_rank: List<Rank, Leaf> = Leaf::list([3, 1]);
        assert_eq!(leaf_of_rank[Rank(1)], Leaf(1));
        let text = serde_yaml::to_string(&leaf_of_rank).unwrap();
        assert_eq!(text, "- 3\n- 1\n");
        let read: List<Rank, Leaf> = serde_yaml::from_str(&text).unwrap();
        assert_eq!(read, leaf_of_rank);
        assert_eq!(format!("rank {:>3}", Rank(7)), "rank   7");
    }
}
