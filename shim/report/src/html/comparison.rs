//! The page on a job that was run with two configurations: verdict, times, all runs.

use treepie_base::proof::Verdict;
use treepie_launch::error::CommandError;

use super::page::{Card, Page};
use crate::html::heading;
use crate::proof::answer::change_in_words;
use crate::proof::comparison::{Comparison, Pairing, Run};
use crate::proof::drawn::CAPTION;
use crate::table::Table;
use crate::units;
use crate::words::{file_name, pluralize};

/// Formats the page as the text of a file.
///
/// # Errors
/// Drawing fails.
pub fn comparison(comparison: &Comparison) -> Result<String, CommandError> {
    let (title, facts) = match &comparison.job {
        Some(job) => (heading::title(job), heading::facts_line(job)),
        None => ("a job in two ways".to_owned(), String::new()),
    };
    let method = match comparison.pairing {
        Pairing::Drawn { .. } => {
            "The job was run both ways in pairs, in random order inside each pair, until the \
             difference was proven or the limit of runs was reached."
        }
        Pairing::ByDate => {
            "Runs that others had started were paired by their dates, and the differences of the \
             pairs were tested."
        }
    };
    let mut page = Page::new(&title, &facts, method);
    page.cards(&cards(comparison));
    page.section("verdict", "Verdict");
    page.paragraph(&format!(
        "{}, compared with {}: {}.",
        comparison.names[1],
        comparison.names[0],
        comparison.sentence()
    ));
    page.list(&comparison.lines());
    page.end_section();
    page.section("times", "Times of both ways");
    if !comparison.runs().is_empty() {
        page.figure("distributions", CAPTION, &comparison.drawing())
            .map_err(CommandError::failed)?;
    }
    page.table("medians", &comparison.table());
    page.end_section();
    page.section("runs", "All runs");
    page.paragraph("Seconds from MPI_Init to MPI_Finalize of the slowest rank, and seconds in MPI, the mean of all ranks.");
    page.table("pairs", &all_runs(comparison));
    page.end_section();
    let origin = match comparison.pairing {
        Pairing::Drawn { seed } => format!("runs in random order (seed {seed})"),
        Pairing::ByDate => format!(
            "{} of runs",
            pluralize(2 * comparison.runs().len(), "profile")
        ),
    };
    Ok(page.text(&heading::footer(&origin)))
}

/// The most important numbers.
fn cards(comparison: &Comparison) -> Vec<Card> {
    let medians = |pick: fn(&Run) -> f64| {
        let both = comparison.medians(pick);
        both.map_or(String::new(), |[first, second]| {
            let [first, second] = [first, second].map(units::seconds);
            format!("medians {first} and {second}")
        })
    };
    vec![
        Card {
            id: "change",
            name: "time of the slowest rank".into(),
            value: change_in_words(comparison.whole()),
            detail: medians(|run| run.seconds),
            better: match comparison.verdict() {
                Verdict::Gain => Some(true),
                Verdict::Worse => Some(false),
                Verdict::None | Verdict::NotProven => None,
            },
        },
        Card {
            id: "change-in-mpi",
            name: "time in MPI".into(),
            value: change_in_words(comparison.in_mpi()),
            detail: medians(|run| run.in_mpi),
            better: None,
        },
        Card {
            id: "won",
            name: "pairs of runs".into(),
            value: comparison.whole().count().to_string(),
            detail: format!("{} of them won", comparison.whole().wins()),
            better: None,
        },
    ]
}

/// Lists all pairs of runs.
fn all_runs(comparison: &Comparison) -> Table {
    let [first, second] = &comparison.names;
    let mut table = Table::new(["pair", first, second, "change", "in MPI", "in MPI"]);
    let seconds = |value: f64| format!("{value:.4}");
    for (number, [baseline, candidate]) in comparison.runs().iter().enumerate() {
        let files = [baseline, candidate].map(|run| run.file.as_ref().map(file_name));
        let name = match files {
            [Some(first), Some(second)] => format!("{}: {first}, {second}", number + 1),
            _ => (number + 1).to_string(),
        };
        table.row([
            name,
            seconds(baseline.seconds),
            seconds(candidate.seconds),
            units::change(baseline.seconds, candidate.seconds),
            seconds(baseline.in_mpi),
            seconds(candidate.in_mpi),
        ]);
    }
    table
}
