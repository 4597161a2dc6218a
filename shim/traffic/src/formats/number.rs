//! Text of affinities.

use std::fmt::{self, Display};

/// Whole numbers below this one, 2^53, are exact; this one may be the next larger
/// one, rounded.
pub(super) const TOO_LARGE: f64 = crate::matrix::TOO_LARGE as f64;

/// True if `value` is a whole number that every reader of integers accepts.
pub(super) fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value < TOO_LARGE
}

/// An affinity in its written form: reading it returns the same number.
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
