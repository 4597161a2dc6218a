//! The loop: an attempt, its facts, the decision.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use treepie_launch::error::CommandError;
use treepie_launch::family::Family;
use treepie_launch::input::Input;
use treepie_launch::signals::Signals;
use treepie_launch::watched;
use treepie_launch::{self, allocation};
use treepie_profile::any::Replayable;
use treepie_report::supervised::{Attempt, Supervised};
use treepie_report::words::pluralize;
use treepie_resilience::supervision::checkpoints::{Checkpoint, Checkpoints};
use treepie_resilience::supervision::{
    Decision, End, Ended, History, Host, Out, Progress, Reason, Roster, TooFew,
};

use super::found::{matching, stall};
use crate::commands::hang;
use crate::commands::supervise::arguments::LAST;
use crate::commands::supervise::described::{as_typed, in_words, listed};
use crate::commands::supervise::job::Job;

/// Exit status if too few hosts are left: EX_TEMPFAIL, "try again later".
const TOO_FEW_HOSTS: u8 = 75;

/// Makes `srun` end all ranks if one failed. By default it waits for the others, which wait for
/// that one.
const KILL_ALL: &str = "SLURM_KILL_BAD_EXIT";

/// A supervised job.
pub struct Supervisor<'a> {
    pub(crate) job: Job<'a>,
    pub(crate) signals: &'a Signals,
    /// Standard input of each attempt.
    input: Input,
    began: Instant,
    history: History,
    checkpoints: Checkpoints,
    attempts: Vec<Attempt>,
    /// The hosts of the first attempt.
    first_hosts: Option<Vec<Host>>,
}

impl<'a> Supervisor<'a> {
    /// Creates the supervisor before the first attempt.
    ///
    /// # Errors
    /// Standard input cannot be stored.
    pub fn new(job: Job<'a>, signals: &'a Signals) -> Result<Self, CommandError> {
        let found = job.arguments.checkpoint_files.as_deref().map(matching);
        Ok(Supervisor {
            input: Input::keep(&job.record, false)?,
            job,
            signals,
            began: Instant::now(),
            history: History::default(),
            checkpoints: Checkpoints::new(found.unwrap_or_default()),
            attempts: Vec::new(),
            first_hosts: None,
        })
    }

    /// Runs the job until it is finished or given up.
    ///
    /// # Errors
    /// A command cannot be started.
    pub fn run(mut self) -> Result<Supervised, CommandError> {
        let reason = loop {
            if self.signals.asked_to_end().is_some() {
                break Some(Reason::Stopped);
            }
            let hosts = match self.hosts() {
                Ok(hosts) => hosts,
                Err(error) => {
                    self.job.log.line(&error.to_string());
                    break Some(Reason::TooFewHosts);
                }
            };
            match self.attempt(hosts)? {
                Decision::Done => break None,
                Decision::GiveUp(reason) => break Some(reason),
                Decision::Restart { leave_out } => self.before_the_next(&leave_out),
            }
        };
        Ok(self.ended(reason))
    }

    /// The hosts of the next attempt, if known.
    fn hosts(&mut self) -> Result<Option<Vec<Host>>, TooFew> {
        let ranks = self.job.ranks;
        let roster = self.job.roster.as_mut();
        roster.map(|roster| roster.choose(ranks)).transpose()
    }

    fn found(&self) -> Vec<Checkpoint> {
        let pattern = self.job.arguments.checkpoint_files.as_deref();
        pattern.map(matching).unwrap_or_default()
    }

