//! Constants of the guard, with their units; those of the rule itself are in [`Policy`].
//!
//! Unless a source is named, a value was found with the simulated ranks in `tests`: by the gain of
//! faster plans, the cost of slower ones, and the frequency with which equal ones are adopted.

/// Number of calls of a cell that are measured first, all by the native MPI.
pub const WARM_UP_CALLS: u64 = 8;

/// Minimum number of calls of a cell before a candidate is tried in it.
pub(crate) const MIN_CALLS_TO_TRY: u64 = 100;

/// Maximum number of bytes of short messages, which share a cell: their times are those of
/// latencies, and programs that add up a growing number of values call each size too rarely for a
/// trial.
pub const MAX_SHORT_BYTES: u64 = 256;

/// Maximum number of candidates that are tried in a cell.
pub const MAX_CANDIDATES: usize = 6;

/// Maximum number of cells of a communicator; calls of others are left to the native MPI.
pub(crate) const MAX_CELLS: usize = 1024;

/// Number of cells of the last calls, which are looked up first.
pub(crate) const RECENT_CELLS: usize = 8;

/// Number of the last durations whose median is used.
pub(crate) const MEDIAN_DURATIONS: usize = 32;

/// Epochs of a window that count as one call: programs often fill only every second one.
pub const EPOCHS_PER_CALL: u32 = 2;

/// Epochs that count as one call if no two calls of [`EPOCHS_PER_CALL`] did similar work: complete
/// cycles of three, four or six epochs, and for others nearly equal work in each.
pub(crate) const EPOCHS_PER_LONG_CALL: u32 = 12;

/// Amounts of work that differ by at most one part in this many of the larger one are comparable.
pub(crate) const COMPARABLE_WORK_PART: u64 = 4;

/// Rule: conditions for a won pair, and for a decision by won pairs. Odds are those of a sequential
/// test that may be evaluated after every pair ([`favour`](treepie_base::proof::Signs::favour)).
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Odds, to 1, that a candidate is faster, for its adoption: 20 for each candidate of its cell,
    /// so that the error rate of a cell does not depend on their number.
    pub adoption_odds: u32,
    /// Odds, to 1, at which a candidate has won single calls, and is tried in rows of calls.
    pub screening_odds: u32,
    /// Odds, to 1, that a candidate is not faster, for one that is dropped early.
    pub drop_odds: u32,
    /// Odds, to 1, that the native MPI is faster, for a plan in use that is revoked.
    pub revocation_odds: u32,
    /// A call is faster than another only if it saves more than one part in this many of its time.
    pub min_gain_part: u64,
    /// Nanoseconds by which a call whose plan is adopted, and which therefore goes through the
    /// guard, takes longer than one that is left to the native MPI: 40 to 90 were measured. Both
    /// sides of a trial include them, so that a plan must save them, too.
    pub guard_overhead_ns: u64,
    /// Number of pairs after which trials of a candidate that is neither adopted nor dropped end.
    pub max_judged_pairs: u32,
    /// Number of pairs after which they end, with or without known times.
    pub max_pairs: u32,
    /// Number of pairs after which they end if all times are unknown.
    pub max_unknown_pairs: u32,
}

/// Odds, to 1, that a plan is faster, for the only candidate of a cell.
const ODDS: u32 = 20;

impl Policy {
    /// Returns the rule in a cell with `count` candidates.
    pub const fn for_candidates(count: u32) -> Policy {
        Policy {
            adoption_odds: ODDS * count,
            screening_odds: 5,
            drop_odds: 5,
            revocation_odds: ODDS,
            min_gain_part: 50,
            guard_overhead_ns: 60,
            max_judged_pairs: 64,
            max_pairs: 4 * 64,
            max_unknown_pairs: 32,
        }
    }

    /// True if a call that saved `saved_ns` of a time of `native_ns` was faster by enough.
    pub(crate) fn is_gain(&self, saved_ns: u64, native_ns: u64) -> bool {
        u128::from(saved_ns) * u128::from(self.min_gain_part) > u128::from(native_ns)
    }
}

// Trials, and their budget.

/// Maximum predicted time of the best candidate of a cell, in thousandths of the native time;
/// otherwise none is tried.
pub(crate) const MAX_BEST_PER_MILLE: u32 = 900;

/// Maximum predicted time of a candidate that is tried, in thousandths of the native time.
pub(crate) const MAX_PER_MILLE: u32 = 2000;

/// Expected time of an untried candidate, in thousandths of the native time: one that takes less is
/// preferred to it.
pub(crate) const UNTRIED_PER_MILLE: u64 = 700;

/// Expected time of one that needs a set-up first, which the budget covers, too.
pub(crate) const UNTRIED_SET_UP_PER_MILLE: u64 = 900;

/// Minimum duration of a set-up of an algorithm of the native MPI, which creates a communicator, as
/// a multiple of that of an exchange.
pub(crate) const SET_UP_EXCHANGES: u64 = 2;

/// Trials may cost one part in this many of a cell's time.
pub const BUDGET_PART: u64 = 100;

/// They may cost one part in this many of the savings of plans in all cells of the communicator.
pub const REINVESTED_PART: u64 = 10;

// Blocks of pairs.

/// Maximum number of pairs of a block.
pub(crate) const MAX_BLOCK_PAIRS: usize = 8;

/// Number of first pairs of a candidate that are not judged: connections are established in them.
pub(crate) const UNJUDGED_PAIRS: u32 = 2;

/// Number of calls from one pair to the next in a trial: none between them.
pub(crate) const TRIAL_INTERVAL_CALLS: u64 = 2;

