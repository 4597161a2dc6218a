//! The verdict as a sentence, as text and as JSON.

use serde_json::{Value, json};
use treepie_base::proof::{Pairs, Verdict};

use crate::proof::comparison::{Comparison, Pairing, Printed, Run};
use crate::table::Table;
use crate::units;
use crate::words::pluralize;

impl Pairing {
    /// The words after the number of pairs.
    fn in_words(self) -> String {
        match self {
            Pairing::Drawn { seed } => format!("in random order (seed {seed})"),
            Pairing::ByDate => "by the order of their dates".to_owned(),
        }
    }

    /// Remedy if nothing is proven.
    fn more(self) -> &'static str {
        match self {
            Pairing::Drawn { .. } => "more --runs narrow it",
            Pairing::ByDate => "profiles of more runs narrow it",
        }
    }

    /// Remedy if there are too few runs.
    fn many_more(self) -> &'static str {
        match self {
            Pairing::Drawn { .. } => "give more --runs or --time-limit",
            Pairing::ByDate => "give profiles of more runs, seven of each at least",
        }
    }
}

impl Comparison {
    /// `gain of 18.2 % (at least 16.9 %, at most 19.4 %)`
    pub fn sentence(&self) -> String {
        let (low, high) = self.whole.interval();
        let gain = self.whole.gain().unwrap_or(0.0);
        let percent = |part: f64| format!("{:.1} %", 100.0 * part);
        match self.verdict() {
            Verdict::Gain => format!(
                "gain of {} (at least {}, at most {})",
                percent(gain),
                percent(low),
                percent(high)
            ),
            Verdict::Worse if self.whole.count() == 0 || high >= 0.0 => {
                "worse: it fails where the other does not".to_owned()
            }
            Verdict::Worse => format!(
                "worse by {} (at least {}, at most {})",
                percent(-gain),
                percent(-high),
                percent(-low)
            ),
            Verdict::None => {
                format!("no difference above {}", percent(self.limits.difference))
            }
            Verdict::NotProven if low.is_finite() && high < 1.0 => format!(
                "not proven: between {} and {}; {}",
                signed(low),
                signed(high),
                self.pairing.more()
            ),
            Verdict::NotProven => {
                format!("not proven: too few runs; {}", self.pairing.many_more())
            }
        }
    }

    /// Medians of both arms, and the change.
    pub fn table(&self) -> Table {
        let mut table = Table::new(["median seconds", "from MPI_Init to MPI_Finalize", "in MPI"]);
        let medians: [Option<[f64; 2]>; 2] =
            [|run: &Run| run.seconds, |run: &Run| run.in_mpi].map(|pick| self.medians(pick));
        for (way, name) in self.names.iter().enumerate() {
            let [whole, in_mpi] =
                medians.map(|both| both.map_or("-".to_owned(), |both| units::seconds(both[way])));
            table.row([name.clone(), whole, in_mpi]);
        }
        let [whole, in_mpi] = [&self.whole, &self.in_mpi].map(change_in_words);
        table.row(["change".to_owned(), whole, in_mpi]);
        table
    }

    /// Remarks in addition to the times, one line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} {}, {} of them won",
            pluralize(self.whole.count(), "pair"),
            self.pairing.in_words(),
            self.whole.wins()
        )];
        for (name, failures) in self.names.iter().zip(&self.failures) {
            if let Some(last) = failures.last() {
                let runs = pluralize(failures.len(), "run");
                lines.push(format!("{runs} failed ({name}), the last with {last}"));
            }
        }
        lines.extend(self.printed.map(Printed::in_words).map(str::to_owned));
        lines.extend(self.remarks.iter().cloned());
        lines
    }

    /// Formats the answer for human readers; `written` are the lines on files.
    pub fn text(&self, written: &str) -> String {
        format!(
            "{}\n{}\n{written}verdict: {}\n",
            self.table().text(),
            self.lines().join("\n"),
            self.sentence()
        )
    }

    /// Converts the answer to JSON.
    pub fn json(&self) -> Value {
        let part = |value: f64| value.is_finite().then_some(value);
        let of = |pairs: &Pairs| {
            let (low, high) = pairs.interval();
            json!({
                "gain": pairs.gain(), "at_least": part(low), "at_most": part(high),
                "pairs": pairs.count(), "wins": pairs.wins(),
            })
        };
        let ways = self.names.iter().enumerate().map(|(way, name)| {
            let runs = || self.runs.iter().map(move |pair| &pair[way]);
            json!({
                "name": name,
                "seconds": self.of_way(way, |run| run.seconds),
                "seconds_in_mpi": self.of_way(way, |run| run.in_mpi),
                "dates": runs().map(|run| &run.date).collect::<Vec<_>>(),
                "files": runs().filter_map(|run| run.file.as_ref()).collect::<Vec<_>>(),
                "failures": self.failures[way],
            })
        });
        json!({
            "verdict": name_of(self.verdict()),
            "sentence": self.sentence(),
            "whole": of(&self.whole),
            "in_mpi": of(&self.in_mpi),
            "difference": self.limits.difference,
            "seed": match self.pairing {
                Pairing::Drawn { seed } => Some(seed),
                Pairing::ByDate => None,
            },
            "same_output": self.printed.map(|printed| printed == Printed::Same),
            "remarks": self.remarks,
            "ways": ways.collect::<Vec<Value>>(),
        })
    }
}

impl Printed {
    fn in_words(self) -> &'static str {
        match self {
            Printed::Same => "all runs printed the same",
            Printed::Different => "CAUTION: it prints something else than what it is compared with",
            Printed::AlwaysDifferent => {
                "what the job prints differs from run to run, and was not compared"
            }
        }
    }
}

fn name_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Gain => "gain",
        Verdict::Worse => "worse",
        Verdict::None => "none",
        Verdict::NotProven => "not proven",
    }
}

/// Formats a gain from a user's view: a shorter time.
fn signed(gain: f64) -> String {
    if gain >= 0.0 {
        format!("a gain of {:.1} %", 100.0 * gain)
    } else {
        format!("a loss of {:.1} %", -100.0 * gain)
    }
}

/// The estimated change of the time: `-18.2 %`.
pub(crate) fn change_in_words(pairs: &Pairs) -> String {
    pairs
        .gain()
        .map_or("-".to_owned(), |gain| units::change(1.0, 1.0 - gain))
}
