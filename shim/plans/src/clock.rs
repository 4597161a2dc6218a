//! Clock of this process, for times that are compared.

use std::time::Instant;

use once_cell::sync::Lazy;

/// Returns the nanoseconds since the first call.
pub fn now() -> u64 {
    static START: Lazy<Instant> = Lazy::new(Instant::now);
    START.elapsed().as_nanos() as u64
}
