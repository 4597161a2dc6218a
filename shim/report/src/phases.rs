//! The phases of a run, and their similarity: whether one placement suits all.

use serde::Serialize;
use treepie_native::traffic::Model;
use treepie_profile::Profile;
use treepie_traffic::measures::likeness;
use treepie_traffic::{Layer, Matrix, Metric, TrafficMatrix};

use super::table::Table;
use super::units;
use super::words::pluralize;

/// Largest number of phases that are compared with each other; more only with the whole.
const MOST_COMPARED: usize = 8;

/// Maximum number of phases listed: those with the most bytes.
const MOST_LISTED: usize = 24;

/// Least similarity of phases that the same placement suits, as a rule of thumb: less than a tenth
/// of the pattern's length differs.
const ALIKE: f64 = 0.9;

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseSummary {
    /// Its name.
    pub name: String,
    /// Time at which the first rank first entered it, in seconds since the start of the job.
    pub start_seconds: f64,
    /// Time at which the last rank last left it.
    pub end_seconds: f64,
    /// Longest time of a rank in it.
    pub seconds: f64,
    /// Messages in all layers.
    pub messages: u64,
    /// Bytes in all layers.
    pub bytes: u64,
    /// Similarity of its bytes to those of the whole run, from 0 to 1; `None` without traffic.
    pub likeness_to_whole: Option<f64>,
    /// Similarity to each phase; empty if there are many phases.
    pub likeness: Vec<Option<f64>>,
}

/// Summarizes the phases of a profile; `all` is its whole traffic.
pub fn for_profile(
    profile: &Profile,
    all: &TrafficMatrix,
    model: Option<Model>,
) -> Vec<PhaseSummary> {
    let traffic: Vec<TrafficMatrix> = profile
        .phases
        .iter()
        .map(|phase| profile.traffic_of_phase(phase, Layer::ALL, model))
        .collect();
    let bytes: Vec<Matrix> = traffic.iter().map(|t| t.affinity(Metric::Size)).collect();
    let whole = all.affinity(Metric::Size);
    let compared = if bytes.len() <= MOST_COMPARED {
        &bytes[..]
    } else {
        &[]
    };
    let summary = |(at, phase): (usize, &treepie_profile::Phase)| {
        let total = traffic[at].total();
        PhaseSummary {
            name: phase.name.clone(),
            start_seconds: phase.start_seconds,
            end_seconds: phase.end_seconds,
            seconds: phase.seconds,
            messages: total.messages,
            bytes: total.bytes,
            likeness_to_whole: likeness(&bytes[at], &whole),
            likeness: compared
                .iter()
                .map(|other| likeness(&bytes[at], other))
                .collect(),
        }
    };
    profile.phases.iter().enumerate().map(summary).collect()
}

/// Formats the phases as a table, and the consequence for placements.
pub fn text(phases: &[PhaseSummary]) -> String {
    let mut text = format!(
        "{}; how alike their patterns are:\n",
        pluralize(phases.len(), "phase")
    );
    text += &table(phases).text();
    if phases.len() > MOST_LISTED {
        text += &format!("  the {MOST_LISTED} with most bytes; all with --json\n");
    }
    if let Some(verdict) = verdict(phases) {
        text += &format!("  {verdict}\n");
    }
    text
}

/// Table of the phases with the most bytes, and their similarity.
pub fn table(phases: &[PhaseSummary]) -> Table {
    let total: u64 = phases.iter().fold(0, |sum, p| sum.saturating_add(p.bytes));
    let mut headings = vec!["phase", "seconds", "messages", "bytes", "share", "like all"];
    let compared = phases.iter().all(|phase| !phase.likeness.is_empty());
    if compared {
        headings.extend(phases.iter().map(|phase| &*phase.name));
    }
    let mut table = Table::new(headings);
    for phase in listed(phases) {
        let mut row = vec![
            phase.name.clone(),
            format!("{:.3}", phase.seconds),
            units::count(phase.messages as f64),
            units::bytes(phase.bytes as f64),
            units::share(phase.bytes as f64, total as f64),
            percent(phase.likeness_to_whole),
        ];
        row.extend(phase.likeness.iter().copied().map(percent));
        table.row(row);
    }
    table
}

/// The phases shown, in the order of the run.
fn listed(phases: &[PhaseSummary]) -> Vec<&PhaseSummary> {
    let mut by_bytes: Vec<usize> = (0..phases.len()).collect();
    by_bytes.sort_by_key(|&at| (std::cmp::Reverse(phases[at].bytes), at));
    by_bytes.truncate(MOST_LISTED);
    by_bytes.sort_unstable();
    by_bytes.into_iter().map(|at| &phases[at]).collect()
}

/// Verdict in words on whether one placement suits all phases; `None` without traffic.
pub fn verdict(phases: &[PhaseSummary]) -> Option<String> {
    let (phase, alike) = phases
        .iter()
        .filter_map(|phase| Some((phase, phase.likeness_to_whole?)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    Some(if alike >= ALIKE {
        "all are alike: one placement serves the whole run".to_owned()
    } else {
        format!(
            "they differ: a placement for the whole run is none for phase {name}; compare with \
             `treepie map ... --phase {name}`",
            name = phase.name
        )
    })
}

fn percent(part: Option<f64>) -> String {
    part.map_or("-".to_owned(), |part| format!("{:.0} %", 100.0 * part))
}
