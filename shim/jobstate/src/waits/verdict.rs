//! Ranks that can never continue, and the reason.
//!
//! Ranks that continue without others are released; then, repeatedly, those whose clauses all have
//! a released rank. The remaining ranks wait for ever: for each other, or for a dead process.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::job::{Job, Motion};
use super::key::Key;
use super::messages::Unreceived;
use super::needs::CollectivePosition;
use super::state::{Activity, Collective, Life, Operation, Thread};
use treepie_base::{List, Rank, Slice};

/// Kind of the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Ranks wait for each other.
    Deadlock,
    /// Ranks wait for dead processes.
    Gone,
    /// Ranks wait for processes that are stopped.
    Stopped,
    /// All ranks are in `MPI_Finalize`.
    Finalizing,
    /// No rank made a call; ranks wait for some that are not in MPI, or whose state is unknown.
    Waits,
    /// Ranks make calls.
    Moves,
}

/// Ranks that a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// Its rank.
    pub rank: Rank,
    /// Index among the threads of the rank.
    pub thread: usize,
    /// Clauses, each of which must have a rank that continues.
    pub clauses: Vec<Vec<Rank>>,
}

/// Ranks that are in the same call of a collective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Their call.
    pub call: Collective,
    /// True if it has returned.
    pub passed: bool,
    /// The ranks.
    pub ranks: Vec<Rank>,
}

/// Collective that not all members take part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The communicator.
    pub communicator: Key,
    /// Number of the collective on it, from 0.
    pub number: u64,
    /// Ranks in each call; more than one side if ranks do not agree.
    pub sides: Vec<Side>,
    /// Members that have not reached it.
    pub missing: Vec<Rank>,
}

impl Mismatch {
    /// Returns the ranks of all sides. A rank whose threads are in several calls is on several
    /// sides, and returned once.
    pub fn ranks(&self) -> Vec<Rank> {
        let sides = self.sides.iter().flat_map(|side| &side.ranks);
        let ranks: BTreeSet<Rank> = sides.copied().collect();
        ranks.into_iter().collect()
    }
}

/// Verdict on a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Kind of the verdict.
    pub kind: VerdictKind,
    /// True if it is certain: none of its ranks polls, since a polling one may take another action
    /// next.
    pub certain: bool,
    /// Ranks that cannot continue.
    pub stuck: Vec<Rank>,
    /// Some of them that wait for each other in a cycle, each for the next.
    pub cycle: Vec<Rank>,
    /// Ranks that wait for those of the cycle and that those wait for: others only wait behind
    /// them.
    pub knot: Vec<Rank>,
    /// Ranks that others wait for and that wait for none.
    pub roots: Vec<Rank>,
    /// Unknown ranks.
    pub unknown: Vec<Rank>,
    /// Waits of threads.
    pub waits: Vec<Wait>,
    /// Collectives that not all members take part in.
    pub mismatches: Vec<Mismatch>,
    /// Messages that were sent and not received.
    pub unreceived: Vec<Unreceived>,
}

/// Determines why a job does not continue.
pub fn verdict(job: &Job) -> Verdict {
    let waits = waits(job);
    let among_the_living = |polls| stuck(job, &waits, Assumed { polls, dead: true });
    let (mut certain, mut left) = (true, among_the_living(true));
    if left.is_empty() {
        left = among_the_living(false);
        certain = left.is_empty();
    }
    let mut kind = VerdictKind::Deadlock;
    if left.is_empty() {
        left = stuck(
            job,
            &waits,
            Assumed {
                polls: true,
                dead: false,
            },
        );
        kind = match () {
            () if has_life(job, Life::Gone) => VerdictKind::Gone,
            () if has_life(job, Life::Stopped) => VerdictKind::Stopped,
            () if job.stands_still() && job.is_finalizing() => VerdictKind::Finalizing,
            () if job.stands_still() => VerdictKind::Waits,
            () => VerdictKind::Moves,
        };
    }
    let cycle = match kind {
        VerdictKind::Deadlock => cycle(&waits, &left),
        _ => Vec::new(),
    };
    let mut verdict = Verdict {
        kind,
        certain,
        knot: knot(&waits, &left, &cycle),
        cycle,
        roots: Vec::new(),
        unknown: job.unknown(),
        mismatches: mismatches(job),
        unreceived: Vec::new(),
        stuck: left.into_iter().collect(),
        waits,
    };
    verdict.roots = roots(job, &verdict);
    if verdict.kind != VerdictKind::Moves {
        verdict.unreceived = job.all_unreceived();
    }
    verdict
}

