//! The processes of a job that does not end: finding them, showing their stacks, and ending them,
//! and no others.

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum number of processes whose stacks are shown.
const MOST_STACKS: usize = 20;

/// A process, distinguished by its start time from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    id: u32,
    started: u64,
}

impl Process {
    /// True if it has not ended, and its number was not reused.
    fn runs(&self) -> bool {
        stat(self.id).is_some_and(|stat| stat.started == self.started)
    }
}

struct Stat {
    parent: u32,
    group: u32,
    started: u64,
}

/// Contents of `/proc/ID/stat`; the name in parentheses may have any characters.
fn stat(id: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// A process, the members of its group, and all their descendants: launchers give each rank a
/// separate group.
pub fn family(leader: u32) -> Vec<Process> {
    let all: HashMap<u32, Stat> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, stat(id)?)))
        .collect();
    let mut family: Vec<u32> = all
        .iter()
        .filter(|(id, stat)| **id == leader || stat.group == leader)
        .map(|(id, _)| *id)
        .collect();
    let mut next = 0;
    while next < family.len() {
        let parent = family[next];
        let children: Vec<u32> = all
            .iter()
            .filter(|(id, stat)| stat.parent == parent && !family.contains(id))
            .map(|(id, _)| *id)
            .collect();
        family.extend(children);
        next += 1;
    }
    family.sort_unstable();
    family
        .into_iter()
        .map(|id| Process {
            id,
            started: all[&id].started,
        })
        .collect()
}

/// Stack of each process, from the debugger.
pub fn stacks(family: &[Process]) -> String {
    let mut text = String::new();
    for process in family.iter().take(MOST_STACKS) {
        let line = fs::read(format!("/proc/{}/cmdline", process.id)).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        text.push_str(&format!(
            "--- process {}: {line}\n{}",
            process.id,
            stack(process.id)
        ));
    }
    if family.len() > MOST_STACKS {
        text.push_str(&format!(
            "--- and {} processes more\n",
            family.len() - MOST_STACKS
        ));
    }
    text
}

fn stack(id: u32) -> String {
    let output = Command::new("timeout")
        .args([
            "--kill-after=5",
            "20",
            "gdb",
            "-nx",
            "-batch",
            "-p",
            &id.to_string(),
        ])
        .args(["-ex", "thread apply all backtrace 16"])
        .env("DEBUGINFOD_URLS", "")
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with('#') || line.starts_with("Thread"))
                .collect();
            if lines.is_empty() {
                format!(
                    "no stack: {}\n",
                    String::from_utf8_lossy(&output.stderr).trim()
                )
            } else {
                lines.join("\n") + "\n"
            }
        }
        Err(error) => format!("no stack: gdb cannot be run: {error}\n"),
    }
}

/// Ends a job: its leader gets a signal first, since launchers clean up; members of its family that
/// remain three seconds later are killed, and awaited.
pub fn end(leader: &mut Child, family: &[Process]) {
    signal(leader.id(), libc::SIGTERM);
    within(Duration::from_secs(3), || {
        matches!(leader.try_wait(), Ok(Some(_)))
    });
    for process in family.iter().filter(|process| process.runs()) {
        signal(process.id, libc::SIGKILL);
    }
    let _ = leader.wait();
    within(Duration::from_secs(3), || !family.iter().any(Process::runs));
}

/// Waits until a condition holds, at most for this time.
fn within(limit: Duration, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + limit;
    while !holds() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(id: u32, signal: i32) {
    // SAFETY: sends a signal to a process that this one started; no memory is
    // involved.
    unsafe { libc::kill(id as libc::pid_t, signal) };
}
