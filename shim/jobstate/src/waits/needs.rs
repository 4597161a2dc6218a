//! Ranks that a thread waits for, as clauses: it continues when each clause has a rank that
//! continues.

use super::job::{Job, Motion, ObservedRank};
use super::messages::Answer;
use super::state::{Activity, Collective, Envelope, Operation, Partner, Thread, Until};
use treepie_base::Rank;

/// Ranks of which one must continue.
pub(crate) type Clause = Vec<Rank>;

/// Condition of one operation.
enum Need {
    /// None that pages show.
    Nothing,
    /// All of these clauses.
    Certainly(Vec<Clause>),
    /// These clauses, if it is not complete yet.
    Maybe(Vec<Clause>),
}

impl Job {
    /// Returns the clauses of a thread: none if it continues without others, or if that is unknown.
    pub(super) fn clauses(&self, me: Rank, thread: &Thread, motion: Motion) -> Vec<Clause> {
        if motion == Motion::Moves || motion == Motion::Still && !thread.inside {
            return Vec::new();
        }
        match &thread.activity {
            Activity::Outside | Activity::InCall => Vec::new(),
            Activity::Finalizes => self.not_finalizing().map(|rank| vec![rank]).collect(),
            Activity::Waits {
                operations,
                until,
                begun,
            } => {
                let alone = operations.len() == 1;
                let needs = operations.iter();
                let needs = needs.map(|operation| self.need(me, operation, *begun, alone));
                let needs: Vec<Need> = needs.collect();
                match until {
                    Until::All => all_of(needs),
                    Until::Any => any_of(needs),
                }
            }
        }
    }

    /// Returns the known ranks that are not in `MPI_Finalize`.
    fn not_finalizing(&self) -> impl Iterator<Item = Rank> {
        let ranks = self.ranks.values();
        let others = ranks.filter(|seen| !seen.finalizes());
        others.map(|seen| seen.state.rank)
    }

    /// Returns the condition of an operation that was begun by an earlier call, or that the call
    /// is, `alone` or with others.
    fn need(&self, me: Rank, operation: &Operation, begun: bool, alone: bool) -> Need {
        match operation {
            Operation::Receive(receive) => self.receive_needs(me, receive, begun),
            Operation::Send(sent) => self.send_needs(me, sent, begun, alone),
            Operation::Collective(collective) => {
                let missing = self.missing(me, collective);
                match missing.is_empty() {
                    true => Need::Nothing,
                    false => Need::Certainly(missing.into_iter().map(|rank| vec![rank]).collect()),
                }
            }
            Operation::Unknown => Need::Nothing,
        }
    }

    fn receive_needs(&self, me: Rank, receive: &Envelope, begun: bool) -> Need {
        match receive.partner {
            Partner::Rank(from) => {
                let clauses = vec![vec![from]];
                // The sends of a dead process are unknown; no more messages will come.
                let is_gone = self.ranks.get(&from).is_some_and(|seen| !seen.lives());
                let lacks = match begun {
                    true => self.lacks_a_message(from, me, receive),
                    false => match self.is_on_the_way(from, me, receive) {
                        Answer::Yes => Answer::No,
                        Answer::No => Answer::Yes,
                        Answer::Unknown => Answer::Unknown,
                    },
                };
                match lacks {
                    Answer::Yes => Need::Certainly(clauses),
                    Answer::Unknown if is_gone => Need::Certainly(clauses),
                    Answer::Unknown if begun => Need::Maybe(clauses),
                    _ => Need::Nothing,
                }
            }
            Partner::Any => {
                let Some(others) = self.known_others(me, receive) else {
                    return Need::Nothing;
                };
                let comes = |&from: &Rank| {
                    let lives = self.ranks.get(&from).is_none_or(ObservedRank::lives);
                    lives && self.is_on_the_way(from, me, receive) != Answer::No
                };
                match others.iter().any(comes) {
                    true => Need::Nothing,
                    false if begun => Need::Maybe(vec![others]),
                    false => Need::Certainly(vec![others]),
                }
            }
            Partner::Nobody | Partner::Unknown => Need::Nothing,
        }
    }

    /// Returns the members of a message's communicator except this rank; `None` if the state of one
    /// of them is unknown, since it may send a message.
    fn known_others(&self, me: Rank, message: &Envelope) -> Option<Vec<Rank>> {
        let own = &self.ranks.get(&me)?.state;
        let communicator = own.communicators.get(&message.communicator?)?;
        let members = communicator.members.as_ref()?;
        let mut known = members.known_in(&self.ranks);
        let are_all = known.len() == members.len();
        known.retain(|&member| member != me);
        are_all.then_some(known)
    }

