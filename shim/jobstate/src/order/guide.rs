//! Guide of a replay: returns the recorded results, and detects differences from the recorded run.

use std::collections::VecDeque;

use thiserror::Error;

use super::call::{Call, Outcome, message};
use super::entry::Entry;
use super::log::{Ended, Entries, Log};
use super::record::Progress;

/// Number of events before the different one that are shown.
const MOST_BEFORE: usize = 8;

/// Way in which a receive with a wildcard is posted in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posting {
    /// From this source; with this tag if any tag matches.
    Matched {
        /// The source in the communicator.
        source: i32,
        /// The tag.
        tag: Option<i32>,
    },
    /// Not at all: it was cancelled.
    Cancelled,
    /// Unchanged: it matched nothing.
    Unmatched,
    /// Unchanged: the recorded run had ended early before.
    Beyond,
}

/// The replay differs from the recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "event {event}: the program has taken another way than in the recorded run\n  \
     recorded: {recorded}\n  now:      {now}\n  before:   {}",
    self.before.join("; ")
)]
pub struct Diverged {
    /// Number of earlier receives posted, and calls that found something.
    pub event: u64,
    /// Recorded event.
    pub recorded: String,
    /// Event in the replay.
    pub now: String,
    /// Last events before, in order.
    pub before: Vec<String>,
}

/// Guide of one rank through a replay.
#[derive(Debug)]
pub struct Guide {
    ended: Ended,
    matches: Matches,
    outcomes: Outcomes,
    checks: Entries,
    progress: Progress,
    /// Number of polls that are still to find nothing.
    nothing: u64,
    before: VecDeque<(Call, Recent)>,
}

/// Recent event.
#[derive(Debug, Clone)]
enum Recent {
    Posted(Posting),
    Found(Outcome),
}

impl Guide {
    /// Creates a guide through this log.
    pub fn new(log: &Log) -> Guide {
        Guide {
            ended: log.ended(),
            matches: Matches::new(log),
            outcomes: Outcomes(log.entries()),
            checks: log.entries(),
            progress: Progress::default(),
            nothing: 0,
            before: VecDeque::new(),
        }
    }

    /// Returns the way in which a receive with a wildcard is posted.
    ///
    /// # Errors
    /// The recorded run posted none.
    pub fn post(&mut self, call: &Call) -> Result<Posting, Diverged> {
        let number = self.progress.posted;
        let posting = match (self.matches.next(), self.ended) {
            (Some(posting), _) => posting,
            (None, Ended::Well(totals)) if number >= totals.posted => {
                return Err(self.diverged("no further receive with a wildcard", call));
            }
            (None, Ended::Early) if self.matches.is_over() => Posting::Beyond,
            (None, _) => Posting::Unmatched,
        };
        self.progress.posted += 1;
        self.progress.called(call);
        self.count(call, Recent::Posted(posting))?;
        Ok(posting)
    }

    /// Returns the recorded result of a call; `None` if the recorded run had ended early before.
    ///
    /// # Errors
    /// The recorded run made another call.
    pub fn find(&mut self, call: &Call) -> Result<Option<Outcome>, Diverged> {
        if self.nothing > 0 && call.kind.may_find(&Outcome::Nothing) {
            self.nothing -= 1;
            self.progress.called(call);
            return Ok(Some(Outcome::Nothing));
        }
        if self.nothing > 0 {
            let polls = format!("{} more polls that found nothing", self.nothing);
            return Err(self.diverged(&polls, call));
        }
        let outcome = match (self.outcomes.next(), self.ended) {
            (Some(Entry::Nothing(polls)), _) => {
                self.nothing = polls;
                // A run has at least one poll; numbers in a damaged file must not cause a loop.
                return match polls {
                    0 => Err(self.diverged("no poll", call)),
                    _ => self.find(call),
                };
            }
            (Some(Entry::Found(outcome)), _) => outcome,
            (Some(_), _) | (None, Ended::Well(_)) => {
                return Err(self.diverged("no further call that finds something", call));
            }
            (None, Ended::Early) => return Ok(None),
        };
        if !call.kind.may_find(&outcome) || !fits(call, &outcome) {
            let found = format!("a call that found {outcome}");
            return Err(self.diverged(&found, call));
        }
        self.progress.called(call);
        self.count(call, Recent::Found(outcome.clone()))?;
        Ok(Some(outcome))
    }

    /// Checks the end of the replay at `MPI_Finalize`.
    ///
    /// # Errors
    /// The recorded run continued.
    pub fn end(&mut self) -> Result<(), Diverged> {
        let Ended::Well(totals) = self.ended else {
            return Ok(());
        };
        let own = self.progress.totals();
        if own == totals {
            return Ok(());
        }
        let missing = totals.events.saturating_sub(own.events);
        let recorded = match missing {
            0 => "other calls, or on other communicators, or of other counts".to_owned(),
            missing => format!("{missing} more events"),
        };
        Err(self.diverged_by(&recorded, "MPI_Finalize".to_owned()))
    }

    /// Returns the message about a call that waits in vain for its recorded result.
    pub fn stuck(&self, call: &Call, seconds: u64) -> Diverged {
        let last = self.before.back().map(|(_, recent)| describe(recent));
        let recorded = last.unwrap_or_else(|| "nothing".to_owned());
        self.diverged_by(&recorded, format!("{call} waits since {seconds} s"))
    }

