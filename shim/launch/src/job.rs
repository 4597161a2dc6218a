//! Start of a job, and its exit status.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::Pid;

use super::injection::Invocation;
use super::signals::{OF_SCHEDULERS, Signals};
use crate::error::CommandError;

/// Runs the job to its end. It inherits our standard streams.
///
/// Returns its exit status in the form of shells: its own, or 128 plus the number of the signal
/// that ended it.
///
/// # Errors
/// The program cannot be started.
pub fn run(invocation: &Invocation) -> Result<u8, CommandError> {
    run_command(invocation, command(invocation))
}

/// Runs the job to its end, with the given standard input and its output in files.
///
/// # Errors
/// See [`run`].
pub fn run_into(
    invocation: &Invocation,
    input: Stdio,
    out: File,
    errors: File,
) -> Result<u8, CommandError> {
    let mut command = command(invocation);
    command.stdin(input).stdout(out).stderr(errors);
    run_command(invocation, command)
}

fn run_command(invocation: &Invocation, command: Command) -> Result<u8, CommandError> {
    let signals = Signals::take_over(OF_SCHEDULERS)?;
    let mut child = start(invocation, command, &signals)?;
    let status = child.wait();
    signals.pass_to(None);
    let status = status.map_err(|error| end_not_known(invocation, &error))?;
    Ok(exit_code(status))
}

/// Replaces this process by the program of an invocation; returns only if that fails.
pub fn become_program(invocation: &Invocation) -> CommandError {
    let error = command(invocation).exec();
    CommandError::failed(format!(
        "{}: cannot be started: {error}",
        invocation.program.display()
    ))
}

/// Starts the job; signals are passed on to it from then on.
///
/// # Errors
/// The program cannot be started.
pub fn start(
    invocation: &Invocation,
    mut command: Command,
    signals: &Signals,
) -> Result<Child, CommandError> {
    let child = command.spawn().map_err(|error| {
        CommandError::failed(format!(
            "{}: cannot be started: {error}",
            invocation.program.display()
        ))
    })?;
    signals.pass_to(Some(Pid::from_child(&child)));
    Ok(child)
}

/// Error if the end of a job cannot be waited for.
pub(crate) fn end_not_known(invocation: &Invocation, error: &std::io::Error) -> CommandError {
    CommandError::failed(format!(
        "{}: its end is not known: {error}",
        invocation.name.display()
    ))
}

/// The command that starts the job, with our standard streams.
pub fn command(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    command.arg0(&invocation.name).args(&invocation.arguments);
    let variables = invocation.environment.iter();
    command.envs(variables.map(|(name, value)| (name, value)));
    command
}

/// Exit status of a process in the form of shells.
pub fn exit_code(status: ExitStatus) -> u8 {
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
