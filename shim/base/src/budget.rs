//! Memory limit of a file: proportional to its size, not to the numbers in it.
//!
//! A few bytes may name billions of hosts, ranks or cores. A reader of such a number draws from the
//! budget of the file before it allocates anything. The budget belongs to the thread, since
//! deserializers take no arguments; [`within`] opens it for one file.

use std::cell::Cell;

use thiserror::Error;

/// Bytes of memory that any file may take, even a short one.
const LEAST: u64 = 64 << 20;

/// Bytes of memory for each byte of a file.
const PER_BYTE: u64 = 32;

/// A number for which a file is too short.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{number} {what} would take more than the {} MiB of memory that a text of this size may; check \
     this number, and that the text is whole",
    limit >> 20
)]
pub struct OverBudget {
    number: usize,
    what: &'static str,
    limit: u64,
}

/// Remaining memory of the file that is being read.
#[derive(Debug, Clone, Copy)]
struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    const fn new(input: u64) -> Budget {
        let by_size = input.saturating_mul(PER_BYTE);
        let limit = if by_size > LEAST { by_size } else { LEAST };
        Budget { limit, left: limit }
    }
}

thread_local! {
    static OPEN: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// Guard that restores the previous budget, even if a reader panics.
struct Reopen(Option<Budget>);

impl Drop for Reopen {
    fn drop(&mut self) {
        OPEN.set(self.0);
    }
}

/// Reads a file of `input` bytes with its budget.
pub fn within<T>(input: usize, read: impl FnOnce() -> T) -> T {
    let _reopen = Reopen(OPEN.replace(Some(Budget::new(input as u64))));
    read()
}

/// Takes the memory of `number` items of `bytes` bytes each, called `what` in messages, from the
/// budget of the file that is being read. Values outside of files, such as arguments, have the
/// budget of the shortest file.
///
/// # Errors
/// More than is left.
pub fn draw(what: &'static str, number: usize, bytes: usize) -> Result<(), OverBudget> {
    let open = OPEN.get();
    let mut budget = open.unwrap_or(Budget::new(0));
    let taken = (number as u64).saturating_mul(bytes as u64);
    let Some(left) = budget.left.checked_sub(taken) else {
        return Err(OverBudget {
            number,
            what,
            limit: budget.limit,
        });
    };
    budget.left = left;
    if open.is_some() {
        OPEN.set(Some(budget));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEBIBYTE: usize = 1 << 20;

    #[test]
    fn a_file_takes_its_share_of_memory_and_no_more() {
        for (input, limit) in [(0, 64), (2 * MEBIBYTE, 64), (4 * MEBIBYTE, 128)] {
            within(input, || {
                for _ in 0..limit / 4 {
                    assert_eq!(draw("ranks", 4, MEBIBYTE), Ok(()), "{input}");
                }
                let error = draw("ranks", 1, 1).unwrap_err().to_string();
                let expected = format!(
                    "1 ranks would take more than the {limit} MiB of memory that a text of this \
                     size may; check this number, and that the text is whole"
                );
                assert_eq!(error, expected);
            });
        }
    }

    #[test]
    fn numbers_of_any_size_are_refused_and_cost_nothing() {
        assert!(draw("hosts", usize::MAX, usize::MAX).is_err());
        within(100, || {
            assert!(draw("hosts", usize::MAX, 1).is_err());
            assert!(draw("hosts", 64, MEBIBYTE).is_ok());
        });
    }

    #[test]
    fn a_file_in_a_file_has_a_budget_of_its_own() {
        within(0, || {
            assert!(draw("ranks", 60, MEBIBYTE).is_ok());
            within(0, || assert!(draw("ranks", 60, MEBIBYTE).is_ok()));
            assert!(draw("ranks", 4, MEBIBYTE).is_ok());
            assert!(draw("ranks", 1, MEBIBYTE).is_err());
        });
        // Outside of files, each text has its own budget.
        assert!(draw("ranks", 60, MEBIBYTE).is_ok() && draw("ranks", 60, MEBIBYTE).is_ok());
    }
}
