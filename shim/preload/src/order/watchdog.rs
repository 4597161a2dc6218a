//! Ends a replay that waits for what does not come: a thread of its own looks at the clock, since
//! the one that waits is in the native MPI.

use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use treepie_jobstate::order::Call;
use treepie_process::guard::guarded;
use treepie_process::machine::with_signals_blocked;

use super::end_job::{DIVERGED, end_job};
use super::work::replaying;

/// What is waited for, and since when.
static WAITING: Mutex<Option<(Instant, Call)>> = Mutex::new(None);

/// A wait for what was recorded.
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

/// Watches from now on, if there is an end of patience.
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
    // The thread inherits that signals are blocked: they are the application's. Without it a
    // replay that can't go on waits.
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
