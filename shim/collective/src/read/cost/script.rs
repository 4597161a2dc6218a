//! Script of one rank for the simulation of its time: the reading of a description that remembers
//! only outstanding messages.

use crate::algorithms::algorithm::{Algorithm, Description, Symmetry};
use crate::plan::range::{Range, Space};
use crate::problem::Problem;
use crate::steps::{Flow, Steps};
use std::collections::BTreeMap;

/// Next action of a rank.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move {
    /// Sends a message of `bytes` bytes, possibly after an earlier one is complete.
    Send {
        to: u32,
        bytes: u64,
        is_after_another: bool,
    },
    /// Waits for a message, by its place among those that the rank receives.
    Await(u32),
    /// Waits until its last message has left.
    Settle,
    /// Combines or copies this number of bytes, in one or several steps.
    Compute(u64),
}

/// Part of a rank's messages that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// The first messages of each rank, this many.
    First(usize),
    /// One in this many messages of each rank.
    Every(usize),
}

/// Meaning of steps that are written as one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneByOne {
    /// The next message is sent when the last one has left.
    Sends,
    /// In addition, the message of the same step must have arrived, as in `MPI_Sendrecv`: it comes
    /// from the rank as far before as the receiver is after.
    Exchanges,
}

/// Part and form in which descriptions are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadingMode {
    pub part: Part,
    pub one_by_one: OneByOne,
    /// True if [`Script::told`] is read.
    pub told: bool,
}

/// Message that a rank sends, even if the move is not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentMessage {
    pub to: u32,
    pub bytes: u64,
    pub is_after_another: bool,
}

/// Script of one rank.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub moves: Vec<Move>,
    /// All messages that it sends, if they are read.
    pub told: Vec<SentMessage>,
    /// Sender of each received message, and the number of earlier messages from it.
    pub senders: Vec<(u32, u32)>,
    sends: usize,
    hands_on: bool,
}

impl Script {
    /// Reads the script of `rank`.
    pub fn read(description: &Description, flow: Flow, rank: usize, how: ReadingMode) -> Script {
        let mut reader = Reader {
            flow,
            part: how.part,
            in_turn: how.one_by_one == OneByOne::Exchanges,
            rank,
            heard: vec![0; description.problem().ranks()],
            is_told: how.told,
            written: 0,
            script: Script::default(),
            coming: Coming::default(),
            signals: Vec::new(),
            has_awaited: false,
            is_last_received: false,
            is_after_another: false,
        };
        description.read(rank, &mut reader);
        reader.fence();
        reader.end();
        reader.script
    }

    /// Number of messages that the rank sends, including those that are not read.
    pub fn sends(&self) -> usize {
        self.sends
    }

    /// True if it sends data that it has received, or that depends on received data.
    pub(crate) fn hands_on(&self) -> bool {
        self.hands_on
    }

    /// True if the rank sends what it has received, to one rank or to two alternately.
    pub fn alternates(&self) -> bool {
        let receivers: Vec<u32> = self.sent().map(|(to, _)| to).collect();
        let mut pairs = receivers.iter().zip(receivers.iter().skip(2));
        self.hands_on && pairs.all(|(one, next)| one == next)
    }

    /// True if the rank sends what it has received, always to one rank.
    pub fn is_of_ring(&self) -> bool {
        let mut receivers = self.sent().map(|(to, _)| to);
        let first = receivers.next();
        self.hands_on && receivers.all(|to| Some(to) == first)
    }

    /// Progress of the first messages that are read, each by its bytes.
    pub fn progress(&self, messages: usize) -> f64 {
        self.sent()
            .take(messages)
            .map(|(_, bytes)| bytes as f64 + 1.0)
            .sum()
    }

    /// Bytes that it combines or copies.
    pub fn computed(&self) -> u64 {
        let bytes = self.moves.iter().map(|one| match one {
            Move::Compute(bytes) => *bytes,
            _ => 0,
        });
        bytes.sum()
    }

