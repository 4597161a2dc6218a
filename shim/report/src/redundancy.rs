//! Sets of ranks that protect each other's checkpoints: what breaks, and what mends it.

use serde::Serialize;

use super::words::pluralize;
use crate::words::line;

/// The sets of one library, today and after hosts have changed places.
#[derive(Debug, Serialize)]
pub struct Redundancy {
    /// The library.
    pub library: &'static str,
    /// Bytes kept for each byte of a checkpoint, in the smallest set.
    pub cost: f64,
    /// Sets of one member, which protect nothing.
    pub unprotected: usize,
    /// The sets of the order as launched, where the placement has another.
    pub launched: Vec<Broken>,
    /// The sets of the order that the placement gives.
    pub today: Vec<Broken>,
    /// The sets of the order that deals the hosts of a domain over the sets.
    pub dealt: Vec<Broken>,
    /// Why hosts cannot be dealt.
    pub undealt: Option<String>,
    /// SCR's sets across the domains that fail, by its `GROUPS` lines, without another order.
    pub by_group: Vec<Broken>,
    /// The hosts in that order, where it mends something.
    pub hosts: Vec<String>,
    /// Files that were written.
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
    /// Sets that are in one domain as a whole.
    pub inside: usize,
    /// Number of sets.
    pub sets: usize,
}

impl Redundancy {
    /// The report for a terminal.
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
