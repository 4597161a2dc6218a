//! Running a command in a separate process group and directory, with a time limit, and one at a
//! time.

use crate::{Outcome, processes, turns};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Jobs use all cores: one at a time, or they disturb each other's clocks.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a command to its end. `description` names it in messages.
///
/// The variables of the test's own environment are passed on, except those that would change a job:
/// `LD_PRELOAD` and ours. Standard output and error go to files, not pipes, so that a process left
/// behind cannot keep the test waiting.
///
/// # Panics
/// Panics if the command cannot be started, or does not end in time: then the message shows the
/// stacks of all its processes, which are ended.
#[track_caller]
pub fn run_watched(mut command: Command, limit: Duration, description: &str) -> Outcome {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    turns::take_short_turns();
    match try_run(&mut command, limit, description) {
        Ok(outcome) => outcome,
        Err(error) => panic!(
            "{description}: {:?} cannot be run: {error}",
            command.get_program()
        ),
    }
}

#[track_caller]
fn try_run(command: &mut Command, limit: Duration, description: &str) -> io::Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    if command.get_current_dir().is_none() {
        command.current_dir(scratch.path());
    }
    let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    prepare(command);
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?)
        .process_group(0);
    let mut child = command.spawn()?;
    let ended = wait(&mut child, limit)?;
    let stacks = ended.is_none().then(|| {
        let family = processes::family(child.id());
        let stacks = processes::stacks(&family);
        processes::end(&mut child, &family);
        stacks
    });
    let (stdout, stderr) = (contents(&mut output)?, contents(&mut errors)?);
    let Some(status) = ended else {
        panic!(
            "{description}: not ended after {} s\n--- standard output\n{stdout}\n--- standard error\n{stderr}\n{}",
            limit.as_secs(),
            stacks.unwrap_or_default()
        );
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(scratch.path())? {
        files.push(entry?.file_name().to_string_lossy().into_owned());
    }
    files.sort();
    Ok(Outcome {
        description: description.to_owned(),
        status,
        stdout,
        stderr,
        files,
    })
}

/// Removes variables that would change the job from the environment, and adds those that root needs
/// with Open MPI.
fn prepare(command: &mut Command) {
    let set: Vec<_> = command
        .get_envs()
        .map(|(name, _)| name.to_owned())
        .collect();
    for (name, _) in std::env::vars_os() {
        let ours = name == "LD_PRELOAD" || name.to_string_lossy().starts_with("TREEPIE_");
        if ours && !set.contains(&name) {
            command.env_remove(name);
        }
    }
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn contents(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_that_ends_is_reported_with_what_it_left() {
        let outcome = run_watched(
            shell("echo out; echo err >&2; touch left; exit 3"),
            Duration::from_secs(20),
            "a shell",
        );
        assert_eq!(outcome.status.code(), Some(3));
        assert_eq!(
            (outcome.stdout.as_str(), outcome.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert_eq!(outcome.files, ["left"]);
    }

    #[test]
    fn a_command_that_does_not_end_is_ended_with_its_children_and_fails() {
        let marker = format!("{}.25", 5000 + std::process::id());
        let script = format!("sleep {marker} & echo started; wait");
        let run = std::panic::catch_unwind(|| {
            run_watched(shell(&script), Duration::from_millis(500), "a shell")
        });
        let message = *run
            .expect_err("it sleeps for hours")
            .downcast::<String>()
            .expect("panics carry text");
        assert!(
            message.contains("not ended after") && message.contains("started"),
            "{message}"
        );
        let sleeping = std::fs::read_dir("/proc")
            .expect("this is Linux")
            .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
            .any(|line| String::from_utf8_lossy(&line).starts_with(&format!("sleep\0{marker}")));
        assert!(!sleeping, "the child sleeps on");
    }
}
