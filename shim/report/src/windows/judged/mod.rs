//! What one-sided communication costs on a platform, and would cost with puts joined or epochs of
//! another kind.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ptr;

use serde::Serialize;
use treepie_guard::one_sided::cost;
use treepie_platform::{Link, Mismatch, Pairs, Platform, Way};
use treepie_profile::{EpochUse, Moved, Profile, WindowUse};
use treepie_traffic::TrafficMatrix;
use treepie_traffic::windows::{EpochKind, WindowCall};

use super::super::units;
use super::{MOST_WINDOWS, name};
use crate::table::Table;

/// Larger pieces are not joined.
const LARGEST_JOINED: f64 = 1024.0;
/// What is worth a line of advice, in parts of what is spent now.
const WORTH: f64 = 0.1;
/// So many windows get one.
const WORST: usize = 3;

/// One-sided communication of a job on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The platform's file.
    pub platform: String,
    /// Whether the ways of some link were measured; else all follows from latencies and gaps.
    pub measured: bool,
    /// Each kind of epoch of each window in which data were moved.
    pub epochs: Vec<JudgedEpochs>,
    /// The windows that take longest, each with what would help.
    pub worst: Vec<String>,
}

/// Epochs of one kind on a window. Times are in seconds, the mean of its ranks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedEpochs {
    /// The window.
    pub window: String,
    /// Their kind.
    pub kind: EpochKind,
    /// Calls to a target between two synchronisations, on average.
    pub at_a_time: f64,
    /// As they are.
    pub now: f64,
    /// With small puts and accumulates joined; absent where there are none.
    pub joined: Option<f64>,
    /// With epochs of another kind.
    pub otherwise: BTreeMap<EpochKind, f64>,
    /// What would help most, in words; absent where nothing helps much.
    pub advice: Option<String>,
}

/// Links between the ranks of a window that communicate, by their part of the messages.
struct Mix<'a>(Vec<(&'a Link, f64)>);

impl<'a> Mix<'a> {
    fn new(ranks: &[usize], traffic: &TrafficMatrix, pairs: &Pairs<'a>) -> Self {
        let is_in = |rank: &usize| ranks.contains(rank);
        let mut links: Vec<(&Link, f64)> = Vec::new();
        let mut sum = 0.0;
        for (from, to, traffic) in traffic.entries() {
            if !(is_in(&from) && is_in(&to)) {
                continue;
            }
            let Some(link) = pairs.link(from, to) else {
                continue;
            };
            let messages = traffic.messages as f64;
            sum += messages;
            match links.iter_mut().find(|(known, _)| ptr::eq(*known, link)) {
                Some((_, share)) => *share += messages,
                None => links.push((link, messages)),
            }
        }
        links.iter_mut().for_each(|(_, share)| *share /= sum);
        Mix(links)
    }

    /// The mean over all messages.
    fn mean(&self, of: impl Fn(&Link) -> f64) -> f64 {
        self.0.iter().map(|(link, share)| share * of(link)).sum()
    }

    fn is_measured(&self) -> bool {
        self.0.iter().any(|(link, _)| link.ways().is_some())
    }
}

/// Judges all windows of a profile by a platform, which is called `platform_name`.
///
/// # Errors
/// A platform that does not know the hosts.
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
    let mut last: Option<(&[usize], Mix)> = None;
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
    let mut of_process = vec![String::new(); profile.ranks];
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

fn judged(
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
    let moved = moving(epoch, mix, false);
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
            .map(|_| (moving(epoch, mix, true) + synchronised) / ranks),
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

/// Small calls of one sort that can be joined.
struct Small {
    call: WindowCall,
    /// To a target at a time.
    pieces: f64,
    /// Bytes of the most frequent ones.
    bytes: f64,
}

/// The sort of small calls that can be joined of which there are most, if there are some.
fn small_pieces(epoch: &EpochUse) -> Option<Small> {
    let of_call = |call| {
        let moved = epoch.moved.get(&call)?;
        let can_join = 1.0 - alone(epoch, call, moved);
        let small = sizes(moved).filter(|&(bytes, _)| bytes <= LARGEST_JOINED);
        let (bytes, _) = small.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (can_join > 0.0).then_some(Small {
            call,
            pieces: can_join * moved.calls as f64 / epoch.batches as f64,
            bytes,
        })
    };
    let all = [WindowCall::Put, WindowCall::Accumulate]
        .into_iter()
        .filter_map(of_call);
    all.max_by(|a, b| a.pieces.total_cmp(&b.pieces))
}

/// The part of calls that can't be joined: what has gaps, and accumulates that also fetch.
fn alone(epoch: &EpochUse, call: WindowCall, moved: &Moved) -> f64 {
    let fetches = epoch.moved.get(&WindowCall::Fetch);
    let fetching = match call {
        WindowCall::Accumulate => fetches.map_or(0, |fetches| fetches.calls),
        _ => 0,
    };
    let alone = moved.not_contiguous.saturating_add(fetching);
    (alone as f64 / moved.calls.max(1) as f64).min(1.0)
}

/// Sizes of calls with their numbers. Of a class, which is by powers of two, the same part above
/// its least size is taken for all classes, so that their bytes add up.
fn sizes(moved: &Moved) -> impl Iterator<Item = (f64, f64)> + '_ {
    let of_class = |(&least, &calls): (&u64, &u64)| (least as f64, calls as f64);
    let least: f64 = moved
        .sizes
        .iter()
        .map(of_class)
        .map(|(least, calls)| least * calls)
        .sum();
    let scale = match least > 0.0 {
        true => (moved.bytes as f64 / least).clamp(1.0, 2.0),
        false => 1.0,
    };
    let sizes = moved.sizes.iter().map(of_class);
    sizes.map(move |(least, calls)| (least * scale, calls))
}

