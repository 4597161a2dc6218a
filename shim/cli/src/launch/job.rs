//! Starting a job, passing signals on to it, and returning its status.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::injection::Invocation;
use crate::error::CommandError;

/// Runs the job to its end. Its standard streams are ours.
///
/// Returns its exit status as a shell would: its own, or 128 plus the number
/// of the signal that ended it.
///
/// # Errors
/// A program that cannot be started.
pub fn run(invocation: &Invocation) -> Result<u8, CommandError> {
    run_command(invocation, command(invocation))
}

/// Runs the job to its end, with nothing to read, and what it prints in files.
///
/// # Errors
/// As [`run`].
pub fn run_into(invocation: &Invocation, out: File, errors: File) -> Result<u8, CommandError> {
    let mut command = command(invocation);
    command.stdin(Stdio::null()).stdout(out).stderr(errors);
    run_command(invocation, command)
}

fn run_command(invocation: &Invocation, mut command: Command) -> Result<u8, CommandError> {
    // Signals are taken over before the job starts: one that comes in between
    // must not end us and leave the job alone.
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| CommandError::failed(format!("signals cannot be taken over: {error}")))?;
    let mut child = command.spawn().map_err(|error| {
        CommandError::usage(format!(
            "{}: cannot be started: {error}",
            invocation.program.display()
        ))
    })?;
    let handle = signals.handle();
    let job = Pid::from_child(&child);
    let forwarder = thread::spawn(move || {
        for origin in signals.forever() {
            forward(&origin, job);
        }
    });
    let status = child.wait();
    handle.close();
    // The thread only ends by the line above, and it does not panic.
    let _ = forwarder.join();
    let status = status.map_err(|error| {
        CommandError::failed(format!(
            "{}: its end is not known: {error}",
            invocation.name.display()
        ))
    })?;
    Ok(exit_code(status))
}

fn command(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    command.arg0(&invocation.name).args(&invocation.arguments);
    let variables = invocation.environment.iter();
    command.envs(variables.map(|(name, value)| (name, value)));
    command
}

/// Passes a signal on that another process sent to us alone. What a key on the
/// terminal sends comes from the kernel and has reached the job already: a
/// second one would make launchers stop without cleaning up.
fn forward(origin: &Origin, job: Pid) {
    if matches!(origin.cause, Cause::Kernel) {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(origin.signal) {
        // The job may just have ended; then there is nobody to tell.
        let _ = kill_process(job, signal);
    }
}

/// The status that a shell gives to the end of a process.
fn exit_code(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_becomes_128_plus_its_number() {
        assert_eq!(exit_code(ExitStatus::from_raw(0)), 0);
        assert_eq!(exit_code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(exit_code(ExitStatus::from_raw(9)), 137);
    }
}
