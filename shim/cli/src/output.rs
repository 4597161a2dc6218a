//! Output of answers: to standard output, which a reader may close early.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde::Serialize;

use treepie_base::printable;
use treepie_launch::error::CommandError;
use treepie_launch::library;

/// Prints an answer.
///
/// # Errors
/// Standard output cannot be written. If its reader closed it (`treepie show ... | head`), that is
/// not an error.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    match out
        .write_all(printable::lines(text).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::failed(format!(
            "standard output: cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints an answer as JSON on one line.
///
/// # Errors
/// See [`print()`].
pub fn print_json(answer: &impl Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string(answer).map_err(|error| {
        CommandError::failed(format!("the answer cannot be written as JSON: {error}"))
    })?;
    print(&(printable::json(&text) + "\n"))
}

/// Prints the output of clap: help and version unchanged, including the help for a missing
/// subcommand; any other text as one line. Clap's own text has a paragraph for each of message, tip
/// and usage. The usage is that of `subcommand`.
pub fn usage(error: &clap::Error, subcommand: Option<&str>) -> Result<ExitCode, CommandError> {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Ok(ExitCode::from(2));
    }
    if !error.use_stderr() {
        // The reader of the help may have closed the pipe, which is not an error.
        let _ = error.print();
        if error.kind() == clap::error::ErrorKind::DisplayVersion {
            print(&library::describe())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let text = error.to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or(&text);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let message = message.split("\n\nFor more").next().unwrap_or(message);
    let message = message.replace("\n\n  tip: ", "\n  tip: ");
    let message = message.replace("\n  tip: ", "; ");
    let words: Vec<&str> = message.split_whitespace().collect();
    let shown = match subcommand {
        Some(name) => format!("treepie {name} --help"),
        None => "treepie --help".to_owned(),
    };
    Err(CommandError::usage(format!(
        "{}; `{shown}` shows the usage",
        words.join(" ")
    )))
}

/// Shows progress on a terminal, and nowhere else. Dropping it removes the display.
pub struct Working {
    bar: ProgressBar,
    /// Advances the bar, if the end is known; dropping the sender ends it.
    clock: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Working {
    /// Starts to show `what`, which takes at most `budget`: with a bar.
    pub fn within(what: &str, budget: Duration) -> Self {
        let template = "{msg} [{bar:40}] {elapsed} of {eta_total}";
        let start = Instant::now();
        let share = move || start.elapsed().as_secs_f64() / budget.as_secs_f64().max(1e-3);
        Working::moving(shown(template, Some(budget), what), share)
    }

    /// Starts to show `what`, of which `share`, from 0 to 1, is done: with a bar.
    pub fn through(what: &str, share: impl Fn() -> f64 + Send + 'static) -> Self {
        let template = "{msg} [{bar:40}] {percent} % ({elapsed})";
        Working::moving(shown(template, None, what), share)
    }

    fn moving(bar: ProgressBar, share: impl Fn() -> f64 + Send + 'static) -> Self {
        const LENGTH: u64 = 1000;
        if bar.is_hidden() {
            return Working { bar, clock: None };
        }
        bar.set_length(LENGTH);
        let moved = bar.clone();
        let (ended, end) = mpsc::channel::<()>();
        let clock = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(TICK) {
                moved.set_position((share() * LENGTH as f64) as u64);
            }
        });
        Working {
            bar,
            clock: Some((ended, clock)),
        }
    }
}

/// Interval between two updates of the bar.
const TICK: Duration = Duration::from_millis(120);

fn shown(template: &str, budget: Option<Duration>, what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let total = budget.map_or(String::new(), |budget| {
        format!("{} s", budget.as_secs_f64())
    });
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key(
            "eta_total",
            move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A failure to display is ignored.
                let _ = out.write_str(&total);
            },
        );
    let bar = ProgressBar::new(1);
    let bar = bar.with_style(style).with_message(what.to_owned());
    bar.enable_steady_tick(TICK);
    bar
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some((ended, clock)) = self.clock.take() {
            drop(ended);
            // It cannot have failed: it only waits and advances the bar.
            let _ = clock.join();
        }
        self.bar.finish_and_clear();
    }
}
