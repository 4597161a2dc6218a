//! Assessment of one-sided communication.

use std::collections::BTreeMap;

use serde::Serialize;
use treepie_base::{List, Process, Rank};
use treepie_platform::{Mismatch, Pairs, Platform};
use treepie_profile::{EpochUse, Profile, WindowUse};
use treepie_traffic::windows::EpochKind;

use crate::table::Table;
use crate::units;
use crate::windows::judged::costs::{
    Mix, Pieces, Small, moving, small_pieces, synchronising, synchronising_by,
};
use crate::windows::summary::{MOST_WINDOWS, name};

/// Least saving that is worth a line of advice, as a fraction of the present time.
const WORTH: f64 = 0.1;
/// Maximum number of windows with a line of advice.
const WORST: usize = 3;

/// One-sided communication of a job on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The platform's file.
    pub platform: String,
    /// True if methods of transfer were measured on some link; otherwise everything follows from
    /// latencies and gaps.
    pub measured: bool,
    /// Each kind of epoch of each window in which data were moved.
    pub epochs: Vec<JudgedEpochs>,
    /// The windows that take longest, each with advice.
    pub worst: Vec<String>,
}

/// Epochs of one kind on a window. Times are in seconds, the mean of its ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedEpochs {
    /// The window.
    pub window: String,
    /// Their kind.
    pub kind: EpochKind,
    /// Mean number of calls to a target between two synchronizations.
    pub at_a_time: f64,
    /// Time at present.
    pub now: f64,
    /// Time with small puts and accumulates joined; absent if there are none.
    pub joined: Option<f64>,
    /// Time with epochs of another kind.
    pub otherwise: BTreeMap<EpochKind, f64>,
    /// The change that would help most, in words; absent if none helps enough.
    pub advice: Option<String>,
}

/// Assesses all windows of a profile with a platform named `platform_name`.
///
/// # Errors
/// The platform does not have the hosts.
pub fn judge(
    profile: &Profile,
    platform_name: &str,
    platform: &Platform,
) -> Result<Judgement, Mismatch> {
    let platform = platform.for_job(&hosts_of_ranks(profile))?;
    let pairs = Pairs::new(&platform);
    let mut judgement = Judgement {
        platform: platform_name.to_owned(),
        measured: false,
        epochs: Vec::new(),
        worst: Vec::new(),
    };
    let mut last: Option<(&[Rank], Mix)> = None;
    for window in &profile.windows {
        let mix = match last.take() {
            Some((ranks, mix)) if ranks == window.ranks => mix,
            _ => Mix::new(&window.ranks, &profile.one_sided, &pairs),
        };
        judgement.measured |= mix.is_measured();
        if !mix.0.is_empty() {
            let epochs = window.epochs.iter();
            let judged = epochs.filter_map(|(&kind, epoch)| judged(window, kind, epoch, &mix));
            judgement.epochs.extend(judged);
        }
        last = Some((&window.ranks, mix));
    }
    judgement.worst = worst(&judgement.epochs);
    Ok(judgement)
}

fn hosts_of_ranks(profile: &Profile) -> Vec<String> {
    let mut of_process: List<Process, _> = vec![String::new(); profile.ranks].into();
    for host in &profile.hosts {
        for &process in &host.processes {
            of_process[process].clone_from(&host.name);
        }
    }
    let processes = profile.process_of_rank.iter();
    processes
        .map(|&process| of_process[process].clone())
        .collect()
}

pub(super) fn judged(
    window: &WindowUse,
    kind: EpochKind,
    epoch: &EpochUse,
    mix: &Mix,
) -> Option<JudgedEpochs> {
    if epoch.batches == 0 {
        return None;
    }
    let ranks = window.ranks.len() as f64;
    let calls: f64 = epoch.moved.values().map(|moved| moved.calls as f64).sum();
    let small = small_pieces(epoch);
    let moved = moving(epoch, mix, Pieces::Apart);
    let synchronised = synchronising(window, kind, epoch, mix);
    let now = (moved + synchronised) / ranks;
    let others = EpochKind::ALL.iter().filter(|&&other| other != kind);
    let mut judged = JudgedEpochs {
        window: name(window),
        kind,
        at_a_time: calls / epoch.batches as f64,
        now,
        joined: small
            .as_ref()
            .map(|_| (moving(epoch, mix, Pieces::Joined) + synchronised) / ranks),
        otherwise: others
            .map(|&other| {
                let synchronised = synchronising_by(window, other, epoch, mix);
                (other, (moved + synchronised) / ranks)
            })
            .collect(),
        advice: None,
    };
    judged.advice = advice(&judged, window, small);
    Some(judged)
}

