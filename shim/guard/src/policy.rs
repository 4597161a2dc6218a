//! Every constant of the guard, with its unit; those of the rule itself are in [`Policy`].
//!
//! If no source is named, a figure was found with the simulated ranks in `tests`: what a plan that
//! is quicker gains, what one that is slower costs, and how often equals are adopted.

/// Calls of a cell that are measured first, all by the native MPI.
pub const WARM_UP_CALLS: u64 = 8;

/// Calls of a cell before a candidate is tried in it.
pub(crate) const MIN_CALLS_TO_TRY: u64 = 100;

/// Candidates that are tried in a cell, at most.
pub const MAX_CANDIDATES: usize = 6;

/// Cells of a communicator, at most; calls of others are left to the native MPI.
pub(crate) const MAX_CELLS: usize = 1024;

/// Cells of the last calls, which are looked up first.
pub(crate) const RECENT_CELLS: usize = 8;

/// Durations of which a median is made: the last so many.
pub(crate) const MEDIAN_DURATIONS: usize = 32;

/// Epochs of a window that count as one call: programs often fill every second one only.
pub const EPOCHS_PER_CALL: u32 = 2;

/// Epochs that count as one call where no two calls of [`EPOCHS_PER_CALL`] did alike: whole rounds
/// of three, four or six epochs, and of others nearly as much work in each.
pub(crate) const EPOCHS_PER_LONG_CALL: u32 = 12;

/// Amounts of work that differ by no more than one part in so many of the larger one are
/// comparable.
pub(crate) const COMPARABLE_WORK_PART: u64 = 4;

/// The rule: when a pair is won, and when won pairs decide. Odds are those of a sequential test
/// that may be looked at after every pair ([`favour`](treepie_base::proof::Signs::favour)).
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Odds, to 1, that a candidate is quicker, for one that is adopted: 20 for each candidate of
    /// its cell, so that a cell errs as rarely with many as with one.
    pub adoption_odds: u32,
    /// Odds, to 1, at which a candidate has won single calls, and is tried in rows of calls.
    pub screening_odds: u32,
    /// Odds, to 1, that a candidate is not quicker, for one that is dropped early.
    pub drop_odds: u32,
    /// Odds, to 1, that the native MPI is quicker, for a plan in use that is taken back.
    pub revocation_odds: u32,
    /// A call is quicker than another only if it saves more than one part in so many of its time.
    pub min_gain_part: u64,
    /// Nanoseconds by which a call whose plan is adopted, and which therefore goes through the
    /// guard, takes longer than one that is left to the native MPI: 40 to 90 were measured. Both
    /// sides of a trial have them, so that a plan must save them, too.
    pub guard_overhead_ns: u64,
    /// Pairs after which a candidate that is neither adopted nor dropped is not worth more.
    pub max_judged_pairs: u32,
    /// Pairs after which it is not, whether or not their times are known.
    pub max_pairs: u32,
    /// Pairs after which it is not if the times of none are known.
    pub max_unknown_pairs: u32,
}

/// Odds, to 1, that a plan is quicker, for the only candidate of a cell.
const ODDS: u32 = 20;

impl Policy {
    /// The rule in a cell with so many candidates.
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

    /// Whether a call that saved `saved_ns` of a time of `native_ns` was quicker by enough.
    pub(crate) fn is_gain(&self, saved_ns: u64, native_ns: u64) -> bool {
        u128::from(saved_ns) * u128::from(self.min_gain_part) > u128::from(native_ns)
    }
}

// Trials, and what they may cost.

/// The best candidate of a cell must be predicted to take no more than this, in thousandths of the
/// native time, or none is tried.
pub(crate) const MAX_BEST_PER_MILLE: u32 = 900;

/// A candidate that is predicted to take more, in thousandths of the native time, is not tried.
pub(crate) const MAX_PER_MILLE: u32 = 2000;

/// Time that an untried candidate is expected to take, in thousandths of the native time: one that
/// takes less is as good as found.
pub(crate) const UNTRIED_PER_MILLE: u64 = 700;

/// Time that is expected of one that needs a set-up first, which the budget pays for, too.
pub(crate) const UNTRIED_SET_UP_PER_MILLE: u64 = 900;

/// The set-up of an algorithm of the native MPI, a communicator of its own, takes at least as long
/// as so many exchanges.
pub(crate) const SET_UP_EXCHANGES: u64 = 2;

/// Trying may cost one part in so many of a cell's time.
pub const BUDGET_PART: u64 = 100;

/// It may cost one part in so many of what plans have saved in all cells of the communicator.
pub const REINVESTED_PART: u64 = 10;

// Blocks of pairs.

/// Pairs of a block, at most.
pub(crate) const MAX_BLOCK_PAIRS: usize = 8;

/// The first pairs of a candidate, which are not judged: connections are made in them.
pub(crate) const UNJUDGED_PAIRS: u32 = 2;

/// Calls from one pair to the next in a trial: none between them.
pub(crate) const TRIAL_INTERVAL_CALLS: u64 = 2;

/// Calls from one pair to the next in a cell that starts with the plan of an earlier run.
pub(crate) const STORED_PLAN_INTERVAL_CALLS: u64 = 16;

