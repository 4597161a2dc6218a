//! Twice a second: a sign of life, since when each thread is in its call, and, where no thread has
//! made a call since the last time, how many messages went to each partner and how many receives
//! were posted from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use treepie_core::files::pages::TICK;
use treepie_core::files::pages::layout::{
    CHANNEL, CHANNELS, CHANNELS_AT, CHANNELS_HEAD, NUMBER_SHIFT, THREADS, UNKNOWN, area, header,
};

use super::words::Words;
use crate::guard::guarded;
use crate::machine::with_signals_blocked;
use crate::record::counters::{self, ANY_SOURCE, Kind};

/// The thread that ticks.
pub struct Ticker {
    stopped: Arc<AtomicBool>,
    thread: Option<thread::Thread>,
}

impl Ticker {
    /// No tick begins any more.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

/// Starts it. Without it a page has no times.
pub fn start(words: Words) -> Ticker {
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    let work = move || guarded("keeping this rank's page", || run(words, &stop));
    // The thread inherits that signals are blocked: they are the application's.
    let thread = with_signals_blocked(|| {
        thread::Builder::new()
            .name("treepie-page".to_owned())
            .stack_size(256 * 1024)
            .spawn(work)
    });
    Ticker {
        stopped,
        thread: thread.ok().map(|handle| handle.thread().clone()),
    }
}

/// Nanoseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_nanos() as u64
}

fn run(words: Words, stopped: &AtomicBool) {
    while !stopped.load(Ordering::Acquire) {
        let now = now();
        let before = calls(words);
        let mut still = true;
        for number in 0..THREADS {
            still &= look(words, number, now);
        }
        if still {
            write_channels(words, before);
        }
        words.set(header::TICK, now);
        sleep(TICK, stopped);
    }
}

/// Sleeps so long, or until it is stopped.
fn sleep(time: Duration, stopped: &AtomicBool) {
    if !stopped.load(Ordering::Acquire) {
        thread::park_timeout(time);
    }
}

/// The calls of all threads together.
fn calls(words: Words) -> u64 {
    let call = |number| words.area(number)[area::CALL].load(Ordering::Acquire) >> NUMBER_SHIFT;
    (0..THREADS).map(call).sum()
}

/// Looks at a thread; whether it is as it was.
fn look(words: Words, number: usize, now: u64) -> bool {
    let area = words.area(number);
    let get = |at: usize| area[at].load(Ordering::Acquire);
    if get(area::THREAD) == 0 {
        return true;
    }
    let call = get(area::CALL);
    let still = call == get(area::SEEN);
    if !still {
        area[area::SEEN].store(call, Ordering::Relaxed);
        area[area::SINCE].store(now, Ordering::Relaxed);
    }
    // Who polls is in and out of the same call.
    still || call >> NUMBER_SHIFT == get(area::SEEN) >> NUMBER_SHIFT
}

/// Writes what was sent to each partner, and received from it, until the calls were so many.
fn write_channels(words: Words, calls_before: u64) {
    if words.get(CHANNELS_AT) == calls_before {
        return;
    }
    let mut channels: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    counters::read_all(|kind, partner, traffic| {
        if kind == Kind::PointToPoint {
            channels.entry(partner).or_default().0 += traffic.messages;
        }
    });
    counters::read_posted(|partner, messages| {
        channels.entry(partner).or_default().1 += messages;
    });
    let any = channels.remove(&ANY_SOURCE).map_or(0, |(_, posted)| posted);
    let count = match channels.len() <= CHANNELS {
        true => channels.len() as u64,
        false => UNKNOWN,
    };
    words.set(CHANNELS_AT, UNKNOWN);
    words.set(CHANNELS_AT + 1, count);
    words.set(CHANNELS_AT + 2, any);
    for (place, (partner, (sent, posted))) in channels.into_iter().take(CHANNELS).enumerate() {
        let at = CHANNELS_AT + CHANNELS_HEAD + place * CHANNEL;
        words.set(at, partner.into());
        words.set(at + 1, sent);
        words.set(at + 2, posted);
    }
    if calls(words) == calls_before {
        words.0[CHANNELS_AT].store(calls_before, Ordering::Release);
    }
}
