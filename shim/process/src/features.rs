//! What is done around the application's calls, as bits of one word: a call around which nothing
//! is done costs one load and one branch more than the MPI's own.

use std::sync::atomic::{AtomicU16, Ordering};

/// Calls are counted.
pub const COUNTING: u16 = 1;
/// Calls are timed.
pub const TIMING: u16 = 2;
/// Requests are watched that someone tried to cancel.
pub const CANCELLING: u16 = 4;
/// Collectives are replaced by plans.
pub const REPLACING: u16 = 8;
/// Communicators with a topology are reordered.
pub const REORDERING: u16 = 16;
/// Calls are noted in the page of this rank. Only together with counting.
pub const PAGES: u16 = 32;
/// Calls may have to wait for a cut, and receives are counted. Only together with pages.
pub const CUTS: u16 = 64;
/// The order of receives is recorded or replayed. Only together with counting.
pub const ORDER: u16 = 256;
/// Sends are delayed. Only together with counting.
pub const DELAYS: u16 = 512;

/// Collectives that are started may be replaced by plans, which go on in later calls.
pub const STARTED: u16 = 1024;

/// Windows are watched, to whose targets small puts and accumulates may be kept back and joined.
pub const GATHERING: u16 = 2048;

/// There is such a window that is not left to the MPI for good.
pub const KEEPING: u16 = 4096;

/// Always on: calls of procedures that have a function of their own.
pub const ALWAYS: u16 = 128;
/// What concerns any call.
pub const RECORD: u16 = COUNTING | TIMING | CANCELLING;
/// What concerns a request, or what makes and frees the objects that started plans use.
pub const REQUESTS: u16 = RECORD | STARTED;
/// What needs to know which messages a call takes, or which requests it completes.
pub const WATCHING: u16 = CANCELLING | CUTS | ORDER | STARTED;
/// What concerns windows.
pub const WINDOWS: u16 = RECORD | GATHERING;
/// What concerns a put, a get, or an accumulate.
pub const TRANSFERS: u16 = RECORD | KEEPING;
/// What concerns a collective that a plan can take the place of.
pub const COLLECTIVES: u16 = RECORD | REPLACING;

/// Alone in a pair of cache lines, which processors fetch together: every thread reads it at every
/// call.
#[repr(align(128))]
struct Features(AtomicU16);

static FEATURES: Features = Features(AtomicU16::new(ALWAYS));

/// The features that were on at a moment.
#[derive(Debug, Clone, Copy)]
pub struct On(u16);

impl On {
    /// Whether any of these was.
    #[inline(always)]
    pub fn any(self, features: u16) -> bool {
        self.0 & features != 0
    }
}

/// The features that are on: for a call that would ask several times, since each costs a load.
#[inline(always)]
pub fn on() -> On {
    On(FEATURES.0.load(Ordering::Relaxed))
}

/// Whether any of these is on.
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
