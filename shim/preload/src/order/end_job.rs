//! End of a job that a replay cannot lead any further.

use std::thread;
use std::time::Duration;

use treepie_process::log;

/// Exit status of a job whose program diverged from the recorded run.
pub const DIVERGED: i32 = 76;
/// Exit status of a job that is ended at the point where the recorded run had ended early.
pub const ENDED: i32 = 77;

/// Ends this process, and the job with it.
pub fn end_job(text: &str, status: i32) -> ! {
    log::error(text);
    // Hydra discards output that it has not yet forwarded when a process ends in this way.
    thread::sleep(Duration::from_millis(200));
    // SAFETY: ends the process; none of its memory is used any more.
    unsafe { libc::_exit(status) }
}
