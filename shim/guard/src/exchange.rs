//! Exchanges between the ranks of a communicator: the numbers whose minimum over all ranks is
//! computed, and the state of exchanges.

use crate::ledger::CallsBetweenExchanges;
use crate::policy::HEADER_VALUES;
use crate::schedule::Schedule;

/// Action of a rank before its next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Begin an exchange: call [`undecided`](crate::Guard::undecided) until it returns `None`, then
    /// [`begin`](crate::Guard::begin).
    Begin,
    /// Wait for the exchange that was begun, and [`complete`](crate::Guard::complete) it.
    Complete,
}

/// Returns a rank's numbers about the communicator: the hash of all calls and its complement, 1 if
/// no call failed, the nanoseconds of the last exchange and their negative, and those since it
/// began.
pub(crate) fn header(
    history: u64,
    has_failed: bool,
    cost: u64,
    since: u64,
) -> [i64; HEADER_VALUES] {
    let whole = |nanoseconds: u64| i64::try_from(nanoseconds).unwrap_or(i64::MAX);
    let (hash, cost) = (history as i64, whole(cost));
    [
        hash,
        !hash,
        i64::from(!has_failed),
        cost,
        -cost,
        whole(since),
    ]
}

/// Header, from the minimum of all ranks' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgreedHeader {
    /// True if all ranks made the same calls.
    pub is_same: bool,
    /// True if a call failed on some rank.
    pub has_failed: bool,
    /// Nanoseconds of the previous exchange on the rank that waited least, and on the one that
    /// waited most.
    pub costs: [u64; 2],
    /// Nanoseconds since that exchange began.
    pub since: u64,
}

impl AgreedHeader {
    /// Decodes the minimum of all ranks' numbers; `None` if these are too few.
    pub fn from_least(least: &[i64]) -> Option<Self> {
        let whole = |value: i64| u64::try_from(value).unwrap_or(0);
        let &[hash, complement, is_well, cost, negative, since] = least else {
            return None;
        };
        Some(AgreedHeader {
            is_same: hash == !complement,
            has_failed: is_well == 0,
            costs: [whole(cost), whole(negative.saturating_neg())],
            since: whole(since),
        })
    }
}

/// Exchange that was begun.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// Number of calls of the communicator before it.
    pub at: u64,
    /// Number of calls from there until its numbers are used.
    pub lag: u64,
    /// Cells whose numbers it contains.
    pub cells: Vec<usize>,
    /// Number of calls since the previous exchange.
    pub since: u64,
}

/// Last exchange that was begun, or the first call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Milestone {
    /// Number of calls before it.
    pub calls: u64,
    /// Its time in nanoseconds.
    pub time: u64,
}

/// Exchanges of a communicator.
#[derive(Debug, Clone)]
pub(crate) struct Exchanges {
    pub schedule: Schedule,
    pub begun: Option<Begun>,
    pub last: Option<Milestone>,
    /// First cell in cyclic order for the next one.
    pub turn: usize,
    /// Nanoseconds of the last one on this rank.
    pub cost: u64,
    pub between: CallsBetweenExchanges,
}

impl Exchanges {
    /// Creates the state before the first exchange.
    pub fn new(schedule: Schedule) -> Self {
        Exchanges {
            schedule,
            begun: None,
            last: None,
            turn: 0,
            cost: 0,
            between: CallsBetweenExchanges::default(),
        }
    }

    /// Begins an exchange with the numbers of these cells, after `at` calls, to be used `lag` calls
    /// later.
    pub fn begin(&mut self, at: u64, lag: u64, cells: Vec<usize>, now: u64) {
        let since = self.last.map_or(0, |last| at - last.calls);
        self.last = Some(Milestone {
            calls: at,
            time: now,
        });
        self.begun = Some(Begun {
            at,
            lag,
            cells,
            since,
        });
    }
}
