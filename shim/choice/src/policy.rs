//! Thresholds of the choice.

/// Ratio to the native collective's time that a plan must reach to replace it: predictions of the
/// native one are less certain.
pub(crate) const MIN_GAIN_RATIO: f64 = 0.97;

/// Ratio that it must reach between near hosts of one cluster, where predictions are less certain.
/// On eight hosts of two ranks with links of 0.1 ms and 1 Gbit/s, plans that were predicted to gain
/// this much took 0.75 to 0.8 of the time of Open MPI's and MPICH's own (geometric means).
pub(crate) const MIN_GAIN_RATIO_BETWEEN_NEAR: f64 = 0.8;

/// Bytes of the message, or of a rank's block, below which no plan is predicted to gain between
/// near hosts: there, plans for 8 bytes took 0.9 to 1.4 of the time of the MPI's own.
pub(crate) const LEAST_BETWEEN_NEAR: u64 = 1 << 10;

/// Ratio above which two plans are equally fast: the first in the table, which is the simplest, is
/// taken.
pub(crate) const ALIKE: f64 = 0.995;

/// Maximum number of cached choices; a program that changes its root constantly has more.
pub(crate) const MOST_CHOICES: usize = 1024;

/// Maximum number of algorithms that are priced again by their descriptions in a choice.
pub(crate) const MOST_CONFIRMED: usize = 4;
