//! Constants of learning between runs, with their units.

use treepie_base::proof::Limits;

/// Seconds after which runs, counted traffic and judgements are forgotten.
pub const MAX_AGE_SECONDS: u64 = 60 * 86_400;

/// Seconds in the future beyond which a time is ignored: a clock was wrong.
pub const MAX_AHEAD_SECONDS: u64 = 86_400;

/// Maximum number of runs whose traffic is counted if none of them ends.
pub(super) const MAX_OPEN_RUNS: usize = 3;

/// Number of runs after which traffic is counted again: programs get other input.
pub(super) const RECOUNT_RUNS: usize = 50;

/// Number of runs after which a candidate in use that is not proven is compared again.
pub(super) const RECOMPARE_LIKELY_RUNS: usize = 9;

/// Number of runs after which a candidate in use that is proven is compared again.
pub(super) const RECOMPARE_PROVEN_RUNS: usize = 19;

/// Smallest difference that counts, as a fraction of the time, and the number of pairs after which
/// a candidate without one is declined.
pub(super) const LIMITS: Limits = Limits {
    difference: 0.01,
    pairs: 20,
};

/// Maximum number of pairs that count, the newest ones: machines change.
pub(super) const MAX_PAIRS: usize = 40;

/// Number of the newest pairs, which alone may show that a proof is no longer valid.
pub(super) const NEWEST_PAIRS: usize = 12;

/// Ratio of times that counts as a difference without a test, if every run of one arm takes this
/// many times as long as every run of the other.
pub(super) const LARGE_RATIO: f64 = 1.25;

/// A candidate is declined if two runs of it, and all others, take longer than every run of the
/// other arm, and its median is this many times as long. Declining an equally good one loses
/// nothing.
pub(super) const BAD_RATIO: f64 = 1.1;

/// Minimum and maximum number of runs of the other arm between the first run of a candidate, if
/// that was bad, and the second: if it was only disturbed, little is lost meanwhile, and otherwise
/// nothing.
pub(super) const SECOND_LOOK_RUNS: [usize; 2] = [9, 20];

/// Cost of a run of the slower arm, as a fraction of the time of the runs between two of them.
pub(super) const LOOKS_PART: f64 = 0.01;

/// Number of the newest runs, by which a difference is seen without a test.
pub(super) const NEWEST_RUNS: usize = 8;

/// Multiple of the usual seconds after which, with [`OVERDUE_SECONDS`] added, a run that has not
/// ended counts as failed.
pub(super) const OVERDUE_RATIO: f64 = 3.0;

/// See [`OVERDUE_RATIO`].
pub(super) const OVERDUE_SECONDS: f64 = 60.0;

/// Fraction of additional cost up to which an older candidate is kept instead of a new one, with
/// its runs.
pub(super) const AS_GOOD_PART: f64 = 0.02;
