//! Thresholds of the choice.

/// A plan must be this much quicker than the native collective to take its place:
/// the native one is known less well.
pub(crate) const MIN_GAIN_RATIO: f64 = 0.97;

/// Of plans that differ by less, the first in the table, which is the simplest, is taken.
pub(crate) const ALIKE: f64 = 0.995;

/// At most this many choices are remembered; a program that changes its root all the time has more.
pub(crate) const MOST_CHOICES: usize = 1024;