fn has_life(job: &Job, life: Life) -> bool {
    job.ranks.values().any(|seen| seen.state.life == life)
}

/// Returns the waits of all threads that have clauses.
fn waits(job: &Job) -> Vec<Wait> {
    let mut waits = Vec::new();
    for (&rank, seen) in &job.ranks {
        for (place, (thread, motion)) in seen.threads().enumerate() {
            let clauses = job.clauses(rank, thread, motion);
            if !clauses.is_empty() {
                waits.push(Wait {
                    rank,
                    thread: place,
                    clauses,
                });
            }
        }
    }
    waits
}

/// Ranks that are assumed to continue without others.
#[derive(Clone, Copy)]
struct Assumed {
    /// True for those that poll.
    polls: bool,
    /// True for those that are dead or stopped.
    dead: bool,
}

/// Returns the ranks that are not released.
fn stuck(job: &Job, waits: &[Wait], goes: Assumed) -> BTreeSet<Rank> {
    let mut goes_on: List<Rank, _> = vec![true; job.size].into();
    for (&rank, seen) in &job.ranks {
        let alone = match seen.lives() {
            true => job.goes_on(rank, goes.polls),
            false => goes.dead,
        };
        if let Some(mark) = goes_on.get_mut(rank) {
            *mark = alone;
        }
    }
    let released = |wait: &Wait, goes_on: &Slice<Rank, bool>| {
        let goes = |&rank: &Rank| goes_on.get(rank).copied().unwrap_or(true);
        wait.clauses.iter().all(|clause| clause.iter().any(goes))
    };
    loop {
        let mut more = false;
        for wait in waits {
            let lives = job.ranks.get(&wait.rank).is_some_and(|seen| seen.lives());
            if lives && !goes_on[wait.rank] && released(wait, &goes_on) {
                goes_on[wait.rank] = true;
                more = true;
            }
        }
        if !more {
            break;
        }
    }
    let known = job.ranks.keys().copied();
    known.filter(|&rank| !goes_on[rank]).collect()
}

/// Returns the ranks that a stuck rank waits for and that are stuck, too.
fn targets<'a>(
    waits: &'a [Wait],
    stuck: &'a BTreeSet<Rank>,
    rank: Rank,
) -> impl Iterator<Item = Rank> + 'a {
    let own = waits.iter().filter(move |wait| wait.rank == rank);
    let all = own.flat_map(|wait| wait.clauses.iter().flatten().copied());
    all.filter(|target| stuck.contains(target))
}

/// Returns a shortest cycle among stuck ranks: from each, the shortest path back to it. If there
/// are many ranks, only the first few are tried: any cycle will do.
fn cycle(waits: &[Wait], stuck: &BTreeSet<Rank>) -> Vec<Rank> {
    const TRIED: usize = 64;
    let ways = stuck
        .iter()
        .take(TRIED)
        .filter_map(|&start| way_back(waits, stuck, start));
    if let Some(shortest) = ways.min_by_key(Vec::len) {
        return shortest;
    }
    let others = stuck.iter().skip(TRIED);
    others
        .filter_map(|&start| way_back(waits, stuck, start))
        .next()
        .unwrap_or_default()
}

/// Returns the ranks that wait for those of the cycle, directly or not, and that those wait for.
fn knot(waits: &[Wait], stuck: &BTreeSet<Rank>, cycle: &[Rank]) -> Vec<Rank> {
    let mut before: BTreeMap<Rank, Vec<Rank>> = BTreeMap::new();
    for &rank in stuck {
        for target in targets(waits, stuck, rank) {
            before.entry(target).or_default().push(rank);
        }
    }
    let after = reached(cycle, |rank| targets(waits, stuck, rank).collect());
    let before = reached(cycle, |rank| before.get(&rank).cloned().unwrap_or_default());
    after.intersection(&before).copied().collect()
}

/// Returns the ranks that are reached from some of these, themselves included.
fn reached(start: &[Rank], next: impl Fn(Rank) -> Vec<Rank>) -> BTreeSet<Rank> {
    let mut found: BTreeSet<Rank> = start.iter().copied().collect();
    let mut front = start.to_vec();
    while let Some(rank) = front.pop() {
        front.extend(next(rank).into_iter().filter(|&rank| found.insert(rank)));
    }
    found
}