    fn count(&mut self, call: &Call, recent: Recent) -> Result<(), Diverged> {
        if let Some(sum) = self.progress.counts() {
            let check = self.checks.by_ref().find_map(|entry| match entry {
                Ok(Entry::Check(sum)) => Some(sum),
                _ => None,
            });
            if check.is_some_and(|recorded| recorded != sum) {
                let recorded = "other calls, or on other communicators, or of other counts, among \
                                the last 1024 events";
                return Err(self.diverged(recorded, call));
            }
        }
        if self.before.len() == MOST_BEFORE {
            self.before.pop_front();
        }
        self.before.push_back((*call, recent));
        Ok(())
    }

    fn diverged(&self, recorded: &str, call: &Call) -> Diverged {
        self.diverged_by(recorded, call.to_string())
    }

    fn diverged_by(&self, recorded: &str, now: String) -> Diverged {
        let event = |(call, recent): &(Call, Recent)| format!("{call}: {}", describe(recent));
        let mut before: Vec<String> = self.before.iter().map(event).collect();
        if before.is_empty() {
            before.push("nothing".to_owned());
        }
        Diverged {
            event: self.progress.events,
            recorded: recorded.to_owned(),
            now,
            before,
        }
    }
}

/// True if the requests of a result are among those of the call.
fn fits(call: &Call, outcome: &Outcome) -> bool {
    let there = |index: &u32| u64::from(*index) < call.count;
    match outcome {
        Outcome::Index(index) => there(index),
        Outcome::Indices(indices) => !indices.is_empty() && indices.iter().all(there),
        _ => true,
    }
}

fn describe(recent: &Recent) -> String {
    match recent {
        Recent::Posted(Posting::Matched { source, tag }) => message(*source, *tag),
        Recent::Posted(Posting::Cancelled) => "cancelled".to_owned(),
        Recent::Posted(Posting::Unmatched | Posting::Beyond) => "no message".to_owned(),
        Recent::Found(outcome) => outcome.to_string(),
    }
}

/// Matches of receives, in posting order. Entries are in the order of completion: those of later
/// receives are kept until their turn.
#[derive(Debug)]
pub(super) struct Matches {
    entries: Entries,
    /// Number of the next receive.
    first: u64,
    /// Known results of it and of later ones.
    known: VecDeque<Option<Posting>>,
    /// Number of known results.
    filled: usize,
    /// Numbers of receives without a known result.
    unknown: Numbers,
    over: bool,
}

impl Matches {
    pub fn new(log: &Log) -> Matches {
        Matches {
            entries: log.entries(),
            first: 0,
            known: VecDeque::new(),
            filled: 0,
            unknown: Numbers::default(),
            over: false,
        }
    }

    /// True if no result of any further receive is known.
    pub fn is_over(&self) -> bool {
        self.over && self.filled == 0
    }

    /// Returns the match of the next receive, if it is known.
    pub fn next(&mut self) -> Option<Posting> {
        while !self.over && !matches!(self.known.front(), Some(Some(_))) {
            match self.entries.next() {
                Some(Ok(Entry::Match { place, source, tag })) => {
                    self.learn(place, Posting::Matched { source, tag });
                }
                Some(Ok(Entry::Cancelled { place })) => self.learn(place, Posting::Cancelled),
                Some(Ok(_)) => (),
                Some(Err(_)) | None => self.over = true,
            }
        }
        self.first += 1;
        let posting = self.known.pop_front().flatten();
        self.filled -= usize::from(posting.is_some());
        posting
    }

    /// Sets the match of the receive at this index among those without a known result.
    fn learn(&mut self, place: u64, posting: Posting) {
        // No log has that many; a damaged one must not exhaust memory.
        let Some(place) = usize::try_from(place)
            .ok()
            .filter(|&place| place < MOST_UNKNOWN)
        else {
            self.over = true;
            return;
        };
        while self.unknown.length <= place {
            self.unknown.push(self.first + self.known.len() as u64);
            self.known.push_back(None);
        }
        let number = self.unknown.remove(place);
        let at = number.and_then(|number| number.checked_sub(self.first));
        if let Some(known) = at.and_then(|at| self.known.get_mut(at as usize)) {
            self.filled += usize::from(known.replace(posting).is_none());
        }
    }
}

/// Maximum number of receives that are active together: they take 64 MiB.
const MOST_UNKNOWN: usize = 1 << 21;

/// Increasing numbers, in blocks: a removal moves only those of its block.
#[derive(Debug, Default)]
struct Numbers {
    blocks: VecDeque<Vec<u64>>,
    length: usize,
}

impl Numbers {
    /// Size of a block.
    const BLOCK: usize = 2048;

    fn push(&mut self, number: u64) {
        match self.blocks.back_mut() {
            Some(last) if last.len() < Self::BLOCK => last.push(number),
            _ => self.blocks.push_back(vec![number]),
        }
        self.length += 1;
    }

    /// Removes the number at an index; `None` beyond the last.
    fn remove(&mut self, mut place: usize) -> Option<u64> {
        for (at, block) in self.blocks.iter_mut().enumerate() {
            if let Some(behind) = place.checked_sub(block.len()) {
                place = behind;
                continue;
            }
            let number = block.remove(place);
            if block.is_empty() {
                self.blocks.remove(at);
            }
            self.length -= 1;
            return Some(number);
        }
        None
    }
}

/// Results of calls in their order, from the entries with results.
#[derive(Debug)]
pub(super) struct Outcomes(pub Entries);

impl Iterator for Outcomes {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.0.by_ref().find_map(|entry| match entry {
            Ok(entry @ (Entry::Nothing(_) | Entry::Found(_))) => Some(entry),
            _ => None,
        })
    }
}
