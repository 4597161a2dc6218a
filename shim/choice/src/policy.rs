//! Thresholds of the choice.

/// Ratio to the native collective's time that a plan must reach to replace it: predictions of the
/// native one are less certain.
pub(crate) const MIN_GAIN_RATIO: f64 = 0.97;

/// Ratio above which two plans are equally fast: the first in the table, which is the simplest, is
/// taken.
pub(crate) const ALIKE: f64 = 0.995;

/// Maximum number of cached choices; a program that changes its root constantly has more.
pub(crate) const MOST_CHOICES: usize = 1024;
