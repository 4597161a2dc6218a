//! System clock times.

use std::time::{Duration, SystemTime};

/// Returns the time since 1970 began in UTC; zero if a clock is behind that.
pub fn since_epoch(time: SystemTime) -> Duration {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}
