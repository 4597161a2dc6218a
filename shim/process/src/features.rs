//! Features, the work around the application's calls, as bits of one word: a call without any costs
//! one load and one branch more than the MPI's own.

use std::sync::atomic::{AtomicU16, Ordering};

/// Defines features by their bits. A feature is on only together with the one after `with`.
macro_rules! features {
    ($($(#[$documentation:meta])* $name:ident = $bit:literal $(with $needed:ident)?;)*) => {
        $( $(#[$documentation])* pub const $name: u16 = 1 << $bit; )*

        /// All features: their names and bits, and the feature that each requires.
        #[cfg(test)]
        const ALL: &[(&str, u16, u16)] =
            &[$( (stringify!($name), $name, 0 $(| $needed)?) ),*];
    };
}

features! {
    /// Calls are counted.
    COUNTING = 0;
    /// Calls are timed.
    TIMING = 1 with COUNTING;
    /// Requests are watched that the application tried to cancel.
    CANCELLING = 2 with COUNTING;
    /// Collectives are replaced by plans.
    REPLACING = 3;
    /// Communicators with a topology are reordered.
    REORDERING = 4;
    /// Calls are noted in the page of this rank.
    PAGES = 5 with COUNTING;
    /// Calls may have to wait for a cut, and receives are counted.
    CUTS = 6 with PAGES;
    /// Always on: calls of procedures that have a separate function.
    ALWAYS = 7;
    /// The order of receives is recorded or replayed.
    ORDER = 8 with COUNTING;
    /// Sends are delayed.
    DELAYS = 9 with COUNTING;
    /// Started collectives may be replaced by plans, which continue in later calls.
    STARTED = 10 with REPLACING;
    /// Windows are watched, for whose targets small puts and accumulates may be held back and
    /// joined.
    GATHERING = 11;
    /// At least one such window is not left to the MPI for good.
    KEEPING = 12 with GATHERING;
}

/// Features of any call.
pub const RECORD: u16 = COUNTING | TIMING | CANCELLING;
/// Features of calls with requests, and of those that make and free objects that started plans use.
pub const REQUESTS: u16 = RECORD | STARTED;
/// Features of calls that make, synchronize and free windows.
pub const WINDOWS: u16 = RECORD | GATHERING;
/// Features of puts, gets and accumulates.
pub const TRANSFERS: u16 = RECORD | KEEPING;
/// Features of collectives that a plan can replace.
pub const COLLECTIVES: u16 = RECORD | REPLACING;
/// Features that need the messages that a call receives, or the requests that it completes.
pub const WATCHING: u16 = CANCELLING | CUTS | ORDER | STARTED;

/// Alone in a pair of cache lines, which processors fetch together: every thread reads it at every
/// call.
#[repr(align(128))]
struct Features(AtomicU16);

static FEATURES: Features = Features(AtomicU16::new(ALWAYS));

/// Features that were on at a moment.
#[derive(Debug, Clone, Copy)]
pub struct On(u16);

impl On {
    /// True if any of these was on.
    #[inline(always)]
    pub fn any(self, features: u16) -> bool {
        self.0 & features != 0
    }
}

/// Returns the features that are on: for a call that would test several times, since each test
/// costs a load.
#[inline(always)]
pub fn on() -> On {
    On(FEATURES.0.load(Ordering::Relaxed))
}

/// True if any of these is on.
#[inline(always)]
pub fn any(features: u16) -> bool {
    on().any(features)
}

/// Turns features on.
pub fn begin(features: u16) {
    FEATURES.0.fetch_or(features, Ordering::AcqRel);
}

/// Turns features off.
pub fn end(features: u16) {
    FEATURES.0.fetch_and(!features, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_has_a_bit_and_needs_features_before_it() {
        for (place, (name, bit, needs)) in ALL.iter().enumerate() {
            assert_eq!(*bit, 1 << place, "{name}");
            assert!(*needs < *bit, "{name}");
        }
    }

    #[test]
    fn every_group_of_entry_points_notices_that_calls_are_counted() {
        for group in [RECORD, REQUESTS, WINDOWS, TRANSFERS, COLLECTIVES] {
            assert_eq!(group & RECORD, RECORD);
        }
    }
}
