//! Permutations of ranks, in `TREEPIE_PERMUTATION` and placements: the new rank of each of the
//! launcher's processes.

use thiserror::Error;

use crate::index::{List, Process, Rank, Slice};
use crate::list::{self, ListError};

/// Reason why a list of ranks is not a permutation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// The text is not a list of numbers.
    #[error(transparent)]
    List(#[from] ListError),
    /// The list is empty.
    #[error("the permutation is empty; write one new rank for each process, such as `2,0,1`")]
    Empty,
    /// A rank that is not below the number of ranks.
    #[error(
        "process {process} gets rank {rank}, but the {ranks} ranks are 0 to {}; use each of them once",
        ranks.saturating_sub(1)
    )]
    OutOfRange {
        /// Launcher's process.
        process: Process,
        /// Its invalid rank.
        rank: Rank,
        /// Number of ranks.
        ranks: usize,
    },
    /// One rank for two processes.
    #[error("rank {rank} is given to the processes {first} and {second}; use each rank once")]
    Twice {
        /// Duplicate rank.
        rank: Rank,
        /// First process that has it.
        first: Process,
        /// Second process.
        second: Process,
    },
    /// A permutation of another number of ranks than the job has.
    #[error("the permutation has {found} ranks and there are {ranks}; write one for {ranks} ranks")]
    OtherRanks {
        /// Length of the permutation.
        found: usize,
        /// Number of ranks.
        ranks: usize,
    },
}

/// Reason why a list has no inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InverseError<I, T> {
    /// A value that is not below the length of the list.
    OutOfRange {
        /// Its index.
        index: I,
        /// Invalid value.
        value: T,
    },
    /// A duplicate value.
    Twice {
        /// Duplicate value.
        value: T,
        /// Its first index.
        first: I,
        /// Its second index.
        second: I,
    },
}

/// Parses a permutation from text such as `2,0,1`; ranges are allowed, as in `4-7,0-3`.
///
/// # Errors
/// Text that is not a list of numbers, or numbers that are not a permutation.
pub fn parse(text: &str) -> Result<List<Process, Rank>, PermutationError> {
    let new_rank = list::parse(text)?.into_iter().map(Rank).collect();
    check(&new_rank)?;
    Ok(new_rank)
}

/// Checks that each of the ranks `0..new_rank.len()` occurs once.
///
/// # Errors
/// An empty list, a rank out of range, or a duplicate rank.
pub fn check(new_rank: &List<Process, Rank>) -> Result<(), PermutationError> {
    if new_rank.is_empty() {
        return Err(PermutationError::Empty);
    }
    inverse(new_rank).map(drop).map_err(|error| match error {
        InverseError::OutOfRange { index, value } => PermutationError::OutOfRange {
            process: index,
            rank: value,
            ranks: new_rank.len(),
        },
        InverseError::Twice {
            value,
            first,
            second,
        } => PermutationError::Twice {
            rank: value,
            first,
            second,
        },
    })
}

/// Checks that `new_rank` is a permutation of exactly `ranks` ranks.
///
/// # Errors
/// Another length, and everything that [`check`] rejects.
pub fn check_for(new_rank: &List<Process, Rank>, ranks: usize) -> Result<(), PermutationError> {
    if new_rank.len() != ranks {
        return Err(PermutationError::OtherRanks {
            found: new_rank.len(),
            ranks,
        });
    }
    check(new_rank)
}

/// Returns the index of each value of a list that has each number below its length once.
///
/// # Errors
/// A value that is out of range or a duplicate.
pub fn inverse<I, T>(list: &Slice<I, T>) -> Result<List<T, I>, InverseError<I, T>>
where
    I: Copy + From<usize>,
    T: Copy,
    usize: From<T>,
{
    let mut index_of: List<T, Option<I>> = vec![None; list.len()].into();
    for (index, &value) in list.iter_enumerated() {
        let holder = index_of
            .get_mut(value)
            .ok_or(InverseError::OutOfRange { index, value })?;
        if let Some(first) = holder.replace(index) {
            return Err(InverseError::Twice {
                value,
                first,
                second: index,
            });
        }
    }
    Ok(index_of.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn permutations_are_read() {
        assert_eq!(parse("2,0,1").unwrap().raw, [2, 0, 1].map(Rank));
        let exchanged = [4, 5, 6, 7, 0, 1, 2, 3].map(Rank);
        assert_eq!(parse("4-7,0-3").unwrap().raw, exchanged);
        assert_eq!(parse("0").unwrap().raw, [Rank(0)]);
    }

    #[test]
    fn the_inverse_leads_back() {
        let new_rank = parse("2,0,1,3").unwrap();
        let process_of_rank = inverse(&new_rank).unwrap();
        assert_eq!(process_of_rank.raw, [1, 2, 0, 3].map(Process));
        assert_eq!(inverse(&process_of_rank), Ok(new_rank));
    }

    #[test]
    fn what_is_no_permutation_says_why() {
        for (text, expected) in [
            (
                "",
                "the permutation is empty; write one new rank for each process, such as `2,0,1`",
            ),
            (
                "0,2,2",
                "rank 2 is given to the processes 1 and 2; use each rank once",
            ),
            (
                "0,1,3",
                "process 2 gets rank 3, but the 3 ranks are 0 to 2; use each of them once",
            ),
            (
                "1;0",
                "`1;0` is not a whole number or a range; write a list such as `0,4,8-11`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_permutation_of_another_number_of_ranks_is_refused() {
        assert_eq!(
            check_for(&[1, 0].into_iter().map(Rank).collect(), 3)
                .unwrap_err()
                .to_string(),
            "the permutation has 2 ranks and there are 3; write one for 3 ranks"
        );
    }
}