    /// Runs the job once, and decides on the next step.
    fn attempt(&mut self, hosts: Option<Vec<Host>>) -> Result<Decision, CommandError> {
        let arguments = self.job.arguments;
        let number = self.history.attempts() + 1;
        let before = self.found();
        let (command, from) = self.command(&before);
        let is_changed = self.first_hosts.is_some() && self.first_hosts != hosts;
        let placement = self.placement(is_changed);
        let output = self
            .job
            .record
            .join(format!("attempt-{number}.profile.yaml"));
        let run = hang::new_number();
        let mut own = variables(&output, placement.as_deref());
        own.extend(self.pages_variables(run));
        let variables = arguments.settings.variables(own)?;
        let mut invocation = treepie_launch::prepare(&command, &variables)?;
        // A launcher without a list of hosts may not have used the first ones.
        let leaves_out = self.job.roster.as_ref().is_some_and(Roster::leaves_out);
        let is_told = is_changed || leaves_out || arguments.hosts.is_some();
        if let (Some(hosts), true) = (&hosts, is_told) {
            let options = allocation::options(self.job.launcher.family, hosts);
            invocation.arguments.splice(0..0, options);
        }
        if self.job.launcher.family == Family::Slurm && std::env::var_os(KILL_ALL).is_none() {
            invocation.environment.push((KILL_ALL.into(), "1".into()));
        }
        self.first_hosts = self.first_hosts.take().or_else(|| hosts.clone());
        let shown = as_typed(&command);
        self.announce(number, hosts.as_deref(), from.as_ref(), &shown);
        if number > 1 && matches!(self.input, Input::Stream) {
            self.job.log.line(
                "standard input is a stream: this attempt gets what earlier ones left of it (give \
                 it as a file)",
            );
        }
        let input = self.input.again(Stdio::inherit())?;

        let saw_pages = Cell::new(false);
        let mut stall = self.stall(run, &output, &saw_pages);
        let watched = watched::run(&invocation, self.signals, input, &mut *stall)?;
        drop(stall);
        self.tell_of_pages(run, &watched, saw_pages.get());

        let profiles = self.profiles(&output);
        let end = self.end(&watched, &profiles, hosts.as_deref());
        let progress = match &arguments.checkpoint_files {
            Some(_) => self.checkpoints.progress(&before, &self.found()),
            None => Progress::Unknown,
        };
        let has_gained = progress == Progress::Made || matches!(end, End::HostsLost { .. });
        if let (Some(from), false) = (&from, has_gained) {
            self.checkpoints.suspect(from.clone());
        }
        let words = in_words(&end, &watched, progress);
        self.job.log.line(&format!("attempt {number} {words}"));
        self.attempts.push(Attempt {
            number,
            command: shown,
            hosts: hosts.unwrap_or_default(),
            from: from.map(|from| from.path),
            placement,
            profile: profiles.path,
            seconds: watched.took.as_secs_f64(),
            status: watched.status,
            end: end.clone(),
            words,
            progress,
            left_out: Vec::new(),
        });
        let ended = Ended {
            end,
            took: watched.took,
            progress,
            since_start: self.began.elapsed(),
            can_leave_out: self
                .job
                .roster
                .as_ref()
                .is_some_and(|roster| roster.can_leave_out()),
        };
        Ok(self.history.after(&ended, &arguments.limits()))
    }

