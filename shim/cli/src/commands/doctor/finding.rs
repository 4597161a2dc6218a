//! Findings, and their severity.

use serde::Serialize;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Good,
    Note,
    Problem,
}

/// One examined item.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    what: &'static str,
    found: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Default)]
pub(crate) struct Report(pub(super) Vec<Finding>);

impl Report {
    /// Adds an item that is in order.
    pub(crate) fn good(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(Verdict::Good, what, found.into(), None);
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(Verdict::Note, what, found.into(), None);
    }

    /// Adds an item that would make a job fail, and a remedy.
    pub(crate) fn problem(
        &mut self,
        what: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Verdict::Problem, what, found.into(), Some(remedy.into()));
    }

    /// Adds an error, whose one line has the remedy after its last semicolon.
    pub(crate) fn error(&mut self, what: &'static str, error: &impl ToString) {
        let text = error.to_string();
        match text.rsplit_once("; ") {
            Some((found, remedy)) => self.problem(what, found, remedy),
            None => self.add(Verdict::Problem, what, text, None),
        }
    }

    fn add(&mut self, verdict: Verdict, what: &'static str, found: String, remedy: Option<String>) {
        self.0.push(Finding {
            verdict,
            what,
            found,
            remedy,
        });
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.0 {
            let mark = match finding.verdict {
                Verdict::Good => "ok     ",
                Verdict::Note => "note   ",
                Verdict::Problem => "PROBLEM",
            };
            text += &format!("{mark}  {:<10}  {}", finding.what, finding.found);
            if let Some(remedy) = &finding.remedy {
                text += &format!("; {remedy}");
            }
            text.push('\n');
        }
        text
    }
}
