//! A thread that goes on with plans whatever the program does. Only where that may call MPI from
//! several threads, and it is asked for: each turn takes the MPI's locks.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_process::machine::with_signals_blocked;

use super::progress::{is_needed, is_over, turn};

/// From one turn in which nothing was done to the next.
const PAUSE: Duration = Duration::from_micros(50);

static HELPER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Starts the thread; whether that was possible.
pub fn begin() -> bool {
    // The thread inherits that signals are blocked: they are the application's.
    let begun = with_signals_blocked(|| {
        thread::Builder::new()
            .name("treepie-plans".to_owned())
            .spawn(|| guarded("going on with started collectives", run))
    });
    match begun {
        Ok(thread) => {
            *HELPER.lock() = Some(thread);
            true
        }
        Err(error) => {
            log::warn(&format!(
                "no thread can be started that goes on with started collectives: {error}"
            ));
            false
        }
    }
}

fn run() {
    while !is_over() {
        if !is_needed() {
            thread::park();
        } else if turn() == 0 {
            thread::sleep(PAUSE);
        }
    }
}

/// There is something to do, or the thread is to end.
pub fn wake() {
    if let Some(thread) = &*HELPER.lock() {
        thread.thread().unpark();
    }
}

/// Waits for the thread, which was told to end.
pub fn end() {
    let thread = HELPER.lock().take();
    if let Some(thread) = thread {
        thread.thread().unpark();
        // It catches its panics.
        let _ = thread.join();
    }
}
