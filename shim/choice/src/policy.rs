//! Thresholds of the choice.

/// Ratio to the native collective's time that a plan must reach to replace it: predictions of the
/// native one are less certain.
pub(crate) const MIN_GAIN_RATIO: f64 = 0.97;

/// Ratio that it must reach between near hosts of one cluster, where predictions are less certain.
/// On eight emulated hosts of two ranks, calls of 8 KiB and more were 1.3 to 1.4 times as
/// fast as with the MPI's own (`docs/figures/cluster.md`).
pub(crate) const MIN_GAIN_RATIO_BETWEEN_NEAR: f64 = 0.8;

/// Bytes of the message, or of a rank's block, below which no plan replaces the native collective
/// between near hosts by a prediction: what programs do between messages is not predicted.
pub(crate) const MIN_BYTES_BETWEEN_NEAR: u64 = 1 << 10;

/// Ratio above which two plans are equally fast: the first in the table, which is the simplest, is
/// taken.
pub(crate) const ALIKE: f64 = 0.995;

/// Maximum number of cached choices; a program that changes its root constantly has more.
pub(crate) const MOST_CHOICES: usize = 1024;

/// Maximum number of algorithms that are simulated before one of them is chosen.
pub(crate) const MOST_CONFIRMED: usize = 4;

/// Maximum number of near hosts among which trees are considered: estimates grow with the square of
/// their number. Among more, only algorithms whose ranks all send alike are.
pub(crate) const MOST_BY_TREE: usize = 64;

/// Maximum number of ranks of which a description is read with several sizes of segments: one
/// reading of thousands takes tens of milliseconds.
pub(crate) const MOST_READ_IN_SEGMENTS: usize = 1024;
