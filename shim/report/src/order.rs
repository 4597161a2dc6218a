//! Contents of an order of receives, and the point where two runs diverge.

use std::path::{Path, PathBuf};

use serde::Serialize;
use treepie_base::{List, Rank};
use treepie_jobstate::order::file::Order;
use treepie_jobstate::order::{Counts, EmptyPolls, Parting, parting};

use super::table::Table;
use super::units;
use super::words::pluralize;

/// Maximum number of ranks shown; `--json` has all.
const MOST_RANKS: usize = 32;

/// An order of receives.
#[derive(Debug, Serialize)]
pub struct Summary {
    file: PathBuf,
    ranks: usize,
    command: Vec<String>,
    date: String,
    mpi: String,
    /// Ranks whose logs end before `MPI_Finalize`.
    ended_early: Vec<Rank>,
    total: Counts,
    by_rank: List<Rank, Counts>,
}

fn sum(all: &[Counts]) -> Counts {
    all.iter().fold(Counts::default(), |sum, counts| Counts {
        matches: sum.matches + counts.matches,
        cancelled: sum.cancelled + counts.cancelled,
        probes: sum.probes + counts.probes,
        completions: sum.completions + counts.completions,
        empty_polls: sum.empty_polls.saturating_add(counts.empty_polls),
        windows: sum.windows + counts.windows,
        bytes: sum.bytes + counts.bytes,
    })
}

impl Summary {
    /// Contents of an order.
    pub fn new(path: &Path, order: &Order) -> Summary {
        let by_rank: List<Rank, Counts> = order.logs.iter().map(|log| log.counts).collect();
        Summary {
            file: path.to_owned(),
            ranks: order.run.ranks,
            command: order.run.command.clone(),
            date: order.run.date.clone(),
            mpi: order.run.mpi.library.clone(),
            ended_early: order.early(),
            total: sum(&by_rank.raw),
            by_rank,
        }
    }

    /// Formats one line.
    pub fn short_text(&self) -> String {
        let total = &self.total;
        format!(
            "{}: {}, {} with wildcards, {}, {} that found something, {}",
            self.file.display(),
            pluralize(self.ranks, "rank"),
            pluralize(total.matches as usize, "receive"),
            pluralize(total.probes as usize, "probe"),
            pluralize(total.completions as usize, "poll"),
            units::bytes(total.bytes as f64),
        )
    }

    /// Formats the whole summary.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.short_text());
        text += &format!(
            "  run: {} ({}, {})\n",
            self.command.join(" "),
            self.date,
            first_line(&self.mpi)
        );
        if let [first, ..] = self.ended_early[..] {
            text += &format!(
                "  ended before MPI_Finalize: {}, rank {first} the first\n",
                pluralize(self.ended_early.len(), "rank")
            );
        }
        if self.total.windows > 0 {
            text += &format!(
                "  {} made (one-sided): what ranks do to each other's memory has no order here\n",
                match self.total.windows {
                    1 => "1 window was".to_owned(),
                    windows => format!("{windows} windows were"),
                }
            );
        }
        text.push('\n');
        let mut table = Table::new([
            "rank",
            "matches",
            "cancelled",
            "probes",
            "completions",
            "empty polls",
            "bytes",
        ]);
        let shown = self.by_rank.iter().enumerate().take(MOST_RANKS);
        let rows = shown.map(|(rank, counts)| (rank.to_string(), counts));
        for (name, counts) in rows.chain([("all".to_owned(), &self.total)]) {
            let numbers = [
                counts.matches,
                counts.cancelled,
                counts.probes,
                counts.completions,
                counts.empty_polls,
                counts.bytes,
            ];
            table.row(
                [name]
                    .into_iter()
                    .chain(numbers.map(|number| number.to_string())),
            );
        }
        text += &table.text();
        if self.ranks > MOST_RANKS {
            text += &format!("  (the first {MOST_RANKS} ranks; --json has all)\n");
        }
        text
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Comparison of two runs.
#[derive(Debug, Serialize)]
pub struct Compared {
    before: PathBuf,
    after: PathBuf,
    ranks: usize,
    equal: bool,
    parted: Vec<Parted>,
}

/// Point where two runs diverge on a rank.
#[derive(Debug, Serialize)]
struct Parted {
    rank: Rank,
    /// `receive` or `outcome`.
    kind: &'static str,
    /// Its number, from 1.
    number: u64,
    before: String,
    after: String,
}

impl Compared {
    /// Compares two orders of the same number of ranks.
    pub fn new([before, after]: [&Path; 2], orders: [&Order; 2]) -> Compared {
        let pairs = orders[0].logs.iter_enumerated().zip(&orders[1].logs);
        let parted: Vec<Parted> = pairs
            .filter_map(|((rank, first), second)| {
                let (kind, number, [before, after]) =
                    match parting([first, second], EmptyPolls::Compared)? {
                        Parting::Receive { number, what } => ("receive", number, what),
                        Parting::Outcome { number, what } => ("outcome", number, what),
                    };
                Some(Parted {
                    rank,
                    kind,
                    number,
                    before,
                    after,
                })
            })
            .collect();
        Compared {
            before: before.to_owned(),
            after: after.to_owned(),
            ranks: orders[0].logs.len(),
            equal: parted.is_empty(),
            parted,
        }
    }

    /// Formats the comparison in words.
    pub fn text(&self) -> String {
        let mut text = format!(
            "before: {}\nafter:  {}\n\n",
            self.before.display(),
            self.after.display()
        );
        if self.equal {
            text += &format!(
                "Both runs received and polled alike on {}.\n",
                match self.ranks {
                    1 => "the one rank".to_owned(),
                    ranks => format!("all {ranks} ranks"),
                }
            );
            return text;
        }
        text += &format!(
            "The runs part on {} of {}. Receives are those with wildcards, as they were posted; \
             outcomes are polls and calls for any of several requests.\n\n",
            self.parted.len(),
            pluralize(self.ranks, "rank")
        );
        let mut table = Table::new(["rank", "first at", "before", "after"]);
        for parted in self.parted.iter().take(MOST_RANKS) {
            table.row([
                parted.rank.to_string(),
                format!("{} {}", parted.kind, parted.number),
                parted.before.clone(),
                parted.after.clone(),
            ]);
        }
        text += &table.text();
        if self.parted.len() > MOST_RANKS {
            text += &format!("  (the first {MOST_RANKS} of them; --json has all)\n");
        }
        text
    }
}