/// The change that saves most, if it saves enough.
fn advice(judged: &JudgedEpochs, window: &WindowUse, small: Option<Small>) -> Option<String> {
    let least = (1.0 - WORTH) * judged.now;
    let other = judged.otherwise.iter().min_by(|a, b| a.1.total_cmp(b.1));
    let other = other.filter(|(_, seconds)| **seconds < least);
    let joined = judged
        .joined
        .zip(small)
        .filter(|&(seconds, _)| seconds < least);
    match (joined, other) {
        (Some((seconds, small)), other) if other.is_none_or(|(_, &by)| seconds <= by) => {
            Some(format!(
                "{} {call}s of {} at a time to a target; join them (TREEPIE_ONE_SIDED=gather, or \
                 one {call} with a datatype): {}",
                units::count(small.pieces.round().max(1.0)),
                units::bytes(small.bytes),
                units::seconds(seconds),
                call = small.call,
            ))
        }
        (_, Some((&kind, &seconds))) => Some(format!(
            "{}: {}",
            other_epochs(judged.kind, kind, window.ranks.len()),
            units::seconds(seconds)
        )),
        _ => None,
    }
}

fn other_epochs(now: EpochKind, other: EpochKind, ranks: usize) -> String {
    let do_this = match other {
        EpochKind::Fence => "one fence completes what goes to all targets",
        EpochKind::Start => "open epochs for the partners only (MPI_Win_post, MPI_Win_start)",
        EpochKind::Lock => "lock only the targets that are reached (MPI_Win_lock)",
        EpochKind::LockAll => "lock once (MPI_Win_lock_all) and flush each target",
    };
    match (now, other) {
        (EpochKind::Fence, _) => format!("each fence is of all {ranks} ranks; {do_this}"),
        _ => do_this.to_owned(),
    }
}

/// Lists the windows that take longest.
pub(super) fn worst(epochs: &[JudgedEpochs]) -> Vec<String> {
    let mut by_time: Vec<&JudgedEpochs> = epochs.iter().collect();
    by_time.sort_by(|a, b| b.now.total_cmp(&a.now));
    let mut seen: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for judged in by_time {
        if lines.len() == WORST || seen.contains(&judged.window.as_str()) {
            continue;
        }
        seen.push(&judged.window);
        let advice = judged.advice.as_deref();
        lines.push(format!(
            "{}, {}, {} a rank: {}",
            judged.window,
            judged.kind,
            units::seconds(judged.now),
            advice.unwrap_or("neither joined puts nor other epochs save a tenth of it")
        ));
    }
    lines
}

impl Judgement {
    /// Caption with the source of its times.
    pub fn caption(&self) -> String {
        if self.epochs.is_empty() {
            return format!(
                "nothing is estimated on {}: the profile does not have what was moved at a time, \
                 as those of earlier versions, or no link between its ranks was measured; take the \
                 profile again, or probe with as many ranks a host",
                self.platform
            );
        }
        let from = if self.measured {
            "from its measured ways"
        } else {
            "from its latencies and gaps; `treepie probe --ways` measures more"
        };
        format!(
            "estimated seconds a rank on {}, {from}; how targets learn of data under a lock is not \
             in them",
            self.platform
        )
    }

    /// Lists each kind of epoch of each window.
    pub fn table(&self) -> Table {
        let kinds = EpochKind::ALL.iter().map(|kind| format!("by {kind}"));
        let first = ["window of ranks", "epochs", "at a time", "now", "joined"];
        let mut table = Table::new(first.map(str::to_owned).into_iter().chain(kinds));
        for judged in self.epochs.iter().take(MOST_WINDOWS) {
            let seconds = |value: Option<f64>| value.map_or("-".to_owned(), units::seconds);
            let others = EpochKind::ALL.iter();
            let others = others.map(|kind| seconds(judged.otherwise.get(kind).copied()));
            let first = [
                judged.window.clone(),
                judged.kind.to_string(),
                units::count(judged.at_a_time.round()),
                units::seconds(judged.now),
                seconds(judged.joined),
            ];
            table.row(first.into_iter().chain(others));
        }
        table
    }

    /// Formats both, and the lines on the worst windows.
    pub fn text(&self) -> String {
        let mut text = self.caption() + "\n";
        if !self.epochs.is_empty() {
            text += &self.table().text();
        }
        for line in &self.worst {
            text += &format!("  {line}\n");
        }
        text
    }
}
