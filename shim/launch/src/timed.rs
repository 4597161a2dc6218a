//! Short queries to another program with a time limit.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Result of a program.
pub struct Answer {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
}

/// Output of `program arguments`, standard output and standard error together, or `None` if it
/// cannot be started or takes longer than `limit`. A program that takes too long is ended.
pub fn output<S: AsRef<OsStr>>(program: &Path, arguments: &[S], limit: Duration) -> Option<String> {
    let Answer { output, errors, .. } = answer(program, arguments, limit).ok()??;
    Some(String::from_utf8_lossy(&[output, errors].concat()).into_owned())
}

/// Exit status and output of `program arguments`, or `None` if it takes longer than `limit`: it is
/// then ended.
///
/// # Errors
/// The program cannot be started, or not be waited for.
pub fn answer<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    limit: Duration,
) -> std::io::Result<Option<Answer>> {
    let mut command = Command::new(program);
    command.args(arguments);
    answer_of(command, limit)
}

/// Like [`answer`], for a command with variables of its own.
///
/// # Errors
/// As [`answer`].
pub(crate) fn answer_of(mut command: Command, limit: Duration) -> std::io::Result<Option<Answer>> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (sender, receiver) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as _),
        child.stderr.take().map(|stream| Box::new(stream) as _),
    ];
    for (place, stream) in streams.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stream) = stream {
                // Output before a read error is still an answer.
                let _ = stream.read_to_end(&mut text);
            }
            // The receiver may have given up already.
            let _ = sender.send((place, text));
        });
    }
    let end = Instant::now() + limit;
    let mut parts = [Vec::new(), Vec::new()];
    for _ in 0..parts.len() {
        let left = end.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok((place, text)) => parts[place] = text,
            Err(_) => {
                // It may have ended in between; in either case it is gone.
                let _ = child.kill();
                child.wait()?;
                return Ok(None);
            }
        }
    }
    let status = child.wait()?;
    let [output, errors] = parts;
    Ok(Some(Answer {
        status,
        output,
        errors,
    }))
}