/// Number of calls from one pair to the next in a cell that starts with the plan of an earlier run.
pub(crate) const STORED_PLAN_INTERVAL_CALLS: u64 = 16;

/// Minimum nanoseconds of the measured calls of an arm, unless they are [`MAX_CALLS_PER_ARM`]: a
/// single call of less than a microsecond shows the time of a plan that is not in the processor's
/// caches.
pub(crate) const ARM_NS: u64 = 10_000;

/// Maximum number of measured calls of an arm.
pub(crate) const MAX_CALLS_PER_ARM: u64 = 16;

/// Number of calls of a row: enough to show the time in a program that calls repeatedly.
pub(crate) const CALLS_PER_ROW: u64 = 4;

// Watch over a plan in use.

/// Minimum and maximum number of calls from one pair to the next.
pub(crate) const WATCH_INTERVAL_CALLS: [u64; 2] = [64, 1024];

/// Between these limits, it is one part in this many of the calls so far: the cost of a change
/// until it is detected is small compared with the time before it.
pub(crate) const WATCH_INTERVAL_PART: u64 = 128;

/// Number of calls from the first pair of a block to the exchange about it.
pub(crate) const WATCH_BLOCK_CALLS: u64 = 256;

/// Number of calls from one pair to the next after the plan has just lost.
pub(crate) const DOUBT_INTERVAL_CALLS: u64 = 16;

/// Number of pairs if the plan has only become slower: a load on the machine may be the reason,
/// under which the native MPI takes longer too, and then pairs cost most.
pub(crate) const SLOWDOWN_PAIRS: usize = 1;

/// Time, in hundredths of the plan's time at its last comparison within the budget, above which it
/// has become slower.
pub(crate) const SLOWDOWN_PER_CENT: u64 = 150;

/// Number of measurements of the plan alone in each interval between two pairs.
pub(crate) const SOLO_CALLS_PER_INTERVAL: u64 = 4;

/// Minimum number of measurements of the plan alone for a median that shows that it has become
/// slower.
pub(crate) const MIN_SOLO_CALLS: usize = MAX_BLOCK_PAIRS / 2;

/// Number of last pairs that may revoke a plan, together or by their last half.
pub(crate) const RECENT_PAIRS: usize = 2 * MAX_BLOCK_PAIRS;

// Exchanges: their contents. The minimum of each number over all ranks is computed.

/// Number of values about the communicator: see `exchange`.
pub(crate) const HEADER_VALUES: usize = 6;

/// Number of values of a call: its shortest and its longest duration, and its longest period.
pub(crate) const CALL_VALUES: usize = 3;

/// Number of values of a block.
pub(crate) const BLOCK_VALUES: usize = MAX_BLOCK_PAIRS * 2 * CALL_VALUES;

/// Maximum number of cells in an exchange.
const CELLS_PER_EXCHANGE: usize = 4;

/// Number of values of an exchange.
pub(crate) const VALUES: usize = HEADER_VALUES + CELLS_PER_EXCHANGE * BLOCK_VALUES;

/// Number of values of an exchange about one persistent request.
pub const VALUES_OF_REQUEST: usize = HEADER_VALUES + BLOCK_VALUES;

// Exchanges: the calls at which they begin, and at which their numbers are used.

/// Minimum and maximum number of calls of a communicator between two exchanges.
pub(crate) const GAP_CALLS: [u64; 2] = [128, 4096];

/// Minimum gap if calls are long.
pub(crate) const MIN_LONG_CALL_GAP: u64 = 16;

/// Minimum and maximum number of calls between two exchanges if a rank decides alone.
pub(crate) const SOLO_GAP_CALLS: [u64; 2] = [8, 32];

/// Nanoseconds of calls that suffice between two exchanges, if fewer calls than the minimum gap
/// take as long.
pub(crate) const GAP_NS: u64 = 100_000_000;

/// Minimum time of the calls before an exchange, as a multiple of its duration.
pub(crate) const EXCHANGE_PART: u64 = 200;

/// Number of calls until the second exchange if calls may overlap. All ranks wait for each other in
/// both, and only the second one shows the duration of the first: no candidate is tried before.
pub(crate) const UNPRICED_GAP_CALLS: u64 = 1024;

/// Nanoseconds of calls that suffice for that: an exchange of 50 ms is one hundredth of them.
pub(crate) const UNPRICED_GAP_NS: u64 = 5_000_000_000;

/// Number of calls of a communicator from the start of an exchange until its numbers are used.
pub(crate) const LAG_CALLS: u64 = 8;

/// Maximum of such calls if calls may overlap, since not all of them make ranks wait for all
/// others: fewer if calls are long, more if ranks were found to be further ahead of each other.
pub(crate) const LONG_LAG_CALLS: u64 = 128;

/// Length of the lag if calls may overlap, in multiples of [`GAP_NS`], and its maximum if ranks
/// have waited in exchanges: a rank that forwards data is ahead of others by the contents of the
/// network's buffers.
pub(crate) const LAG_GAPS: [u64; 2] = [5, 50];

/// Number of calls of the longest lag.
pub(crate) const MAX_LAG_CALLS: u64 = 4096;

// Persistent requests that begin with the results of earlier ones.

/// Maximum number of cells of a communicator whose requests do so.
pub(crate) const MAX_REQUEST_CELLS: usize = 1024;

/// Number of first requests of a cell, each of which, except the very first, costs an exchange.
pub(crate) const FIRST_REQUESTS: u64 = 8;
