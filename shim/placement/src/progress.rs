//! Progress of a placement.

use std::sync::atomic::{AtomicU64, Ordering};

/// Completed and expected work. Written by the threads that place, read by any other.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    known: AtomicU64,
}

/// Resolution of a unit.
const FINE: f64 = 1024.0;

impl Progress {
    /// Adds to the expected work, in any unit.
    pub fn expect(&self, units: f64) {
        self.known.fetch_add(fine(units), Ordering::Relaxed);
    }

    /// Adds to the completed work.
    pub fn add(&self, units: f64) {
        self.done.fetch_add(fine(units), Ordering::Relaxed);
    }

    /// The completed share, from 0 to 1; 0 while the expected work is not known.
    pub fn share(&self) -> f64 {
        let known = self.known.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        match known {
            0 => 0.0,
            known => (done as f64 / known as f64).min(1.0),
        }
    }
}

fn fine(units: f64) -> u64 {
    (units.max(0.0) * FINE) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_grows_from_nothing_to_all() {
        let progress = Progress::default();
        assert_eq!(progress.share(), 0.0);
        progress.expect(8.0);
        progress.add(2.0);
        assert_eq!(progress.share(), 0.25);
        progress.add(7.0);
        assert_eq!(progress.share(), 1.0);
    }
}