/// Nanoseconds that the measured calls of an arm last at least, unless they are
/// [`MAX_CALLS_PER_ARM`]: a single call of less than a microsecond shows the time of a plan that is
/// not in the processor's caches.
pub(crate) const ARM_NS: u64 = 10_000;

/// Measured calls of an arm, at most.
pub(crate) const MAX_CALLS_PER_ARM: u64 = 16;

/// Calls of a row: as many as show what a program takes that calls again and again.
pub(crate) const CALLS_PER_ROW: u64 = 4;

// The watch over a plan in use.

/// Calls from one pair to the next, at least and at most.
pub(crate) const WATCH_INTERVAL_CALLS: [u64; 2] = [64, 1024];

/// Between these they are one part in so many of the calls so far: what a change costs until it is
/// seen is small beside what was before it.
pub(crate) const WATCH_INTERVAL_PART: u64 = 128;

/// Calls from the first pair of a block to the exchange about it.
pub(crate) const WATCH_BLOCK_CALLS: u64 = 256;

/// Calls from one pair to the next where the plan has just lost.
pub(crate) const DOUBT_INTERVAL_CALLS: u64 = 16;

/// Pairs where the plan has only become slower: it may be a load on the machine, under which the
/// native MPI takes longer too, and then pairs cost most.
pub(crate) const SLOWDOWN_PAIRS: usize = 1;

/// A plan has become slower where it takes this, in hundredths of its time when it was last
/// compared within the budget.
pub(crate) const SLOWDOWN_PER_CENT: u64 = 150;

/// Measurements of the plan alone in each interval between two pairs.
pub(crate) const SOLO_CALLS_PER_INTERVAL: u64 = 4;

/// Measurements of the plan alone by whose median it has become slower, at least.
pub(crate) const MIN_SOLO_CALLS: usize = MAX_BLOCK_PAIRS / 2;

/// Pairs that may take a plan back: the last so many, and the last half of them.
pub(crate) const RECENT_PAIRS: usize = 2 * MAX_BLOCK_PAIRS;

// Exchanges: what they hold. The least of all ranks is made of each number.

/// Numbers about the communicator: see `exchange`.
pub(crate) const HEADER_VALUES: usize = 6;

/// Numbers of a call: its shortest and its longest duration, and its longest period.
pub(crate) const CALL_VALUES: usize = 3;

/// Numbers of a block.
pub(crate) const BLOCK_VALUES: usize = MAX_BLOCK_PAIRS * 2 * CALL_VALUES;

/// Cells in an exchange, at most.
const CELLS_PER_EXCHANGE: usize = 4;

/// Numbers of an exchange.
pub(crate) const VALUES: usize = HEADER_VALUES + CELLS_PER_EXCHANGE * BLOCK_VALUES;

/// Numbers of an exchange about one persistent request.
pub const VALUES_OF_REQUEST: usize = HEADER_VALUES + BLOCK_VALUES;

// Exchanges: when they begin, and when their numbers are used.

/// Calls of a communicator between two exchanges, at least and at most.
pub(crate) const GAP_CALLS: [u64; 2] = [128, 4096];

/// The least gap where calls are long.
pub(crate) const MIN_LONG_CALL_GAP: u64 = 16;

/// Calls between two exchanges where a rank decides alone, at least and at most.
pub(crate) const SOLO_GAP_CALLS: [u64; 2] = [8, 32];

/// Nanoseconds of calls between two exchanges that are enough where fewer than the least gap take
/// as long.
pub(crate) const GAP_NS: u64 = 100_000_000;

/// An exchange comes after calls of so many times its own duration.
pub(crate) const EXCHANGE_PART: u64 = 200;

/// Calls until the second exchange where calls may overlap. All ranks wait for each other in both,
/// and only the second one shows the duration of the first: nothing is tried before.
pub(crate) const UNPRICED_GAP_CALLS: u64 = 1024;

/// Nanoseconds of calls that are enough for that: an exchange of 50 ms is one part in a hundred.
pub(crate) const UNPRICED_GAP_NS: u64 = 5_000_000_000;

/// Calls of a communicator from the start of an exchange until its numbers are used.
pub(crate) const LAG_CALLS: u64 = 8;

/// The most such calls where calls may overlap, since not all of them make ranks wait for all
/// others: fewer where calls are long, more where ranks were found to be further ahead of each
/// other.
pub(crate) const LONG_LAG_CALLS: u64 = 128;

/// Length of the lag where calls may overlap, in multiples of [`GAP_NS`], and its maximum where
/// ranks have waited in exchanges: one that passes data on is ahead of others by what the network's
/// buffers hold.
pub(crate) const LAG_GAPS: [u64; 2] = [5, 50];

/// Calls of the longest lag.
pub(crate) const MAX_LAG_CALLS: u64 = 4096;

// Persistent requests that begin with the results of earlier ones.

/// Cells of a communicator whose requests do so, at most.
pub(crate) const MAX_REQUEST_CELLS: usize = 1024;

/// The first requests of a cell, each of which but the very first costs an exchange.
pub(crate) const FIRST_REQUESTS: u64 = 8;
