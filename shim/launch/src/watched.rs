//! Running a job while its output is parsed on the way to the user, and ending a stalled one.

use std::io::{self, Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use treepie_resilience::supervision::launchers::Heard;

use super::injection::Invocation;
use super::job;
use super::signals::Signals;
use crate::error::CommandError;

/// Interval between checks for the end of the job.
const TICK: Duration = Duration::from_millis(20);

/// Interval between checks for a stalled job.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Time that a launcher has to end its job after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

/// Time limit for the last output: a process left behind keeps the stream open.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Maximum length of a line in bytes: launchers print no longer ones.
const LONGEST_LINE: usize = 4096;

/// A job that ended.
pub struct Watched {
    /// Its exit status in the form of shells.
    pub status: u8,
    /// Its length.
    pub took: Duration,
    /// Losses reported by the launcher.
    pub heard: Heard,
    /// True if it was ended because it stalled.
    pub stalled: bool,
}

/// Runs the job to its end, or until `is_stalled`, with the given standard input.
///
/// # Errors
/// The program cannot be started.
pub fn run(
    invocation: &Invocation,
    signals: &Signals,
    input: Stdio,
    is_stalled: impl FnMut() -> bool,
) -> Result<Watched, CommandError> {
    let mut command = job::command(invocation);
    command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = job::start(invocation, command, signals)?;
    let heard = Arc::new(Mutex::new(Heard::default()));
    let relays = [
        child
            .stdout
            .take()
            .map(|from| relay(from, io::stdout(), &heard)),
        child
            .stderr
            .take()
            .map(|from| relay(from, io::stderr(), &heard)),
    ];
    let ended = wait(&mut child, is_stalled);
    signals.pass_to(None);
    let (status, stalled) = ended.map_err(|error| job::end_not_known(invocation, &error))?;
    let until = Instant::now() + LAST_OUTPUT;
    for relay in relays.into_iter().flatten() {
        // Ended, or kept open by a process left behind.
        let _ = relay.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Watched {
        status: job::exit_code(status),
        took: began.elapsed(),
        heard,
        stalled,
    })
}

/// Waits for the end, and ends a stalled job.
fn wait(child: &mut Child, mut is_stalled: impl FnMut() -> bool) -> io::Result<(ExitStatus, bool)> {
    let mut look = Instant::now() + BETWEEN_LOOKS;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if Instant::now() >= look {
            if is_stalled() {
                return end(child).map(|status| (status, true));
            }
            look = Instant::now() + BETWEEN_LOOKS;
        }
        thread::sleep(TICK);
    }
}

/// Ends a launcher, which ends its ranks.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    // It may just have ended; the next line finds that.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let until = Instant::now() + GRACE;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(TICK);
    }
    child.kill()?;
    child.wait()
}

/// Copies a stream in a separate thread, and parses its lines. The returned receiver is closed at
/// the end of the stream.
fn relay(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    heard: &Arc<Mutex<Heard>>,
) -> Receiver<()> {
    let heard = Arc::clone(heard);
    let (open, ended) = mpsc::channel();
    thread::spawn(move || {
        let _open = open;
        let (mut buffer, mut line) = ([0; 16 * 1024], Vec::new());
        while let Ok(count) = from.read(&mut buffer) {
            if count == 0 {
                break;
            }
            // The reader of our output may be gone; the job continues.
            let _ = to.write_all(&buffer[..count]).and_then(|()| to.flush());
            take_lines(&buffer[..count], &mut line, &heard);
        }
    });
    ended
}

fn take_lines(bytes: &[u8], line: &mut Vec<u8>, heard: &Mutex<Heard>) {
    for &byte in bytes {
        if byte == b'\n' {
            let text = String::from_utf8_lossy(line);
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.line(&text);
            line.clear();
        } else if line.len() < LONGEST_LINE {
            line.push(byte);
        }
    }
}
