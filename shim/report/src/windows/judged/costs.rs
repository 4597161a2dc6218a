//! Costs of epochs and of the data moved in them.

use std::ptr;

use treepie_base::Rank;
use treepie_guard::one_sided::cost;
use treepie_platform::{Link, Pairs, TransferMethod};
use treepie_profile::{EpochUse, Moved, WindowUse};
use treepie_traffic::TrafficMatrix;
use treepie_traffic::windows::{EpochKind, WindowCall};

/// Maximum size of pieces that are joined.
pub(crate) const LARGEST_JOINED: f64 = 1024.0;

/// Links between the communicating ranks of a window, by their share of the messages.
pub(crate) struct Mix<'a>(pub(crate) Vec<(&'a Link, f64)>);

impl<'a> Mix<'a> {
    pub(crate) fn new(ranks: &[Rank], traffic: &TrafficMatrix, pairs: &Pairs<'a>) -> Self {
        let is_in = |rank| ranks.contains(&Rank(rank));
        let mut links: Vec<(&Link, f64)> = Vec::new();
        let mut sum = 0.0;
        for (from, to, traffic) in traffic.entries() {
            if !(is_in(from) && is_in(to)) {
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

    pub(crate) fn is_measured(&self) -> bool {
        self.0.iter().any(|(link, _)| link.ways().is_some())
    }
}

/// Small calls of one kind that can be joined.
pub(crate) struct Small {
    pub(crate) call: WindowCall,
    /// Number of calls to a target between two synchronizations.
    pub(crate) pieces: f64,
    /// Bytes of the most frequent ones.
    pub(crate) bytes: f64,
}

/// The most frequent kind of small calls that can be joined, if there are any.
pub(crate) fn small_pieces(epoch: &EpochUse) -> Option<Small> {
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

/// Share of calls that cannot be joined: those with gaps, and accumulates that also fetch.
pub(crate) fn alone(epoch: &EpochUse, call: WindowCall, moved: &Moved) -> f64 {
    let fetches = epoch.moved.get(&WindowCall::Fetch);
    let fetching = match call {
        WindowCall::Accumulate => fetches.map_or(0, |fetches| fetches.calls),
        _ => 0,
    };
    let alone = moved.not_contiguous.saturating_add(fetching);
    (alone as f64 / moved.calls.max(1) as f64).min(1.0)
}

/// Sizes of calls with their numbers. In each class, which spans a power of two, the same position
/// above its least size is assumed, so that the bytes add up.
pub(crate) fn sizes(moved: &Moved) -> impl Iterator<Item = (f64, f64)> + '_ {
    let of_class = |(&least, &calls): (&u64, &u64)| (least as f64, calls as f64);
    let least: f64 = moved
        .sizes
        .iter()
        .map(of_class)
        .map(|(least, calls)| least * calls)
        .sum();
    let scale = if least > 0.0 {
        (moved.bytes as f64 / least).clamp(1.0, 2.0)
    } else {
        1.0
    };
    let sizes = moved.sizes.iter().map(of_class);
    sizes.map(move |(least, calls)| (least * scale, calls))
}

/// Transfer of small pieces of data to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// One by one.
    Apart,
    /// Those of an epoch together.
    Joined,
}

/// Seconds of all ranks together for moving data, in addition to the small put of an epoch.
pub(crate) fn moving(epoch: &EpochUse, mix: &Mix, small_pieces: Pieces) -> f64 {
    let calls: f64 = epoch.moved.values().map(|moved| moved.calls as f64).sum();
    let batches = epoch.batches as f64;
    let pieces = (calls / batches).max(1.0);
    let small = mix.mean(|link| cost::seconds(link, TransferMethod::Put, 1.0, 8.0));
    let mut sum = 0.0;
    for (call, moved) in &epoch.moved {
        let way = match call {
            WindowCall::Get | WindowCall::Fetch => TransferMethod::Get,
            WindowCall::Accumulate => TransferMethod::Accumulate,
            _ => TransferMethod::Put,
        };
        let apart = match small_pieces {
            Pieces::Apart => 1.0,
            Pieces::Joined => alone(epoch, *call, moved),
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

/// Seconds of all ranks together in the actual epochs, each with a small put.
pub(crate) fn synchronising(
    window: &WindowUse,
    kind: EpochKind,
    epoch: &EpochUse,
    mix: &Mix,
) -> f64 {
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

/// Seconds of all ranks together with epochs of another kind: a fence for the transfers of a rank
/// to all its targets at a time, a start or a lock for each target; one lock of all, and a flush
/// for each target.
pub(crate) fn synchronising_by(
    window: &WindowUse,
    kind: EpochKind,
    epoch: &EpochUse,
    mix: &Mix,
) -> f64 {
    let one = mix.mean(|link| cost::epoch_seconds(link, kind));
    let batches = epoch.batches as f64;
    match kind {
        EpochKind::Fence => {
            batches / targets(window, epoch) * one * cost::rounds(window.ranks.len())
        }
        _ => batches * one,
    }
}

/// Mean number of targets of a rank.
pub(crate) fn targets(window: &WindowUse, epoch: &EpochUse) -> f64 {
    (epoch.pairs as f64 / window.ranks.len() as f64).max(1.0)
}
