//! The end of a job that a replay can't lead any further.

use std::thread;
use std::time::Duration;

use treepie_process::log;

/// The status of a job whose program took another way than in the recorded run.
pub const DIVERGED: i32 = 76;
/// The status of a job that is ended where the recorded run had ended early.
pub const ENDED: i32 = 77;

/// Ends this process, and the job with it.
pub fn end_job(text: &str, status: i32) -> ! {
    log::error(text);
    // Hydra drops what it has not passed on yet of a process's output when the process ends so.
    thread::sleep(Duration::from_millis(200));
    // SAFETY: ends the process; nothing of it is used any more.
    unsafe { libc::_exit(status) }
}
