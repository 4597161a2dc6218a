//! Stops this rank before a call, if the command that watches the job wants all ranks at one cut
//! (`treepie cut`). The command writes into the page which calls may begin; this rank writes that
//! it waits before one that may not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use treepie_jobstate::pages::TICK;
use treepie_jobstate::pages::layout::header;
use treepie_mpi::native::native;
use treepie_process::features::{self, CUTS};
use treepie_process::log;

use super::calls::Area;
use super::channels::write_all_channels;
use super::note::Procedure;
use super::words::{self, PageWords};

/// Interval at which a stopped rank tests if it may continue.
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// Time without a sign of life after which the command counts as dead: then all ranks continue.
const LOST: Duration = Duration::from_secs(5);

/// Interval at which counts are written for the command: during a wave, and otherwise.
const IN_WAVE: Duration = Duration::from_millis(2);
const BETWEEN_WAVES: Duration = Duration::from_millis(20);

/// Allows this rank to be stopped from now on.
pub fn begin(words: PageWords) {
    words.set(header::STOPS, 1);
    features::begin(CUTS);
}

/// Writes the final counts.
pub fn end(words: PageWords) {
    features::end(CUTS);
    write_all_channels(words);
    words.0[header::ENDED].store(1, Ordering::Release);
}

/// Returns the time between two ticks.
pub fn tick(words: PageWords) -> Duration {
    match (words.get(header::STOPS), words.get(header::GATE)) {
        (0, _) => TICK,
        (_, 0) => BETWEEN_WAVES,
        _ => IN_WAVE,
    }
}

/// Waits before a call until it may begin.
#[cold]
pub fn stop_before(area: Area, procedure: Procedure) {
    let Some(words) = words::of_family() else {
        return;
    };
    if procedure.uncut {
        refuse(procedure);
    }
    let next = area.number() + 1;
    if is_closed(words, next) {
        stop(words, next);
    }
}

/// True if the call with this number may not begin.
fn is_closed(words: PageWords, number: u64) -> bool {
    let gate = words.0[header::GATE].load(Ordering::Acquire);
    gate != 0 && number >= gate
}

fn stop(words: PageWords, next: u64) {
    write_all_channels(words);
    words.0[header::STOPPED].store(1, Ordering::Release);
    let (mut beat, mut since) = (words.get(header::BEAT), Instant::now());
    while is_closed(words, next) {
        // A large message that this rank sends or receives only progresses while it calls MPI.
        if words.get(header::REST) == 0
            && let Some(native) = native()
        {
            let _ = native.progress((native.comm_self, 0, 0));
        }
        thread::sleep(BETWEEN_LOOKS);
        let now = words.get(header::BEAT);
        if now != beat {
            (beat, since) = (now, Instant::now());
        } else if since.elapsed() >= LOST {
            log::warn("nobody ends this wave any more; the job goes on");
            words.set(header::GATE, 0);
        }
    }
    words.0[header::STOPPED].store(0, Ordering::Release);
}

/// Notes that this procedure begins an operation that no cut includes.
pub fn refuse(procedure: Procedure) {
    if let Some(words) = words::of_family()
        && words.get(header::REFUSED) == 0
    {
        words.set(header::REFUSED, u64::from(procedure.number) + 1);
    }
}

/// Writes the numbers of receives and collectives that were begun and are not complete.
pub fn say_open(receives: usize, collectives: usize) {
    if let Some(words) = words::of_family() {
        words.set(header::RECEIVES, receives as u64);
        words.set(header::COLLECTIVES, collectives as u64);
    }
}

/// Counts a new window.
pub fn window_made() {
    if let Some(windows) = windows() {
        windows.fetch_add(1, Ordering::AcqRel);
    }
}

/// Counts a freed window.
pub fn window_ended() {
    if let Some(windows) = windows() {
        windows.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Returns the number of windows, if ranks may be stopped at a cut.
fn windows() -> Option<&'static AtomicU64> {
    let words = words::of_family().filter(|_| features::any(CUTS))?;
    Some(&words.0[header::WINDOWS])
}
