//! A coordinator: this command on another host, which sends orders to the ranks there, and to those
//! of further hosts of its cluster. An order is a line of JSON on its standard input, an answer one
//! on its standard output. If either end is gone, all ranks continue.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use treepie_launch::error::CommandError;

use crate::commands::cut::protocol::{Answer, BETWEEN_BEATS, JobNumber, Order, PATIENCE};

/// A coordinator on another host.
pub struct Coordinator {
    host: String,
    child: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// Access to other hosts.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a> {
    /// Command that runs another on a host.
    pub shell: &'a str,
    /// Directory of the pages there, if the user gave one.
    pub pages: Option<&'a Path>,
}

impl Coordinator {
    /// Starts one on the first of these hosts for all of them.
    ///
    /// # Errors
    /// The remote shell cannot be started.
    pub fn start(
        hosts: &[String],
        which: JobNumber,
        remote: Remote<'_>,
    ) -> Result<Coordinator, CommandError> {
        let (host, others) = hosts.split_first().ok_or_else(|| {
            CommandError::usage("--cluster: names no host; write --cluster HOST,...")
        })?;
        let remote_shell = remote.shell;
        let mut words = remote_shell.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("ssh"));
        command.args(words).arg(host);
        command.args(line(which, others, remote));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            CommandError::usage(format!(
                "{remote_shell}: {error}; give another --remote-shell"
            ))
        })?;
        let (sender, answers) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                let lines = BufReader::new(output).lines().map_while(Result::ok);
                lines
                    .map_while(|line| sender.send(line).ok())
                    .for_each(drop);
            });
        }
        Ok(Coordinator {
            host: host.clone(),
            orders: child.stdin.take(),
            child,
            answers,
        })
    }

    /// Sends an order. A failure to send shows as a missing answer.
    pub fn send(&mut self, order: &Order) {
        let line = serde_json::to_string(order).unwrap_or_default();
        let written = self
            .orders
            .as_mut()
            .map(|pipe| writeln!(pipe, "{line}").and_then(|()| pipe.flush()));
        if !matches!(written, Some(Ok(()))) {
            self.orders = None;
        }
    }

    /// Waits for its answer to this order; `meanwhile` is called regularly.
    pub fn answer(&mut self, order: &Order, mut meanwhile: impl FnMut()) -> Answer {
        let further = match order {
            Order::Then { limit, .. } => Duration::from_secs_f64(*limit),
            _ => Duration::ZERO,
        };
        let until = Instant::now() + PATIENCE + further;
        let line = loop {
            // It did not get the order, or did not answer before.
            if self.orders.is_none() {
                break None;
            }
            match self.answers.recv_timeout(BETWEEN_BEATS) {
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => meanwhile(),
                line => break line.ok(),
            }
        };
        let answer = line.and_then(|line| serde_json::from_str(&line).ok());
        answer.unwrap_or_else(|| {
            // A later answer would be taken for the answer to another order.
            self.orders = None;
            Answer::problem(format!(
                "{}: its coordinator does not answer; try `--remote-shell`, and treepie there",
                self.host
            ))
        })
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // It ends when there are no more orders.
        self.orders = None;
        let until = Instant::now() + Duration::from_secs(2);
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() >= until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Builds the words of a coordinator's command.
fn line(which: JobNumber, others: &[String], remote: Remote<'_>) -> Vec<OsString> {
    let Remote { shell, pages } = remote;
    let own = std::env::current_exe().unwrap_or_else(|_| "treepie".into());
    let mut line: Vec<OsString> = vec![own.into(), "cut".into(), "--coordinate".into()];
    if let Some(pages) = pages {
        line.extend(["--pages".into(), pages.into()]);
    }
    for host in others {
        line.extend(["--cluster".into(), host.into()]);
    }
    if !others.is_empty() {
        // The shell on the other host splits words.
        let quoted = if shell.contains(' ') {
            format!("'{shell}'")
        } else {
            shell.to_owned()
        };
        line.extend(["--remote-shell".into(), quoted.into()]);
    }
    match which {
        JobNumber::Run(run) => line.push(format!("{run:016x}").into()),
        JobNumber::Given(given) => line.extend(["--given".into(), format!("{given:016x}").into()]),
    }
    line
}
