//! Accesses to each window, by kind of epoch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ranks::check_ranks;
use treepie_base::{Rank, list};
use treepie_traffic::Traffic;
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};

/// Window, or several of the same ranks if there were very many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowUse {
    /// Its ranks in the application's world, in their order in the window.
    #[serde(with = "list")]
    pub ranks: Vec<Rank>,
    /// Number of earlier windows of the same ranks.
    pub number: u32,
    /// Accesses in each kind of epoch that was opened.
    pub epochs: BTreeMap<EpochKind, EpochUse>,
}

/// Accesses of all ranks in epochs of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochUse {
    /// Number of calls that opened an epoch; all fences.
    pub opened: u64,
    /// Number of posts.
    pub posts: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Number of ordered pairs of an origin and a target.
    pub pairs: u64,
    /// Number of targets of the rank with most.
    pub most_targets: u64,
    /// Number of times that a rank had moved data to or from a target between two synchronisations,
    /// which are the batches that it could have joined. If calls have several sizes, those of the
    /// most frequent one count; 0 in files of versions that did not count it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub batches: u64,
    /// Moved data, by the kind of call.
    pub moved: BTreeMap<WindowCall, Moved>,
}

/// Data that calls of one kind moved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// Number of calls.
    pub calls: u64,
    /// Total bytes.
    pub bytes: u64,
    /// Number of calls whose elements are not contiguous, at the origin or at the target.
    pub not_contiguous: u64,
    /// Number of calls by size: of at least this many bytes, and less than twice as many.
    pub sizes: BTreeMap<u64, u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Returns the minimum size of a class, in bytes.
fn least_of(size_class: u8) -> u64 {
    match size_class {
        0 => 0,
        class => 1 << (class - 1).min(63),
    }
}

impl WindowUse {
    /// Creates a window without accesses.
    pub fn new(ranks: Vec<Rank>, number: u32) -> Self {
        WindowUse {
            ranks,
            number,
            epochs: BTreeMap::new(),
        }
    }

    /// Adds all accesses of one rank.
    pub fn add_rank(&mut self, accesses: &[(Access, Accesses)]) {
        // Batches of each target.
        let mut targets: BTreeMap<EpochKind, BTreeMap<u32, u64>> = BTreeMap::new();
        for (access, Accesses { traffic, intervals }) in accesses {
            let epoch = self.epochs.entry(access.epoch).or_default();
            let count = match access.call {
                WindowCall::Open => &mut epoch.opened,
                WindowCall::Flush => &mut epoch.flushes,
                WindowCall::Post => &mut epoch.posts,
                call => {
                    let targets = targets.entry(access.epoch).or_default();
                    let batches = targets.entry(access.target).or_default();
                    *batches = (*batches).max(*intervals);
                    epoch.moved.entry(call).or_default().add(access, *traffic);
                    continue;
                }
            };
            *count = count.saturating_add(traffic.messages);
        }
        for (kind, targets) in targets {
            let count = targets.len() as u64;
            let epoch = self.epochs.entry(kind).or_default();
            epoch.pairs = epoch.pairs.saturating_add(count);
            epoch.most_targets = epoch.most_targets.max(count);
            epoch.batches = targets
                .values()
                .copied()
                .fold(epoch.batches, u64::saturating_add);
        }
    }

    /// Checks a window of a job of `ranks` ranks; returns the problem on failure.
    pub(super) fn check(&self, ranks: usize) -> Result<(), String> {
        if self.ranks.is_empty() {
            return Err("has no ranks; leave it out".into());
        }
        check_ranks(&self.ranks, ranks)?;
        let moved = self.epochs.values().flat_map(|epoch| epoch.moved.keys());
        match moved.into_iter().find(|call| !call.moves()) {
            Some(call) => Err(format!("{call} moves no data; remove it from `moved`")),
            None => Ok(()),
        }
    }
}

impl Moved {
    fn add(&mut self, access: &Access, traffic: Traffic) {
        let Traffic { messages, bytes } = traffic;
        self.calls = self.calls.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes);
        if !access.is_contiguous {
            self.not_contiguous = self.not_contiguous.saturating_add(messages);
        }
        let of_size = self.sizes.entry(least_of(access.size_class)).or_default();
        *of_size = of_size.saturating_add(messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::size_class;

    fn access(call: WindowCall, bytes: u64, target: u32) -> Access {
        Access {
            epoch: EpochKind::Lock,
            call,
            is_contiguous: target != 3,
            size_class: size_class(bytes),
            target,
        }
    }

    fn counted(calls: u64, bytes: u64, intervals: u64) -> Accesses {
        Accesses {
            traffic: Traffic::new(calls, bytes),
            intervals,
        }
    }

    #[test]
    fn what_ranks_did_is_added_up_by_call_and_size() {
        let mut window = WindowUse::new((0..4).map(Rank).collect(), 0);
        window.add_rank(&[
            (access(WindowCall::Open, 0, 0), counted(2, 0, 2)),
            (access(WindowCall::Put, 100, 1), counted(3, 300, 2)),
            (access(WindowCall::Put, 64, 3), counted(1, 64, 1)),
            (access(WindowCall::Get, 0, 3), counted(1, 0, 1)),
        ]);
        window.add_rank(&[(access(WindowCall::Put, 7, 0), counted(1, 7, 1))]);
        let epoch = &window.epochs[&EpochKind::Lock];
        assert_eq!((epoch.opened, epoch.pairs, epoch.most_targets), (2, 3, 2));
        // Two to rank 1, one to rank 3, whose put and get were in one interval, and one of the
        // other rank.
        assert_eq!(epoch.batches, 4);
        let put = &epoch.moved[&WindowCall::Put];
        assert_eq!((put.calls, put.bytes, put.not_contiguous), (5, 371, 1));
        assert_eq!(put.sizes, [(4, 1), (64, 4)].into());
        assert_eq!(epoch.moved[&WindowCall::Get].sizes, [(0, 1)].into());
        assert_eq!(window.check(4), Ok(()));
        assert!(window.check(3).is_err());
    }
}