fn way_back(waits: &[Wait], stuck: &BTreeSet<Rank>, start: Rank) -> Option<Vec<Rank>> {
    let mut came_from = BTreeMap::new();
    let mut front = vec![start];
    while !front.is_empty() {
        let mut next = Vec::new();
        for rank in front {
            for target in targets(waits, stuck, rank) {
                if target == start {
                    let mut way = vec![rank];
                    while let Some(&before) = came_from.get(way.last()?) {
                        way.push(before);
                    }
                    way.reverse();
                    return Some(way);
                }
                if let std::collections::btree_map::Entry::Vacant(entry) = came_from.entry(target) {
                    entry.insert(rank);
                    next.push(target);
                }
            }
        }
        front = next;
    }
    None
}

/// Returns the ranks that others ultimately wait for, and that wait for none.
fn roots(job: &Job, verdict: &Verdict) -> Vec<Rank> {
    let dead = |life| {
        let ranks = job
            .ranks
            .values()
            .filter(move |seen| seen.state.life == life);
        ranks.map(|seen| seen.state.rank).collect()
    };
    match verdict.kind {
        VerdictKind::Gone => return dead(Life::Gone),
        VerdictKind::Stopped => return dead(Life::Stopped),
        _ => (),
    }
    let waiting: BTreeSet<Rank> = verdict.waits.iter().map(|wait| wait.rank).collect();
    let all = verdict
        .waits
        .iter()
        .flat_map(|wait| wait.clauses.iter().flatten());
    let roots: BTreeSet<Rank> = all
        .copied()
        .filter(|rank| !waiting.contains(rank))
        .collect();
    roots.into_iter().collect()
}

/// Returns the collectives in which ranks are still and that not all members take part in.
fn mismatches(job: &Job) -> Vec<Mismatch> {
    let mut calls: BTreeMap<(Key, u64), Vec<Side>> = BTreeMap::new();
    let mut first: BTreeMap<(Key, u64), Rank> = BTreeMap::new();
    for (&rank, seen) in &job.ranks {
        let still = seen
            .threads()
            .filter(|(_, motion)| *motion == Motion::Still);
        for call in still.flat_map(|(thread, _)| collectives(thread)) {
            let Some(key) = call.communicator else {
                continue;
            };
            let sides = calls.entry((key, call.number)).or_default();
            first.entry((key, call.number)).or_insert(rank);
            add_side(sides, call, rank, false);
        }
    }
    let mut found = Vec::new();
    for ((communicator, number), mut sides) in calls {
        let Some(&member) = first.get(&(communicator, number)) else {
            continue;
        };
        let Some(call) = sides.first().map(|side| side.call.clone()) else {
            continue;
        };
        let mut missing = Vec::new();
        for rank in job.missing(member, &call) {
            match job.at(rank, &call) {
                CollectivePosition::Behind => missing.push(rank),
                CollectivePosition::Elsewhere(other) => add_side(&mut sides, other, rank, true),
                CollectivePosition::There(_) | CollectivePosition::Beyond => (),
            }
        }
        if sides.len() > 1 || !missing.is_empty() {
            found.push(Mismatch {
                communicator,
                number,
                sides,
                missing,
            });
        }
    }
    found
}

fn add_side(sides: &mut Vec<Side>, call: &Collective, rank: Rank, passed: bool) {
    let same = |side: &&mut Side| side.call.agrees(call) && side.passed == passed;
    match sides.iter_mut().find(same) {
        // Two threads of a rank may be in the same call.
        Some(side) if side.ranks.contains(&rank) => (),
        Some(side) => side.ranks.push(rank),
        None => sides.push(Side {
            call: call.clone(),
            passed,
            ranks: vec![rank],
        }),
    }
}

/// Returns the collectives that a thread waits for.
fn collectives(thread: &Thread) -> impl Iterator<Item = &Collective> {
    let operations = match &thread.activity {
        Activity::Waits { operations, .. } if thread.inside => &operations[..],
        _ => &[],
    };
    operations.iter().filter_map(|operation| match operation {
        Operation::Collective(collective) => Some(collective),
        _ => None,
    })
}
