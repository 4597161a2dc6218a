//! Permutations of ranks, as `TREEPIE_PERMUTATION` and placements hold them:
//! element `i` is the new rank of the launcher's process `i`.

use thiserror::Error;

use super::list::{self, ListError};

/// Reason why a list of ranks is no permutation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// The text is no list of numbers.
    #[error(transparent)]
    List(#[from] ListError),
    /// There is nothing in it.
    #[error("the permutation is empty; write one new rank for each process, such as `2,0,1`")]
    Empty,
    /// A rank that is not below the number of ranks.
    #[error(
        "process {process} gets rank {rank}, but the {ranks} ranks are 0 to {}; use each of them once",
        ranks.saturating_sub(1)
    )]
    OutOfRange {
        /// The launcher's process.
        process: usize,
        /// The rank that was to become its own.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// One rank for two processes.
    #[error("rank {rank} is given to the processes {first} and {second}; use each rank once")]
    Twice {
        /// The rank.
        rank: usize,
        /// The first process that has it.
        first: usize,
        /// The second one.
        second: usize,
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

/// A permutation from text such as `2,0,1`; ranges are allowed, as in `4-7,0-3`.
///
/// # Errors
/// Text that is no list of numbers, or numbers that are no permutation.
pub fn parse(text: &str) -> Result<Vec<usize>, PermutationError> {
    let new_rank = list::parse(text)?;
    check(&new_rank)?;
    Ok(new_rank)
}

/// Checks that each of the ranks `0..new_rank.len()` is there once.
///
/// # Errors
/// An empty list, a rank out of range, or one rank twice.
pub fn check(new_rank: &[usize]) -> Result<(), PermutationError> {
    let ranks = new_rank.len();
    if ranks == 0 {
        return Err(PermutationError::Empty);
    }
    let mut process_of: Vec<Option<usize>> = vec![None; ranks];
    for (process, &rank) in new_rank.iter().enumerate() {
        let Some(holder) = process_of.get_mut(rank) else {
            return Err(PermutationError::OutOfRange {
                process,
                rank,
                ranks,
            });
        };
        if let Some(first) = holder.replace(process) {
            return Err(PermutationError::Twice {
                rank,
                first,
                second: process,
            });
        }
    }
    Ok(())
}

/// Checks that `new_rank` is a permutation of exactly `ranks` ranks.
///
/// # Errors
/// Another length, and everything that [`check`] refuses.
pub fn check_for(new_rank: &[usize], ranks: usize) -> Result<(), PermutationError> {
    if new_rank.len() != ranks {
        return Err(PermutationError::OtherRanks {
            found: new_rank.len(),
            ranks,
        });
    }
    check(new_rank)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn permutations_are_read() {
        assert_eq!(parse("2,0,1").unwrap(), [2, 0, 1]);
        assert_eq!(parse("4-7,0-3").unwrap(), [4, 5, 6, 7, 0, 1, 2, 3]);
        assert_eq!(parse("0").unwrap(), [0]);
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
            check_for(&[1, 0], 3).unwrap_err().to_string(),
            "the permutation has 2 ranks and there are 3; write one for 3 ranks"
        );
    }
}
