//! How affinities are written.

use std::fmt::{self, Display};

/// The largest whole number up to which all are exact: 2^53.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether `value` is a whole number that every reader of integers takes.
pub(super) fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value <= LARGEST_EXACT
}

/// An affinity as it is written: read back, it is the same number.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(value) = *self;
        if is_whole(value) || (1e-4..1e15).contains(&value) {
            write!(formatter, "{value}")
        } else {
            write!(formatter, "{value:e}")
        }
    }
}
