//! Table of one-sided communication by window and kind of epoch.

use treepie_base::list;
use treepie_profile::{EpochUse, Moved, WindowUse};
use treepie_traffic::windows::EpochKind;

use crate::table::Table;
use crate::units;

/// Maximum number of windows listed in text; the first ones.
pub(super) const MOST_WINDOWS: usize = 16;

/// Formats the one-sided communication on the windows as text.
pub fn text(windows: &[WindowUse]) -> String {
    let mut text = String::from("one-sided communication, by window and kind of epoch\n");
    text += &table(windows).text();
    if windows.len() > MOST_WINDOWS {
        text += &format!(
            "  the first {MOST_WINDOWS} of {} windows; all with --json\n",
            windows.len()
        );
    }
    text
}

/// Lists each kind of call in each kind of epoch of each window.
pub fn table(windows: &[WindowUse]) -> Table {
    let mut table = Table::new([
        "window of ranks",
        "epochs",
        "calls",
        "bytes",
        "sizes",
        "not contiguous",
        "pairs",
        "most targets",
        "at a time",
    ]);
    for window in windows.iter().take(MOST_WINDOWS) {
        let name = name(window);
        for (kind, epoch) in &window.epochs {
            let opened = opened(*kind, epoch);
            if epoch.moved.is_empty() {
                let nothing = ["-"; 7].map(str::to_owned);
                table.row([name.clone(), opened].into_iter().chain(nothing));
                continue;
            }
            for (call, moved) in &epoch.moved {
                table.row([
                    name.clone(),
                    opened.clone(),
                    format!("{} {call}", units::count(moved.calls as f64)),
                    units::bytes(moved.bytes as f64),
                    sizes(moved),
                    units::share(moved.not_contiguous as f64, moved.calls as f64),
                    units::count(epoch.pairs as f64),
                    epoch.most_targets.to_string(),
                    at_a_time(moved, epoch),
                ]);
            }
        }
    }
    table
}

/// A window's ranks, and its number among those of the same ranks.
pub(super) fn name(window: &WindowUse) -> String {
    format!("{} #{}", list::to_text(&window.ranks), window.number)
}

/// Mean number of calls to a target between two synchronizations.
pub(super) fn at_a_time(moved: &Moved, epoch: &EpochUse) -> String {
    match epoch.batches {
        0 => "-".to_owned(),
        batches => units::count((moved.calls as f64 / batches as f64).round().max(1.0)),
    }
}

/// Number of epochs of a kind, with the posts and flushes in them.
pub(super) fn opened(kind: EpochKind, epoch: &EpochUse) -> String {
    let mut text = format!("{} {kind}", units::count(epoch.opened as f64));
    for (count, name) in [(epoch.posts, "posts"), (epoch.flushes, "flushes")] {
        if count > 0 {
            text += &format!(", {} {name}", units::count(count as f64));
        }
    }
    text
}

/// The sizes of calls: the least and the largest, and the most frequent if there are several.
pub(super) fn sizes(moved: &Moved) -> String {
    let size = |least: u64| units::bytes(least as f64);
    let most_frequent = moved.sizes.iter().max_by_key(|(_, calls)| **calls);
    let bounds = moved.sizes.keys().next().zip(moved.sizes.keys().last());
    match (bounds, most_frequent) {
        (Some((first, last)), _) if first == last => format!("from {}", size(*first)),
        (Some((first, last)), Some((frequent, _))) => {
            format!(
                "from {} to {}, most {}",
                size(*first),
                size(*last),
                size(*frequent)
            )
        }
        _ => "-".to_owned(),
    }
}
