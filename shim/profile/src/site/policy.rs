//! Policy, and its verdict on a job.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::rules::{Rule, Rules};
use crate::settings::Given;

/// Jobs for which a site switches the library on, and its work there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SitePolicy {
    #[serde(rename = "programs")]
    pub(super) rules: Rules,
    #[serde(rename = "ranks")]
    pub(super) least_ranks: usize,
    /// Fraction of the jobs, from 0 to 1.
    pub(super) sample: f64,
    pub(super) settings: Given,
    pub(super) locked: Vec<&'static str>,
}

/// Verdict of a policy on a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The job is taken: by this rule, or because none matches its program.
    Taken(Option<String>),
    /// This rule excludes its program.
    Denied(String),
    /// The job has too few ranks.
    Small {
        /// Number of its ranks.
        ranks: usize,
        /// Minimum number of ranks.
        least: usize,
    },
    /// The job was not in the sample.
    NotDrawn(f64),
}

impl SitePolicy {
    /// Returns the verdict on a program, by its file and the script that it runs.
    pub fn on_program(&self, paths: &[&Path]) -> Verdict {
        match self.rules.first(paths) {
            Some(rule) if !rule.allows() => Verdict::Denied(rule.to_string()),
            rule => Verdict::Taken(rule.map(Rule::to_string)),
        }
    }

    /// Returns the verdict on a job of `ranks` ranks, for the random number `drawn`, from 0 to 1.
    pub fn on_job(&self, paths: &[&Path], ranks: usize, drawn: f64) -> Verdict {
        let least = self.least_ranks;
        match self.on_program(paths) {
            Verdict::Taken(_) if ranks < least => Verdict::Small { ranks, least },
            Verdict::Taken(_) if drawn >= self.sample => Verdict::NotDrawn(self.sample),
            verdict => verdict,
        }
    }

    /// Returns the settings of the library, which users may override.
    pub fn settings(&self) -> &Given {
        &self.settings
    }

    /// True if users may not set this one.
    pub fn locks(&self, name: &str) -> bool {
        self.locked.contains(&name)
    }
}

impl Verdict {
    /// True if the library is switched on.
    pub fn is_taken(&self) -> bool {
        matches!(self, Verdict::Taken(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Taken(Some(rule)) => write!(out, "taken by the rule `{rule}`"),
            Verdict::Taken(None) => out.write_str("taken, as no rule is about it"),
            Verdict::Denied(rule) => write!(out, "left alone by the rule `{rule}`"),
            Verdict::Small { ranks, least } => {
                write!(out, "left alone: {ranks} ranks, and {least} are the least")
            }
            Verdict::NotDrawn(sample) => {
                write!(out, "left alone: not drawn, where a share of {sample} is")
            }
        }
    }
}

impl fmt::Display for SitePolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in self.rules.own() {
            writeln!(out, "  {rule}")?;
        }
        writeln!(
            out,
            "  then compilers, build systems, launchers, shells and debuggers are left alone, and \
             all else is taken"
        )?;
        writeln!(out, "  ranks: at least {}", self.least_ranks)?;
        writeln!(out, "  share of the jobs: {}", self.sample)?;
        for (name, text) in self.settings.texts() {
            let locked = if self.locks(name) { " (locked)" } else { "" };
            writeln!(out, "  {name}: {text}{locked}")?;
        }
        let given = |name: &&str| self.settings.texts().any(|(known, _)| known == *name);
        for name in self.locked.iter().filter(|name| !given(name)) {
            writeln!(out, "  {name}: its default (locked)")?;
        }
        Ok(())
    }
}
