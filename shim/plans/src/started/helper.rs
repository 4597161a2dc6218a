//! A thread that goes on with plans whatever the program does. Only where that may call MPI from
//! several threads, and it is asked for: each turn takes the MPI's locks.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_process::machine::with_signals_blocked;

/// From one turn in which nothing was done to the next.
const PAUSE: Duration = Duration::from_micros(50);

static HELPER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Outcome of a turn of the thread.
pub enum Turn {
    /// Something was done.
    WentOn,
    /// There are plans, and nothing could be done for them.
    Idle,
    /// There are no plans.
    Unneeded,
    /// The thread is to end.
    Over,
}

/// Starts the thread, which takes one `turn` after the other; whether that was possible.
pub fn begin(turn: fn() -> Turn) -> bool {
    // The thread inherits that signals are blocked: they are the application's.
    let begun = with_signals_blocked(|| {
        thread::Builder::new()
            .name("treepie-plans".to_owned())
            .spawn(move || guarded("going on with started collectives", || run(turn)))
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

fn run(turn: fn() -> Turn) {
    loop {
        match turn() {
            Turn::WentOn => (),
            Turn::Idle => thread::sleep(PAUSE),
            Turn::Unneeded => thread::park(),
            Turn::Over => return,
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