    /// Returns the condition of a send: an active one waits for its receiver; one that was begun
    /// before, or that is half of a call, may be complete.
    fn send_needs(&self, me: Rank, sent: &Envelope, begun: bool, alone: bool) -> Need {
        let Partner::Rank(to) = sent.partner else {
            return Need::Nothing;
        };
        let clauses = vec![vec![to]];
        match () {
            () if self.receives_now(to, me, sent) => Need::Nothing,
            () if begun && self.all_are_received(me, to) => Need::Nothing,
            () if begun || !alone => Need::Maybe(clauses),
            () => Need::Certainly(clauses),
        }
    }

    /// Returns the members that have not reached a collective, or are in another one there.
    pub(super) fn missing(&self, me: Rank, collective: &Collective) -> Vec<Rank> {
        let own = self.ranks.get(&me).map(|seen| &seen.state);
        let Some(key) = collective.communicator else {
            return Vec::new();
        };
        let Some(known) = own.and_then(|own| own.communicators.get(&key)) else {
            return Vec::new();
        };
        let Some(members) = known.members.as_ref().filter(|_| !known.inter) else {
            return Vec::new();
        };
        let is_missing = |&member: &Rank| {
            member != me
                && match self.at(member, collective) {
                    CollectivePosition::Behind => true,
                    CollectivePosition::There(other) => !other.agrees(collective),
                    CollectivePosition::Elsewhere(_) => true,
                    CollectivePosition::Beyond => false,
                }
        };
        // No conclusion is drawn about others.
        let mut known = members.known_in(&self.ranks);
        known.retain(is_missing);
        known
    }

    /// Returns the position of a rank relative to a collective.
    pub(super) fn at(&self, rank: Rank, collective: &Collective) -> CollectivePosition<'_> {
        let (Some(seen), Some(key)) = (self.ranks.get(&rank), collective.communicator) else {
            return CollectivePosition::Beyond; // unknown, and no conclusion is drawn
        };
        let Some(known) = seen.state.communicators.get(&key) else {
            return CollectivePosition::Beyond; // it has freed it
        };
        if known.done > collective.number {
            let was = known
                .last
                .iter()
                .find(|other| other.number == collective.number);
            let differs = was.filter(|other| !other.agrees(collective));
            return differs.map_or(CollectivePosition::Beyond, CollectivePosition::Elsewhere);
        }
        let operations = seen
            .state
            .threads
            .iter()
            .flat_map(|thread| match &thread.activity {
                Activity::Waits { operations, .. } => &operations[..],
                _ => &[],
            });
        let mut there = operations.filter_map(|operation| match operation {
            Operation::Collective(other) => Some(other),
            _ => None,
        });
        let is_there = |other: &&Collective| {
            other.communicator == Some(key) && other.number == collective.number
        };
        there
            .find(is_there)
            .map_or(CollectivePosition::Behind, CollectivePosition::There)
    }

    /// True if a rank continues without others, or might, as far as is known. `polls`: polling
    /// ranks count as continuing.
    pub(super) fn goes_on(&self, rank: Rank, polls: bool) -> bool {
        let Some(seen) = self.ranks.get(&rank) else {
            return true;
        };
        if !seen.lives() {
            return false;
        }
        let goes_on = |(thread, motion): (&Thread, Motion)| match motion {
            Motion::Moves => true,
            Motion::Polls if polls => true,
            _ => self.clauses(rank, thread, motion).is_empty(),
        };
        let nobody = seen.state.threads.is_empty() || seen.state.more_threads > 0;
        nobody || seen.threads().any(goes_on)
    }
}

/// Position of a rank relative to a collective on one of its communicators.
pub(super) enum CollectivePosition<'a> {
    /// It has not reached the collective.
    Behind,
    /// It is in this collective.
    There(&'a Collective),
    /// It has completed another one instead.
    Elsewhere(&'a Collective),
    /// It has passed it, or its position is unknown.
    Beyond,
}

impl Collective {
    /// True if another rank's call is the same collective.
    pub fn agrees(&self, other: &Collective) -> bool {
        self.operation == other.operation && self.root == other.root
    }
}

/// Returns the clauses of a call that ends with all of its operations. Operations that may be
/// complete already count only if no others are left.
fn all_of(needs: Vec<Need>) -> Vec<Clause> {
    let (mut certain, mut maybe) = (Vec::new(), Vec::new());
    for need in needs {
        match need {
            Need::Nothing => (),
            Need::Certainly(clauses) => certain.extend(clauses),
            Need::Maybe(clauses) => maybe.extend(clauses.into_iter().flatten()),
        }
    }
    if certain.is_empty() && !maybe.is_empty() {
        certain.push(maybe);
    }
    certain
}

/// Returns the clause of a call that ends with one of its operations: none if one is in progress.
fn any_of(needs: Vec<Need>) -> Vec<Clause> {
    let mut together = Vec::new();
    for need in needs {
        match need {
            Need::Nothing => return Vec::new(),
            Need::Certainly(clauses) | Need::Maybe(clauses) => {
                together.extend(clauses.into_iter().flatten());
            }
        }
    }
    match together.is_empty() {
        true => Vec::new(),
        false => vec![together],
    }
}