    /// Receivers and bytes of the messages that are read.
    pub fn sent(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.moves.iter().filter_map(|one| match one {
            Move::Send { to, bytes, .. } => Some((*to, *bytes)),
            _ => None,
        })
    }
}

/// Scripts of all ranks.
pub(super) struct Scripts {
    ranks: usize,
    alike: Symmetry,
    /// Scripts of the ranks that are read.
    scripts: Vec<Script>,
}

impl Scripts {
    pub fn read(algorithm: &Algorithm, problem: &Problem, flow: Flow, how: ReadingMode) -> Self {
        let (ranks, alike) = (problem.ranks(), algorithm.alike(problem));
        let description = algorithm.describe(problem);
        let read = |rank| Script::read(&description, flow, rank, how);
        Scripts {
            ranks,
            alike,
            scripts: (0..alike.read(ranks)).map(read).collect(),
        }
    }

    pub fn ranks(&self) -> usize {
        self.ranks
    }

    pub fn of(&self, rank: usize) -> &Script {
        &self.scripts[rank % self.scripts.len()]
    }

    /// Rank that `peer` denotes in the script for `rank`.
    pub fn peer(&self, rank: usize, peer: u32) -> usize {
        self.alike.peer(rank, peer as usize, self.ranks)
    }

    /// Scripts that are read, each with its ranks.
    pub(crate) fn read_ones(&self) -> impl Iterator<Item = (&Script, impl Iterator<Item = usize>)> {
        let ranks = |first| (first..self.ranks).step_by(self.scripts.len());
        let scripts = self.scripts.iter().enumerate();
        scripts.map(move |(first, script)| (script, ranks(first)))
    }

    /// Peer that denotes rank `actual` in the script for `rank`.
    pub(crate) fn read_as(&self, rank: usize, actual: usize) -> usize {
        self.alike.read_as(rank, actual, self.ranks)
    }
}

/// Messages that a rank receives, by destination range.
#[derive(Default)]
struct Coming {
    /// Length and place of each, by its space and start.
    at: BTreeMap<(Space, u64, u32), u64>,
    longest: u64,
}

impl Coming {
    fn add(&mut self, into: Range, place: u32) {
        self.longest = self.longest.max(into.length);
        self.at.insert((into.space, into.start, place), into.length);
    }

    /// Removes those that overlap a range, and returns their places.
    fn take(&mut self, range: Range) -> Vec<u32> {
        if self.at.is_empty() {
            return Vec::new();
        }
        let end = (range.space, range.start + range.length, 0);
        let start = (range.space, range.start.saturating_sub(self.longest), 0);
        let near = self.at.range(start..end);
        let near = near.filter(|&(&(_, start, _), &length)| start + length > range.start);
        let found: Vec<(Space, u64, u32)> = near.map(|(&key, _)| key).collect();
        for key in &found {
            self.at.remove(key);
        }
        by_place(found)
    }

    fn take_all(&mut self) -> Vec<u32> {
        by_place(std::mem::take(&mut self.at).into_keys().collect())
    }
}

fn by_place(keys: Vec<(Space, u64, u32)>) -> Vec<u32> {
    let mut places: Vec<u32> = keys.into_iter().map(|(.., place)| place).collect();
    places.sort_unstable();
    places
}

/// Reader of one rank.
struct Reader {
    flow: Flow,
    part: Part,
    in_turn: bool,
    rank: usize,
    /// Number of messages from each rank.
    heard: Vec<u32>,
    /// True if all messages that the rank sends are read.
    is_told: bool,
    /// Units of scratch in use.
    written: u64,
    script: Script,
    /// Messages that are received but not needed yet.
    coming: Coming,
    /// Synchronization messages that the next fence waits for.
    signals: Vec<u32>,
    /// True if a wait for a step's data has occurred.
    has_awaited: bool,
    /// True if the last written step is a receive.
    is_last_received: bool,
    /// True if the next step waits for the last message that was sent.
    is_after_another: bool,
}

