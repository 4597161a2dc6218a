//! What is done around the application's calls, as bits of one word: a call around which nothing
//! is done costs one load and one branch more than the MPI's own.

use std::sync::atomic::{AtomicU8, Ordering};

/// Calls are counted.
pub const COUNTING: u8 = 1;
/// Calls are timed.
pub const TIMING: u8 = 2;
/// Requests are watched that someone tried to cancel.
pub const CANCELLING: u8 = 4;
/// Collectives are replaced by plans.
pub const REPLACING: u8 = 8;
/// Communicators with a topology are reordered.
pub const REORDERING: u8 = 16;
/// Calls are noted in the page of this rank. Only together with counting.
pub const PAGES: u8 = 32;
/// Calls may have to wait for a cut, and receives are counted. Only together with pages.
pub const CUTS: u8 = 64;

/// Always on: calls of procedures that have a function of their own.
pub const ALWAYS: u8 = 128;
/// What concerns any call.
pub const RECORD: u8 = COUNTING | TIMING | CANCELLING;
/// What concerns a collective that a plan can take the place of.
pub const COLLECTIVES: u8 = RECORD | REPLACING;

/// Alone in a pair of cache lines, which processors fetch together: every thread reads it at every
/// call.
#[repr(align(128))]
struct Features(AtomicU8);

static FEATURES: Features = Features(AtomicU8::new(ALWAYS));

/// Whether any of these is on.
#[inline(always)]
pub fn any(features: u8) -> bool {
    FEATURES.0.load(Ordering::Relaxed) & features != 0
}

/// Turns features on.
pub fn begin(features: u8) {
    FEATURES.0.fetch_or(features, Ordering::AcqRel);
}

/// Turns features off.
pub fn end(features: u8) {
    FEATURES.0.fetch_and(!features, Ordering::AcqRel);
}
