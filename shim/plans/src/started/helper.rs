//! Helper thread that advances plans independently of the program. Only if the program may call MPI
//! from several threads, and on request: each turn takes the MPI's locks.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use treepie_mpi::system::with_signals_blocked;
use treepie_process::guard::guarded;
use treepie_process::log;

/// Pause between two turns after an idle one.
const PAUSE: Duration = Duration::from_micros(50);

static HELPER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Outcome of a turn of the thread.
pub enum Turn {
    /// Progress was made.
    WentOn,
    /// There are plans, and none could progress.
    Idle,
    /// There are no plans.
    Unneeded,
    /// The thread is to end.
    Over,
}

/// Starts the thread, which calls `turn` repeatedly; true on success.
pub fn begin(turn: fn() -> Turn) -> bool {
    // The thread inherits the blocked signals, which are for the application.
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

/// Wakes the thread: there is work, or it is to end.
pub fn wake() {
    if let Some(thread) = &*HELPER.lock() {
        thread.thread().unpark();
    }
}

/// Waits for the thread, which was requested to end.
pub fn end() {
    let thread = HELPER.lock().take();
    if let Some(thread) = thread {
        thread.thread().unpark();
        // It catches its panics.
        let _ = thread.join();
    }
}
