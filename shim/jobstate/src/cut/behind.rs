//! Ranks that must continue before there can be a quiet cut.

use std::collections::{BTreeMap, BTreeSet};

use super::channels::Counts;
use crate::waits::{Activity, Collective, Key, Members, Operation, Partner, RankState, Until};
use treepie_base::Rank;

/// Position of a rank, for a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankPosition {
    /// It is stopped before a call.
    Stopped,
    /// It is not in MPI, and not stopped yet.
    Outside,
    /// It waits for messages and nothing else: with no message in flight it stays there.
    Receives,
    /// It is in another call.
    Inside,
}

/// Returns the position of a rank.
pub(super) fn position(rank: &RankState) -> RankPosition {
    let stop = rank.stop.as_ref();
    if stop.is_some_and(|stop| stop.stopped) {
        return RankPosition::Stopped;
    }
    // A polling rank stops before its next poll.
    let in_call = rank
        .threads
        .iter()
        .find(|thread| thread.inside && !thread.is_poll);
    let Some(thread) = in_call else {
        return RankPosition::Outside;
    };
    let Activity::Waits {
        operations,
        until,
        begun,
    } = &thread.activity
    else {
        return RankPosition::Inside;
    };
    // A prepared receive that is not started waits for nothing.
    let none_is_begun = *begun && stop.is_none_or(|stop| stop.receives == 0);
    let receives = |operation: &Operation| match operation {
        Operation::Receive(receive) => matches!(receive.partner, Partner::Rank(_) | Partner::Any),
        _ => false,
    };
    let sends = |operation: &Operation| !*begun && matches!(operation, Operation::Send(_));
    let waits = match until {
        Until::All => operations.iter().any(receives) && !operations.iter().any(sends),
        Until::Any => !operations.is_empty() && operations.iter().all(receives),
    };
    match waits && !none_is_begun {
        true => RankPosition::Receives,
        false => RankPosition::Inside,
    }
}

/// Returns the maximum number of collectives that any rank has begun on each communicator.
fn most_begun(ranks: &[RankState]) -> BTreeMap<Key, u64> {
    let mut most = BTreeMap::new();
    for (&key, known) in ranks.iter().flat_map(|rank| &rank.communicators) {
        let begun = most.entry(key).or_default();
        *begun = known.done.max(*begun);
    }
    most
}

/// Returns the ranks that must continue: without them there is no quiet cut after this moment.
pub(super) fn behind(ranks: &[RankState], counts: &Counts<'_>) -> BTreeSet<Rank> {
    let begun = most_begun(ranks);
    let itself = |rank: &&RankState| {
        let lags = |(key, known): (&Key, &crate::waits::Communicator)| known.done < begun[key];
        let stop = rank.stop.as_ref();
        position(rank) == RankPosition::Inside
            || counts.left_in_all(rank.rank) > 0
            || stop.is_some_and(|stop| stop.collectives > 0)
            || rank.communicators.iter().any(lags)
    };
    let mut found: BTreeSet<Rank> = BTreeSet::new();
    let mut new: Vec<Rank> = ranks.iter().filter(itself).map(|rank| rank.rank).collect();
    while let Some(rank) = new.pop() {
        if found.insert(rank)
            && let Some(rank) = ranks.iter().find(|other| other.rank == rank)
        {
            new.extend(waited_for(rank, ranks, counts));
        }
    }
    found
}

/// Returns the ranks that a rank waits for if it is in a call, or polls.
fn waited_for(rank: &RankState, ranks: &[RankState], counts: &Counts<'_>) -> Vec<Rank> {
    let me = rank.rank;
    if position(rank) == RankPosition::Stopped {
        return Vec::new();
    }
    let operations = rank
        .threads
        .iter()
        .flat_map(|thread| match &thread.activity {
            Activity::Waits { operations, .. } => &operations[..],
            _ => &[],
        });
    let mut found = Vec::new();
    for operation in operations {
        match operation {
            Operation::Receive(receive) => match receive.partner {
                Partner::Rank(from) if counts.left(from, me) <= 0 => found.push(from),
                Partner::Any if counts.left_in_all(me) == 0 => {
                    let known = receive
                        .communicator
                        .and_then(|key| rank.communicators.get(&key));
                    let members = known.and_then(|known| known.members.as_ref());
                    found.extend(members.into_iter().flat_map(Members::iter));
                }
                _ => (),
            },
            Operation::Send(sent) => match sent.partner {
                // A rank that has received it is no longer waited for.
                Partner::Rank(to) if counts.left(me, to) >= 0 => found.push(to),
                _ => (),
            },
            Operation::Collective(collective) => found.extend(missing(collective, ranks)),
            Operation::Unknown => (),
        }
    }
    found.retain(|&other| other != me);
    found
}

/// Returns the members that have not begun a collective.
fn missing(collective: &Collective, ranks: &[RankState]) -> Vec<Rank> {
    let Some(key) = collective.communicator else {
        return Vec::new();
    };
    let is_missing = |rank: &&RankState| {
        let known = rank.communicators.get(&key);
        known.is_some_and(|known| known.done <= collective.number)
    };
    ranks
        .iter()
        .filter(is_missing)
        .map(|rank| rank.rank)
        .collect()
}
