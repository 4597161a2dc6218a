//! Sections on the gain and the remaining potential.

use super::facts::{Facts, State};
use super::page::Page;
use super::sources::Sources;
use crate::html::cards::between_clusters;
use crate::html::heading::capitalized;
use crate::input::topology::describe;
use crate::levels::{self, between};
use crate::picture::scale::Unit;
use crate::table::Table;
use crate::words::file_name;
use crate::{collectives, phases, times, units};

/// Before and after, by level and by link, and in seconds if measured.
pub(crate) fn what_was_gained(page: &mut Page, facts: &Facts, sources: &Sources) {
    let Ok(machine) = &facts.machine else {
        return;
    };
    let Some(after) = &machine.after else {
        return;
    };
    page.section("gained", "Gain");
    let planned = facts.after.as_ref();
    let planned = planned.filter(|summary| collectives::is_any_planned(&summary.collectives));
    page.paragraph(match (after.measured, planned) {
        (true, None) => "Counted in both runs: as the launcher started it, and in the replay.",
        (true, Some(_)) => "From both runs: as the launcher started it, and in the replay, where plans ran collectives; these are as run, the MPI's own modelled, and all else was counted.",
        (false, _) => "Counted in the first run, and computed for the placement. A profile taken in the replay (treepie replay ... -o after.profile.yaml), given as a further file, puts measurement in its place.",
    });
    let verdict = machine.verdict(after, &sources.before.1).to_string();
    page.paragraph(&format!("{}.", capitalized(&verdict)));
    let cost = |state: &State| state.situation().dist_comm(&machine.topology);
    let costs = (cost(&machine.before), cost(&after.state));
    // A network has its own distances and its own table.
    let costs = machine.network.is_none().then_some(costs);
    let headings = ("before", "after");
    page.table(
        "levels",
        &levels::table(&machine.crossings, Unit::Bytes, headings, costs),
    );
    if let Some(table) = after.gain.links_table(Unit::Bytes) {
        page.table("links", &table);
    }
    if let Some([first, second]) = between_clusters(facts, sources) {
        page.paragraph(&format!("{}.", capitalized(&first.change(&second))));
    }
    if let Some(summary) = planned {
        page.heading("Collectives in the replay");
        page.table("replaced", &collectives::table(&summary.collectives));
    }
    if let Some(promised) = &after.promised {
        page.heading("What the placement promised, and what was measured");
        let mut table = Table::new(["bytes sent", "promised", "measured"]);
        for (promise, measured) in promised.iter().zip(&machine.crossings) {
            let texts =
                [promise.bytes_after, measured.bytes_after].map(|bytes| Unit::Bytes.text(bytes));
            table.row([promise.between.clone()].into_iter().chain(texts));
        }
        page.table("promised", &table);
    }
    let both = facts
        .summary
        .times
        .as_ref()
        .zip(facts.after.as_ref().and_then(|after| after.times.as_ref()));
    if let Some((first, second)) = both {
        page.heading("Time, of the rank that took longest");
        page.table("seconds", &times::change(first, second));
    }
    page.end_section();
}

/// Pairs that still communicate across nodes, the bound, and the limits of the figures.
pub(crate) fn what_is_left(page: &mut Page, facts: &Facts, sources: &Sources) {
    page.section("left", "Remaining traffic");
    let mut lines = Vec::new();
    if let Ok(machine) = &facts.machine {
        match &machine.after {
            Some(after) => {
                lines.push(after.gain.crossing.text(Unit::Bytes));
                lines.extend(after.gain.bound_in_words().map(|words| format!("on these cores, {words}")));
            }
            None => lines.push(format!(
                "no placement has been computed for {}: how much of what goes {} could stay inside is not known",
                describe(&machine.topology),
                between(&machine.topology, 0)
            )),
        }
    }
    let summary = &facts.summary;
    lines.extend(phases::verdict(&summary.phases).map(|verdict| format!("phases: {verdict}")));
    let modelled: u64 = summary
        .layers
        .iter()
        .filter(|layer| layer.modelled)
        .map(|layer| layer.bytes)
        .sum();
    if modelled > 0 {
        let share = units::share(modelled as f64, summary.bytes as f64);
        let run = match facts.after {
            Some(_) => " of the first run",
            None => "",
        };
        lines.push(format!(
            "{share} of the bytes{run} are modelled, not counted"
        ));
    }
    page.list(&lines);
    page.heading("What to do next");
    page.command(&advice(facts, sources));
    page.end_section();
}

/// The recommended next command.
pub(crate) fn advice(facts: &Facts, sources: &Sources) -> String {
    let profile = file_name(&sources.before.0);
    let job = format!(
        "mpirun -n {} {}",
        facts.summary.ranks, facts.summary.command
    );
    match (&sources.placement, &sources.after) {
        (None, _) => format!("treepie map {profile} -o app.placement.yaml"),
        (Some((path, _)), None) => {
            format!(
                "treepie replay {} -o after.profile.yaml -- {job}",
                file_name(path)
            )
        }
        (Some((path, _)), Some(_)) => format!("treepie replay {} -- {job}", file_name(path)),
    }
}