    /// Returns a function that is true if the attempt with this number stalls, as far as requested
    /// and visible: no checkpoint changes, or no rank makes a call, until all have reached the end.
    fn stall<'b>(
        &'b self,
        run: u64,
        output: &'b Path,
        saw_pages: &'b Cell<bool>,
    ) -> Box<dyn FnMut() -> bool + 'b> {
        match (
            self.job.arguments.stall,
            self.job.arguments.checkpoint_files.as_deref(),
        ) {
            (None, _) => Box::new(|| false),
            (Some(most), Some(pattern)) => {
                stall(most, move || (!output.exists()).then(|| matching(pattern)))
            }
            (Some(most), None) => stall(most, move || {
                let runs = hang::runs_below(&self.pages(), run).into_iter();
                let calls: Vec<_> = runs.map(|(run, look)| (run, look.calls())).collect();
                saw_pages.set(saw_pages.get() || !calls.is_empty());
                (!calls.is_empty()).then_some(calls)
            }),
        }
    }

    /// The command of the next attempt, and the checkpoint from which it starts. Without a
    /// checkpoint, it is the command of the first.
    fn command(&self, found: &[Checkpoint]) -> (Vec<OsString>, Option<Checkpoint>) {
        let arguments = self.job.arguments;
        let newest = self.checkpoints.newest(found);
        let begins_anew = newest.is_none() && arguments.checkpoint_files.is_some();
        match &arguments.restart {
            Some(restart) if self.history.attempts() > 0 && !begins_anew => {
                let last = newest.map(|newest| newest.path.to_string_lossy());
                let last = last.unwrap_or_default();
                let filled = restart.iter().map(|word| match word.to_str() {
                    Some(word) => word.replace(LAST, &last).into(),
                    None => word.clone(),
                });
                (filled.collect(), newest.cloned())
            }
            _ => (arguments.command.clone(), None),
        }
    }

    /// The file by which ranks are placed: a profile on any hosts, a placement on its own hosts
    /// only.
    fn placement(&mut self, hosts_are_others: bool) -> Option<PathBuf> {
        let (path, file) = self.job.placement.as_ref()?;
        if hosts_are_others && matches!(file, Replayable::Placement(_)) {
            self.job.log.line(&format!(
                "{}: is a placement for other hosts, so ranks are where the launcher puts them; a \
                 profile would be placed anew",
                path.display()
            ));
            return None;
        }
        Some(path.clone())
    }

    fn announce(
        &mut self,
        number: usize,
        hosts: Option<&[Host]>,
        from: Option<&Checkpoint>,
        command: &str,
    ) {
        let hosts = hosts.map(|hosts| format!(" on {}", listed(hosts)));
        let from = from.map(|from| format!(" from {}", from.path.display()));
        self.job.log.line(&format!(
            "attempt {number} of {}{}{}: {command}",
            self.job.arguments.attempts,
            hosts.unwrap_or_default(),
            from.unwrap_or_default(),
        ));
    }

    /// Leaves hosts out, waits, and takes back those that answer again.
    fn before_the_next(&mut self, leave_out: &[String]) {
        let Some(attempt) = self.attempts.last_mut() else {
            return;
        };
        if let Some(roster) = &mut self.job.roster {
            let why = match attempt.end {
                End::HostsLost { .. } => Out::Lost,
                _ => Out::Suspect,
            };
            attempt.left_out = roster.leave_out(leave_out, why);
            if !attempt.left_out.is_empty() {
                let names = attempt.left_out.join(", ");
                self.job.log.line(&format!("left out from now on: {names}"));
            }
        }
        let pause = self.job.arguments.pause;
        if !pause.is_zero() {
            let seconds = pause.as_secs_f64();
            self.job
                .log
                .line(&format!("the next attempt begins in {seconds} s"));
        }
        self.signals.pause(pause);
        self.take_back();
    }

    fn take_back(&mut self) {
        let roster = self.job.roster.as_ref();
        let absent = roster
            .map(|roster| roster.may_come_back())
            .unwrap_or_default();
        if absent.is_empty() || self.signals.asked_to_end().is_some() {
            return;
        }
        let silent = self.silent(absent.clone());
        for name in absent.iter().filter(|name| !silent.contains(name)) {
            if let Some(roster) = &mut self.job.roster {
                roster.is_back(name);
                self.job
                    .log
                    .line(&format!("{name} answers again, and is taken back"));
            }
        }
    }

    /// Summary of the attempts, and the status of the command.
    fn ended(mut self, reason: Option<Reason>) -> Supervised {
        let last = self.attempts.last().map_or(0, |attempt| attempt.status);
        let status = match (&reason, last) {
            (None, status) => status,
            (Some(Reason::TooFewHosts), _) => TOO_FEW_HOSTS,
            (Some(Reason::Stopped), _) if !self.was_stopped_in_attempt() => {
                128 + self.signals.asked_to_end().unwrap_or(0)
            }
            // A status 0 that is not reliable.
            (Some(_), 0) => 1,
            (Some(_), status) => status,
        };
        let attempts = pluralize(self.attempts.len(), "attempt");
        let words = match &reason {
            None => format!("finished after {attempts}, with status {status}"),
            Some(reason) => format!("given up after {attempts}: {reason}"),
        };
        self.job.log.line(&words);
        Supervised {
            finished: reason.is_none(),
            reason,
            words,
            status,
            seconds: self.began.elapsed().as_secs_f64(),
            attempts: self.attempts,
        }
    }

    /// True if the signal that requested an end arrived during an attempt.
    fn was_stopped_in_attempt(&self) -> bool {
        let last = self.attempts.last();
        last.is_some_and(|attempt| matches!(attempt.end, End::Stopped { .. }))
    }
}

/// The library's settings for an attempt: its profile shows that all ranks reached the end, and a
/// file that does not fit ends it before it starts.
fn variables(output: &Path, placement: Option<&Path>) -> Vec<(&'static str, OsString)> {
    let mut own: Vec<(&str, OsString)> = vec![
        ("TREEPIE_OUTPUT", output.into()),
        ("TREEPIE_STRICT", "true".into()),
        ("TREEPIE_PERMUTATION", OsString::new()),
    ];
    match placement {
        Some(path) => own.extend([
            ("TREEPIE_MODE", "replay".into()),
            ("TREEPIE_PLACEMENT", path.into()),
        ]),
        None => own.push(("TREEPIE_MODE", "profile".into())),
    }
    own
}
