//! A sequence of waves: the end of a job, and its number of waves.

use thiserror::Error;

use crate::checkpoint::course::Course;

/// Fraction of a second within which work and time are equal, for sums of many intervals.
const TOLERANCE: f64 = 1e-9;

/// Result of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Run time with waves.
    pub seconds: f64,
    /// Waves that started.
    pub waves: u64,
}

/// Reason why a job never ends.
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

/// Runs a job with `work` seconds of run time without waves. A wave starts every `interval`
/// seconds, or as soon as the previous one is complete; the first one after one interval. A wave
/// that is due when the job is about to end still starts.
///
/// # Errors
/// The job makes no progress during waves, and there is no time between them.
pub fn run(work: f64, course: &Course, interval: f64) -> Result<Run, NeverEnds> {
    let equal = TOLERANCE * work.max(1.0);
    let wave = course.seconds();
    // All waves are equal, and so are the times between them.
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
