//! Work that may hang, for example on a file system that does not answer.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use treepie_mpi::system::with_signals_blocked;

use crate::guard::guarded;

/// Time limit for writing a file at the end of a job, less than the time for which ranks wait for
/// each other there (`session::meeting`).
pub const WRITING: Duration = Duration::from_secs(30);

/// Runs `work` on a separate thread, and waits for it no longer than `patience`; `None` if it takes
/// longer, or no thread can be created. The thread takes no signals: a pipe without a reader causes
/// an error there, and does not end the process. `doing` names the work in a message about a
/// defect.
pub fn within<T: Send + 'static>(
    patience: Duration,
    doing: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = with_signals_blocked(|| {
        let work = move || guarded(doing, || drop(sender.send(work())));
        thread::Builder::new().name("treepie".into()).spawn(work)
    });
    thread.ok()?;
    receiver.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_hangs_is_given_up() {
        let hangs = || thread::sleep(Duration::from_secs(3600));
        assert_eq!(within(Duration::from_millis(10), "hanging", hangs), None);
        assert_eq!(within(Duration::from_secs(60), "working", || 7), Some(7));
    }
}
