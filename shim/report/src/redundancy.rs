//! Sets of ranks that protect each other's checkpoints: sets that failures break, and remedies.

use serde::Serialize;

use super::words::pluralize;
use crate::words::line;

/// The sets of one library, at present and after an exchange of hosts.
#[derive(Debug, Serialize)]
pub struct Redundancy {
    /// The library.
    pub library: &'static str,
    /// Stored bytes for each byte of a checkpoint, in the smallest set.
    pub cost: f64,
    /// Number of sets of one member, which protect nothing.
    pub unprotected: usize,
    /// The sets of the order as launched, if that of the placement differs.
    pub launched: Vec<Broken>,
    /// The sets of the order of the placement.
    pub today: Vec<Broken>,
    /// The sets of the order that distributes the hosts of a domain over the sets.
    pub dealt: Vec<Broken>,
    /// Reason why hosts cannot be distributed.
    pub undealt: Option<String>,
    /// SCR's sets across the domains that fail, by its `GROUPS` lines, without another order.
    pub by_group: Vec<Broken>,
    /// The hosts in that order, if it improves the sets.
    pub hosts: Vec<String>,
    /// Written files.
    pub files: Vec<String>,
    /// Caution about the library.
    pub caution: Option<&'static str>,
}

/// Effect of failures of one kind of domain on the sets.
#[derive(Debug, Serialize)]
pub struct Broken {
    /// Domains that fail.
    pub domain: String,
    /// Number of domains.
    pub domains: usize,
    /// Number of domains that lose data when they fail.
    pub breaking: usize,
    /// Number of sets with all members in one domain.
    pub inside: usize,
    /// Number of sets.
    pub sets: usize,
}

impl Redundancy {
    /// Formats the report for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "\n  redundancy sets of {}, by its own rule: {:.2} bytes kept for each byte of a \
             checkpoint\n",
            self.library, self.cost
        );
        if self.unprotected > 0 {
            line(
                &mut text,
                format_args!(
                    "  {} of one member: no protection",
                    pluralize(self.unprotected, "set")
                ),
            );
        }
        let orders = [
            ("as launched", &self.launched),
            ("as placed", &self.today),
            ("hosts dealt", &self.dealt),
            ("sets across GROUPS", &self.by_group),
        ];
        for (when, all) in orders {
            for broken in all {
                line(&mut text, format_args!("  {when}: {}", broken.text()));
            }
        }
        if let Some(reason) = &self.undealt {
            line(&mut text, format_args!("  hosts cannot be dealt: {reason}"));
        }
        if !self.hosts.is_empty() {
            line(
                &mut text,
                format_args!("  hosts dealt: {}", self.hosts.join(",")),
            );
        }
        for file in &self.files {
            line(&mut text, format_args!("  {file}: written"));
        }
        if let Some(caution) = self.caution {
            line(&mut text, format_args!("  CAUTION: {caution}"));
        }
        text
    }
}

impl Broken {
    fn text(&self) -> String {
        let of = format!("{} ({})", pluralize(self.domains, "domain"), self.domain);
        match (self.breaking, self.inside) {
            (0, _) => format!("no failure of one of {of} loses a checkpoint"),
            (breaking, 0) => format!("{breaking} of {of} lose checkpoints when they fail"),
            (breaking, inside) => format!(
                "{breaking} of {of} lose checkpoints when they fail; {inside} of {} in one as a \
                 whole",
                pluralize(self.sets, "set")
            ),
        }
    }
}