/// Seconds of all ranks together in which data are moved, beyond the small put of an epoch.
fn moving(epoch: &EpochUse, mix: &Mix, joined: bool) -> f64 {
    let calls: f64 = epoch.moved.values().map(|moved| moved.calls as f64).sum();
    let batches = epoch.batches as f64;
    let pieces = (calls / batches).max(1.0);
    let small = mix.mean(|link| cost::seconds(link, Way::Put, 1.0, 8.0));
    let mut sum = 0.0;
    for (call, moved) in &epoch.moved {
        let way = match call {
            WindowCall::Get | WindowCall::Fetch => Way::Get,
            WindowCall::Accumulate => Way::Accumulate,
            _ => Way::Put,
        };
        let apart = match joined {
            true => alone(epoch, *call, moved),
            false => 1.0,
        };
        for (bytes, calls_of_size) in sizes(moved) {
            let one_by_one = |link: &Link| cost::seconds(link, way, pieces, bytes);
            let at_once = |link: &Link| {
                let at_once = cost::joined_seconds(link, way, pieces, bytes);
                at_once.filter(|_| bytes <= LARGEST_JOINED)
            };
            let seconds = mix.mean(|link| {
                let one_by_one = one_by_one(link);
                apart * one_by_one + (1.0 - apart) * at_once(link).unwrap_or(one_by_one)
            });
            sum += calls_of_size / calls * batches * (seconds - small);
        }
    }
    sum.max(0.0)
}

/// Seconds of all ranks together in the epochs that there were, each with a small put.
fn synchronising(window: &WindowUse, kind: EpochKind, epoch: &EpochUse, mix: &Mix) -> f64 {
    let one = |kind| mix.mean(|link| cost::epoch_seconds(link, kind));
    let opened = epoch.opened as f64;
    match kind {
        EpochKind::Fence => opened * one(kind) * cost::rounds(window.ranks.len()),
        EpochKind::Start => opened.max(epoch.batches as f64) * one(kind),
        EpochKind::Lock | EpochKind::LockAll => {
            opened * one(EpochKind::Lock) + epoch.flushes as f64 * one(EpochKind::LockAll)
        }
    }
}

/// The same with epochs of another kind: a fence for what a rank moves to all its targets at a
/// time, a start or a lock for each target; one lock of all, and a flush for each target.
fn synchronising_by(window: &WindowUse, kind: EpochKind, epoch: &EpochUse, mix: &Mix) -> f64 {
    let one = mix.mean(|link| cost::epoch_seconds(link, kind));
    let batches = epoch.batches as f64;
    match kind {
        EpochKind::Fence => {
            batches / targets(window, epoch) * one * cost::rounds(window.ranks.len())
        }
        _ => batches * one,
    }
}

/// Targets of a rank, on average.
fn targets(window: &WindowUse, epoch: &EpochUse) -> f64 {
    (epoch.pairs as f64 / window.ranks.len() as f64).max(1.0)
}

/// What saves most, if it saves enough.
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

/// A line for each of the windows that take longest.
fn worst(epochs: &[JudgedEpochs]) -> Vec<String> {
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
    /// Where its times come from.
    pub fn caption(&self) -> String {
        if self.epochs.is_empty() {
            return format!(
                "nothing is estimated on {}: the profile does not have what was moved at a time, \
                 as those of earlier versions, or no link between its ranks was measured; take the \
                 profile again, or probe with as many ranks a host",
                self.platform
            );
        }
        let from = match self.measured {
            true => "from its measured ways",
            false => "from its latencies and gaps; `treepie probe --ways` measures more",
        };
        format!(
            "estimated seconds a rank on {}, {from}; how targets learn of data under a lock is not \
             in them",
            self.platform
        )
    }

    /// A line for each kind of epoch of each window.
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

    /// Both, and the lines about the worst windows.
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
