//! Watchdog that ends a replay whose calls wait in vain: a separate thread watches the clock, since
//! the waiting thread is inside the native MPI.

use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use treepie_jobstate::order::Call;
use treepie_mpi::system::with_signals_blocked;
use treepie_process::guard::guarded;

use super::end_job::{DIVERGED, end_job};
use super::work::replaying;

/// Call that waits, and the start of its wait.
static WAITING: Mutex<Option<(Instant, Call)>> = Mutex::new(None);

/// Guard of a wait for a recorded result.
pub struct Watch;

/// Begins such a wait.
pub fn watch(call: &Call) -> Watch {
    *WAITING.lock() = Some((Instant::now(), *call));
    Watch
}

impl Drop for Watch {
    fn drop(&mut self) {
        *WAITING.lock() = None;
    }
}

/// Starts the watchdog, if there is a time limit.
pub fn start(patience: Option<Duration>) {
    let Some(patience) = patience else { return };
    let step = (patience / 10).clamp(Duration::from_millis(10), Duration::from_millis(500));
    let work = move || {
        guarded("watching a replay", || {
            loop {
                thread::sleep(step);
                look(patience);
            }
        });
    };
    // The thread inherits the blocked signals, which are for the application. Without the thread a
    // replay that cannot continue waits.
    let _ = with_signals_blocked(|| {
        let builder = thread::Builder::new().name("treepie-order".to_owned());
        builder.stack_size(256 * 1024).spawn(work)
    });
}

fn look(patience: Duration) {
    let waiting = *WAITING.lock();
    if let Some((since, call)) = waiting
        && since.elapsed() >= patience
        && let Some(replaying) = replaying()
    {
        let text = replaying.stuck(&call, since.elapsed());
        drop(replaying);
        end_job(&text, DIVERGED);
    }
}
