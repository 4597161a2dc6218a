//! Twice a second, and oftener where this rank may be stopped at a cut: a sign of life, since when
//! each thread is in its call, and, where no thread has made a call since the last time, how many
//! messages went to each partner and how many receives were posted from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use treepie_jobstate::pages::layout::{
    CHANNEL, CHANNELS, CHANNELS_AT, CHANNELS_HEAD, INSIDE, NUMBER_SHIFT, THREADS, UNKNOWN, area,
    header,
};
use treepie_jobstate::waits::Channel;
use treepie_process::guard::guarded;
use treepie_process::machine::with_signals_blocked;

use super::stop;
use super::words::Words;
use crate::counters::{self, ANY_SOURCE, Kind};

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
    let mut written = 0;
    while !stopped.load(Ordering::Acquire) {
        let now = now();
        let (before, inside) = (calls(words), inside(words));
        let mut still = true;
        for number in 0..THREADS {
            still &= look(words, number, now);
        }
        if still {
            // A call counts what it has done just before it ends: what was written in one that has
            // ended lacks that.
            write_channels(words, before, inside != written);
            written = inside;
        }
        words.set(header::TICK, now);
        sleep(stop::tick(words), stopped);
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

/// The threads that are in a call, as bits.
fn inside(words: Words) -> u64 {
    let inside = |number| words.area(number)[area::CALL].load(Ordering::Acquire) & INSIDE != 0;
    (0..THREADS).fold(0, |bits, number| bits << 1 | u64::from(inside(number)))
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

/// One of the threads at a time writes the channels.
static WRITER: Mutex<()> = Mutex::new(());

/// Writes what was sent to each partner, and received from it, until now, while this process makes
/// no call. A call is counted after its number was given: what was written during the last one
/// may lack it.
pub fn write_all_channels(words: Words) {
    write_channels(words, calls(words), true);
}

/// Writes what was sent to each partner, and received from it, until the calls were so many; where
/// that was written before, only if it is to be `renewed`.
fn write_channels(words: Words, calls_before: u64, renewed: bool) {
    let _alone = WRITER.lock();
    if words.get(CHANNELS_AT) == calls_before && !renewed {
        return;
    }
    let mut channels: BTreeMap<u32, Channel> = BTreeMap::new();
    counters::read_all(|kind, partner, traffic| {
        if kind == Kind::PointToPoint {
            let channel = channels.entry(partner).or_default();
            channel.sent += traffic.messages;
            channel.sent_bytes += traffic.bytes;
        }
    });
    counters::read_posted(|partner, messages| {
        channels.entry(partner).or_default().posted += messages;
    });
    counters::read_received(|partner, traffic| {
        let channel = channels.entry(partner).or_default();
        channel.received += traffic.messages;
        channel.received_bytes += traffic.bytes;
    });
    let any = channels.remove(&ANY_SOURCE).map_or(0, |any| any.posted);
    let count = match channels.len() <= CHANNELS {
        true => channels.len() as u64,
        false => UNKNOWN,
    };
    words.set(CHANNELS_AT, UNKNOWN);
    words.set(CHANNELS_AT + 1, count);
    words.set(CHANNELS_AT + 2, any);
    for (place, (partner, channel)) in channels.into_iter().take(CHANNELS).enumerate() {
        let at = CHANNELS_AT + CHANNELS_HEAD + place * CHANNEL;
        words.set(at, partner.into());
        words.set(at + 1, channel.sent);
        words.set(at + 2, channel.posted);
        words.set(at + 3, channel.sent_bytes);
        words.set(at + 4, channel.received);
        words.set(at + 5, channel.received_bytes);
    }
    if calls(words) == calls_before {
        words.0[CHANNELS_AT].store(calls_before, Ordering::Release);
    }
}
