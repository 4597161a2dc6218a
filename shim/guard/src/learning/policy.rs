//! Every constant of learning between runs, with its unit.

use treepie_base::proof::Limits;

/// Seconds after which runs, counted traffic and judgements are forgotten.
pub const MAX_AGE_SECONDS: u64 = 60 * 86_400;

/// Seconds in the future beyond which a time is disregarded: a clock was wrong.
pub const MAX_AHEAD_SECONDS: u64 = 86_400;

/// Runs whose traffic is counted where none of them ends, at most.
pub(super) const MAX_OPEN_RUNS: usize = 3;

/// Runs after which traffic is counted again: programs get other input.
pub(super) const RECOUNT_RUNS: usize = 50;

/// Runs after which a candidate in use that is not proven is compared again.
pub(super) const RECOMPARE_LIKELY_RUNS: usize = 9;

/// Runs after which a candidate in use that is proven is compared again.
pub(super) const RECOMPARE_PROVEN_RUNS: usize = 19;

/// The smallest difference that counts, as a part of the time, and the pairs after which a
/// candidate that shows none is declined.
pub(super) const LIMITS: Limits = Limits {
    difference: 0.01,
    pairs: 20,
};

/// Pairs that count; older ones do not: machines change.
pub(super) const MAX_PAIRS: usize = 40;

/// The newest pairs, which by themselves may show that a proof does not hold any more.
pub(super) const NEWEST_PAIRS: usize = 12;

/// Ratio of times that is taken for a difference at first sight, where every run of one arm takes
/// as many times as long as every run of the other.
pub(super) const LARGE_RATIO: f64 = 1.25;

/// A candidate is declined where two runs of it, and all others, take longer than every run of the
/// other arm, and its median this many times as long. To decline one that is as good loses nothing.
pub(super) const BAD_RATIO: f64 = 1.1;

/// Runs of the other arm between the first run of a candidate, where that was bad, and the second,
/// at least and at most: where it was only disturbed, little is lost meanwhile, and otherwise
/// nothing.
pub(super) const SECOND_LOOK_RUNS: [usize; 2] = [9, 20];

/// The cost of a run of the slower arm, as a part of the time of the runs between two of them.
pub(super) const LOOKS_PART: f64 = 0.01;

/// The newest runs, by which a difference is seen at first sight.
pub(super) const NEWEST_RUNS: usize = 8;

/// A run that has not ended after this many times the usual seconds, and [`OVERDUE_SECONDS`], has
/// failed.
pub(super) const OVERDUE_RATIO: f64 = 3.0;

/// See [`OVERDUE_RATIO`].
pub(super) const OVERDUE_SECONDS: f64 = 60.0;

/// A candidate that costs no more than this part above a new one is kept, with its runs.
pub(super) const AS_GOOD_PART: f64 = 0.02;
