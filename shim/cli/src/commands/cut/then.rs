//! The user's command, while all ranks are stopped.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use treepie_jobstate::waits::RankState;

use treepie_launch::job::exit_code;

/// Interval between checks for its end.
const TICK: Duration = Duration::from_millis(10);

/// End of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// It exited with this status.
    Status(u8),
    /// It was ended after this number of seconds.
    TooLong(f64),
    /// It could not be started.
    NotStarted(String),
}

/// Runs a shell command with the number of the wave and the processes of the ranks, for at most
/// `limit`; `meanwhile` is called regularly.
pub fn run(
    command: &str,
    wave: usize,
    ranks: &[RankState],
    limit: Duration,
    mut meanwhile: impl FnMut(),
) -> Ended {
    let processes: Vec<String> = ranks.iter().map(|rank| rank.process.to_string()).collect();
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .process_group(0);
    shell.env("TREEPIE_CUT_WAVE", wave.to_string());
    shell.env("TREEPIE_CUT_PROCESSES", processes.join(" "));
    let mut child = match shell.spawn() {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error.to_string()),
    };
    let until = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::Status(exit_code(status)),
            Ok(None) if Instant::now() < until => (),
            _ => break,
        }
        meanwhile();
        thread::sleep(TICK);
    }
    // The processes that it started are ended with it.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
    Ended::TooLong(limit.as_secs_f64())
}
