//! Clock of the counters.

use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;

static BEGAN: OnceCell<Instant> = OnceCell::new();

/// Starts the clock, unless it is running.
pub fn begin() {
    BEGAN.get_or_init(Instant::now);
}

/// Returns the nanoseconds since [`begin`]; 0 before.
pub fn now() -> u64 {
    let elapsed = BEGAN.get().map_or(Duration::ZERO, Instant::elapsed);
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
