//! Ticks of a page, twice a second, and more often if this rank may be stopped at a cut: each
//! writes a sign of life, the time since which each thread is in its call, and, if no thread has
//! made a call since the last tick, the number of messages to each partner and of receives posted
//! from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use treepie_jobstate::pages::layout::{INSIDE, THREADS, area, header};
use treepie_mpi::system::with_signals_blocked;
use treepie_process::guard::guarded;

use super::channels::{Renewal, calls, write_channels};
use super::stop;
use super::words::PageWords;

/// Thread that ticks.
pub struct Ticker {
    stopped: Arc<AtomicBool>,
    thread: Option<thread::Thread>,
}

impl Ticker {
    /// Stops the ticks.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

/// Starts it. Without it a page has no times.
pub fn start(words: PageWords) -> Ticker {
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    let work = move || guarded("keeping this rank's page", || run(words, &stop));
    // The thread inherits the blocked signals, which are for the application.
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

/// Returns the nanoseconds since 1970.
pub fn now() -> u64 {
    treepie_base::since_epoch(SystemTime::now()).as_nanos() as u64
}

fn run(words: PageWords, stopped: &AtomicBool) {
    let mut written = 0;
    while !stopped.load(Ordering::Acquire) {
        let now = now();
        let (before, inside) = (calls(words), inside(words));
        for number in 0..THREADS {
            look(words, number, now);
        }
        // A call counts its work just before it ends: counts written during a call that has ended
        // since lack that.
        let renewal = if inside == written {
            Renewal::AfterCalls
        } else {
            Renewal::Always
        };
        write_channels(words, before, renewal);
        written = inside;
        words.set(header::TICK, now);
        sleep(stop::tick(words), stopped);
    }
}

/// Sleeps for `time`, or until it is stopped.
fn sleep(time: Duration, stopped: &AtomicBool) {
    if !stopped.load(Ordering::Acquire) {
        thread::park_timeout(time);
    }
}

/// Returns the threads that are in a call, as bits.
fn inside(words: PageWords) -> u64 {
    let inside = |number| words.area(number)[area::CALL].load(Ordering::Acquire) & INSIDE != 0;
    (0..THREADS).fold(0, |bits, number| bits << 1 | u64::from(inside(number)))
}

/// Records since when a thread has been in its call.
fn look(words: PageWords, number: usize, now: u64) {
    let area = words.area(number);
    let get = |at: usize| area[at].load(Ordering::Acquire);
    let call = get(area::CALL);
    if get(area::THREAD) != 0 && call != get(area::SEEN) {
        area[area::SEEN].store(call, Ordering::Relaxed);
        area[area::SINCE].store(now, Ordering::Relaxed);
    }
}
