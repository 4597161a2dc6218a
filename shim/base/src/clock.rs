//! Times of the system's clock.

use std::time::{Duration, SystemTime};

/// Time since 1970 began in UTC; nothing where a clock is behind that.
pub fn since_epoch(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}
