//! Waves in a row: when a job ends, and how many waves it has had.

use thiserror::Error;

use crate::checkpoint::course::Course;

/// Parts of a second by which work and time are taken to be equal: sums of many intervals.
const TOLERANCE: f64 = 1e-9;

/// Result of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Run time with waves.
    pub seconds: f64,
    /// Waves that started.
    pub waves: u64,
}

/// Why a job never ends.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "with an interval of {interval} s and waves of {wave:.3} s the job never ends: give an interval \
     that is longer than a wave"
)]
pub struct NeverEnds {
    /// Seconds between the starts of two waves.
    pub interval: f64,
    /// Seconds of a wave.
    pub wave: f64,
}

/// A job with `work` seconds of run time without waves. A wave starts every `interval` seconds, or
/// as soon as the one before is complete; the first one after one interval. A wave whose time comes
/// when the job is about to end still starts.
///
/// # Errors
/// Waves during which the job does not come further, and that leave no time between them.
pub fn run(work: f64, course: &Course, interval: f64) -> Result<Run, NeverEnds> {
    let equal = TOLERANCE * work.max(1.0);
    let wave = course.seconds();
    // All waves are alike, and so is what lies between them.
    let cycle = wave.max(interval);
    let gained = course.progress() + (cycle - wave);
    if work < interval - equal {
        return Ok(Run {
            seconds: work,
            waves: 0,
        });
    }
    if gained <= equal {
        return Err(NeverEnds { interval, wave });
    }
    let left = (work - interval).max(0.0);
    let full = ((left + equal) / gained).floor();
    let rest = (left - full * gained).max(0.0);
    Ok(Run {
        seconds: interval + full * cycle + course.time_of(rest),
        waves: full as u64 + 1,
    })
}
