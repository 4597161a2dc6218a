//! The guard on collectives: the plans, and other algorithms of the MPI, that were tried, and the
//! results; and the guard on small puts and accumulates.

use treepie_profile::{GuardedCell, GuardedEpochs};

use super::table::Table;
use super::units;
use super::words::pluralize;

/// Formats the results as text.
pub fn text(cells: &[GuardedCell]) -> String {
    let mut text =
        String::from("guard on collectives: what was tried against the MPI's own choice\n");
    text += &table(cells).text();
    let others = cells.iter().filter(|cell| cell.plan.is_none()).count();
    if others > 0 {
        let others = pluralize(others, "further kind of call");
        text += &format!("  {others}: nothing was tried; all with --json\n");
    }
    if let Some(caption) = caption(cells) {
        text += &format!("  {caption}\n");
    }
    text
}

/// The time saved by all plans together, if one ran.
pub fn caption(cells: &[GuardedCell]) -> Option<String> {
    let saved: f64 = cells.iter().map(|cell| cell.saved_seconds).sum();
    let has_run = cells.iter().any(|cell| cell.saved_seconds != 0.0);
    has_run.then(|| {
        if saved < 0.0 {
            format!("{} were lost in all", units::seconds(-saved))
        } else {
            format!("{} were saved in all", units::seconds(saved))
        }
    })
}

/// Time saved by plans that ran, if any.
fn saved(seconds: f64) -> String {
    match seconds {
        0.0 => "-".to_owned(),
        _ => units::seconds(seconds),
    }
}

/// Lists each plan or algorithm that was tried.
pub fn table(cells: &[GuardedCell]) -> Table {
    let mut table = Table::new([
        "collective",
        "up to",
        "root",
        "on",
        "tried",
        "is",
        "won",
        "the MPI",
        "this",
        "calls",
        "time",
        "spent on trying",
        "saved",
    ]);
    for cell in cells {
        let Some(plan) = &cell.plan else { continue };
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            cell.form.named(cell.operation),
            or_none(cell.bytes.map(|bytes| units::bytes(bytes as f64))),
            or_none(cell.root.map(|root| root.to_string())),
            pluralize(cell.ranks as usize, "rank"),
            plan.algorithm.clone(),
            cell.state.to_string(),
            format!("{} of {}", cell.won, cell.won.saturating_add(cell.lost)),
            or_none(cell.native_seconds.map(units::seconds)),
            or_none(cell.plan_seconds.map(units::seconds)),
            units::count(cell.calls as f64),
            units::seconds(cell.seconds),
            units::share(cell.excess_seconds, cell.seconds),
            saved(cell.saved_seconds),
        ]);
    }
    table
}

/// Formats the results on small puts and accumulates as text.
pub(crate) fn epochs_text(all: &[GuardedEpochs]) -> String {
    let mut text = String::from("guard on small puts: joined, against each on its own\n");
    text += &epochs_table(all).text();
    text
}

/// Lists each kind of epoch with the results of the ranks.
pub(crate) fn epochs_table(all: &[GuardedEpochs]) -> Table {
    let mut table = Table::new([
        "epochs opened by",
        "on",
        "joining is",
        "decided so",
        "won",
        "each on its own",
        "joined",
        "epochs",
        "time",
        "spent on trying",
        "saved",
    ]);
    for one in all {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            one.epoch.to_string(),
            pluralize(one.ranks as usize, "rank"),
            one.state.to_string(),
            pluralize(one.decisions as usize, "time"),
            format!("{} of {}", one.won, one.won.saturating_add(one.lost)),
            or_none(one.native_seconds.map(units::seconds)),
            or_none(one.joined_seconds.map(units::seconds)),
            units::count(one.epochs as f64),
            units::seconds(one.seconds),
            units::share(one.excess_seconds, one.seconds),
            saved(one.saved_seconds),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use treepie_collective::Operation;
    use treepie_guard::{Form, State};
    use treepie_profile::GuardedPlan;
    use treepie_traffic::windows::EpochKind;

    use super::*;

    #[test]
    fn plans_that_were_tried_have_a_line_each_and_the_others_are_counted() {
        let tried = GuardedCell {
            operation: Operation::Bcast,
            form: Form::Nonblocking,
            root: Some(3),
            bytes: Some(1024),
            ordered: false,
            ranks: 8,
            clusters: 2,
            plan: Some(GuardedPlan {
                algorithm: "grid-chain".into(),
                segment: 4096,
            }),
            state: State::Adopted,
            won: 9,
            lost: 1,
            native_seconds: Some(2e-3),
            plan_seconds: Some(1e-3),
            longest_seconds: 2e-3,
            calls: 1000,
            seconds: 2.0,
            excess_seconds: 0.01,
            saved_seconds: 1.5,
        };
        let other = GuardedCell {
            plan: None,
            state: State::Warming,
            saved_seconds: 0.0,
            ..tried.clone()
        };
        let taken_back = GuardedCell {
            state: State::TakenBack,
            saved_seconds: -0.25,
            ..tried.clone()
        };
        let text = text(&[tried, other, taken_back]);
        for words in [
            "started bcast",
            "grid-chain",
            "adopted",
            "9 of 10",
            "0.5 %",
            "1 further kind of call",
            "1.50 s",
            "-250 ms",
            "1.25 s were saved in all",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn epochs_have_a_line_for_each_thing_that_ranks_found() {
        let found = GuardedEpochs {
            epoch: EpochKind::LockAll,
            ranks: 8,
            state: State::Adopted,
            decisions: 7,
            won: 9,
            lost: 1,
            native_seconds: Some(2e-3),
            joined_seconds: Some(1e-3),
            epochs: 1000,
            seconds: 2.0,
            excess_seconds: 0.01,
            saved_seconds: 0.75,
        };
        let text = epochs_text(&[found]);
        for words in [
            "lock-all", "8 ranks", "adopted", "7 times", "9 of 10", "0.5 %", "750 ms",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