impl Reader {
    /// Waits for the outstanding messages in a range that the next step needs.
    fn needs(&mut self, range: Range) {
        // Data that is sent directly to its receiver does not wait.
        let is_straight = matches!(self.part, Part::Every(_));
        if range.space == Space::Input || is_straight || self.is_over() {
            return;
        }
        let needed = self.coming.take(range);
        self.has_awaited |= !needed.is_empty();
        self.script
            .moves
            .extend(needed.into_iter().map(Move::Await));
    }

    fn compute(&mut self, bytes: u64) {
        match self.script.moves.last_mut() {
            Some(Move::Compute(before)) => *before += bytes,
            _ => self.script.moves.push(Move::Compute(bytes)),
        }
    }

    /// Ends the call: waits for all outstanding messages.
    fn end(&mut self) {
        if !matches!(self.part, Part::Every(_)) {
            let rest = self.coming.take_all();
            self.script.moves.extend(rest.into_iter().map(Move::Await));
        }
    }

    fn is_read(&self) -> bool {
        match self.part {
            Part::All => true,
            Part::First(most) => self.script.sends < most,
            Part::Every(one_of) => self.script.sends.is_multiple_of(one_of),
        }
    }

    fn comes(&mut self, from: usize) -> u32 {
        self.script.senders.push((from as u32, self.heard[from]));
        self.heard[from] += 1;
        self.script.senders.len() as u32 - 1
    }
}

impl Steps for Reader {
    fn flow(&self) -> Flow {
        self.flow
    }

    fn scratch(&mut self, length: u64) -> Range {
        let start = self.written;
        self.written += length;
        Range {
            space: Space::Scratch,
            start,
            length,
        }
    }

    fn send_segment(&mut self, to: usize, data: Range) {
        if to == self.rank {
            return;
        }
        self.needs(data);
        self.script.hands_on |= self.has_awaited;
        let (to, bytes, is_after_another) = (to as u32, data.length, self.is_after_another);
        if self.is_read() {
            self.script.moves.push(Move::Send {
                to,
                bytes,
                is_after_another,
            });
        }
        if self.is_told {
            self.script.told.push(SentMessage {
                to,
                bytes,
                is_after_another,
            });
        }
        self.script.sends += 1;
        self.is_last_received = false;
    }

    fn receive_segment(&mut self, from: usize, into: Range) {
        if from != self.rank && !self.is_over() {
            let place = self.comes(from);
            self.coming.add(into, place);
            self.is_last_received = true;
        }
    }

    fn reduce_segment(&mut self, left: Range, right: Range) {
        self.needs(left);
        self.needs(right);
        self.compute(left.length);
    }

    fn copy_segment(&mut self, from: Range, _into: Range) {
        self.needs(from);
        self.compute(from.length);
    }

    fn await_signal(&mut self, from: usize) {
        let place = self.comes(from);
        self.signals.push(place);
    }

    fn fence(&mut self) {
        self.is_after_another &= self.signals.is_empty();
        let signals = self.signals.drain(..).map(Move::Await);
        self.script.moves.extend(signals);
    }

    fn is_over(&self) -> bool {
        matches!(self.part, Part::First(most) if self.script.sends >= most)
    }

    fn one_by_one(&mut self) {
        self.is_after_another = !self.is_last_received && self.script.sends > 0;
        let moves = &mut self.script.moves;
        if self.is_last_received {
            let last = self
                .script
                .senders
                .len()
                .checked_sub(1)
                .map(|place| place as u32);
            moves.extend(last.map(Move::Await));
        } else if self.in_turn
            && let Some(Move::Send { to, .. }) = moves.last()
        {
            let ranks = self.heard.len();
            let from = (2 * self.rank + ranks - *to as usize) % ranks;
            let mut senders = self.script.senders.iter();
            let place = senders.position(|&(sender, _)| sender as usize == from);
            moves.extend(place.map(|place| Move::Await(place as u32)));
        }
        let moves = &mut self.script.moves;
        if !matches!(moves.last(), Some(Move::Settle)) {
            moves.push(Move::Settle);
        }
    }
}
