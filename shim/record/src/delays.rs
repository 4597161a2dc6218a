//! Delays of sends, for runs that are to take another order: hidden races show sooner.
//!
//! Half of the ranks, by the seed, wait up to 2 ms before each send (noise as NINJA injects, Sato
//! et al., PPoPP 2017).

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use treepie_base::random::mix;

use super::identity::identity;

/// Longest delay, in nanoseconds.
const LONGEST: u64 = 2_000_000;

/// State of the generator; 0 on ranks that are not delayed.
static STATE: AtomicU64 = AtomicU64::new(0);

/// Starts delays with this seed.
pub fn begin(seed: u64) {
    let rank = identity().map_or(0, |identity| identity.rank.0 as u64);
    let start = mix(seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(rank + 1));
    STATE.store(
        if start & 1 == 0 { start | 1 } else { 0 },
        Ordering::Relaxed,
    );
}

/// Waits, if this rank is delayed.
#[cold]
pub fn delay() {
    let state = STATE.load(Ordering::Relaxed);
    if state == 0 {
        return;
    }
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15) | 1;
    STATE.store(state, Ordering::Relaxed);
    thread::sleep(Duration::from_nanos(mix(state) % LONGEST));
}
