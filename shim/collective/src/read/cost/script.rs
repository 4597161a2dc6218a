//! What one rank does, as far as time goes: the reading of a description that has no memory but
//! what is still to come.

use crate::algorithms::algorithm::{Algorithm, Alike, Description};
use crate::plan::range::{Range, Space};
use crate::problem::Problem;
use crate::steps::{Flow, Steps};
use std::collections::BTreeMap;

/// What a rank does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move {
    /// Sends a message of so many bytes, perhaps after an earlier one is complete.
    Send {
        to: u32,
        bytes: u64,
        is_after_another: bool,
    },
    /// Waits for a message, by its place among those that the rank receives.
    Await(u32),
    /// Waits until what it has sent last has left.
    Settle,
    /// Combines or copies so many bytes, in one or several steps.
    Compute(u64),
}

/// Which of a rank's messages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// The first that each rank sends.
    First(usize),
    /// One of so many that each rank sends.
    Every(usize),
}

/// How steps are read that are written to go one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneByOne {
    /// The next message is sent when the last one has left.
    Sends,
    /// And when the message that came in the same step is there, too: `MPI_Sendrecv`. It comes from
    /// the rank as far before as the one sent goes further.
    Exchanges,
}

/// What of descriptions is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub part: Part,
    pub one_by_one: OneByOne,
    /// Whether [`Script::told`] is.
    pub told: bool,
}

/// A message that a rank sends, whether the move is read or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub to: u32,
    pub bytes: u64,
    pub is_after_another: bool,
}

/// One rank.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub moves: Vec<Move>,
    /// All messages that it sends, if they are read.
    pub told: Vec<Told>,
    /// Who sends what the rank receives, and how many messages came from there before.
    pub senders: Vec<(u32, u32)>,
    sends: usize,
    hands_on: bool,
}

impl Script {
    /// The script of `rank`.
    pub fn read(description: &Description, flow: Flow, rank: usize, how: How) -> Script {
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

    /// How many messages the rank sends, those that are not read among them.
    pub fn sends(&self) -> usize {
        self.sends
    }

    /// Whether it sends what it has received, or made of it.
    pub(crate) fn hands_on(&self) -> bool {
        self.hands_on
    }

    /// Progress that the first messages which are read make, each by its bytes.
    pub fn progress(&self, messages: usize) -> f64 {
        self.sent()
            .take(messages)
            .map(|(_, bytes)| bytes as f64 + 1.0)
            .sum()
    }

    /// Receivers and bytes of the messages that are read.
    pub fn sent(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.moves.iter().filter_map(|one| match one {
            Move::Send { to, bytes, .. } => Some((*to, *bytes)),
            _ => None,
        })
    }
}

/// All ranks.
pub(super) struct Scripts {
    ranks: usize,
    alike: Alike,
    /// Those of the ranks that are read.
    scripts: Vec<Script>,
}

impl Scripts {
    pub fn read(algorithm: &Algorithm, problem: &Problem, flow: Flow, how: How) -> Self {
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

    /// The rank that another's script means by `peer`.
    pub fn peer(&self, rank: usize, peer: u32) -> usize {
        self.alike.peer(rank, peer as usize, self.ranks)
    }

    /// The scripts that are read, each with its ranks.
    pub(crate) fn read_ones(&self) -> impl Iterator<Item = (&Script, impl Iterator<Item = usize>)> {
        let ranks = |first| (first..self.ranks).step_by(self.scripts.len());
        let scripts = self.scripts.iter().enumerate();
        scripts.map(move |(first, script)| (script, ranks(first)))
    }

    /// By what peer another's script means rank `actual`.
    pub(crate) fn read_as(&self, rank: usize, actual: usize) -> usize {
        self.alike.read_as(rank, actual, self.ranks)
    }
}

/// Messages that a rank receives, by where they go.
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

    /// Takes out those that a range overlaps, by place.
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

/// Reads one rank.
struct Reader {
    flow: Flow,
    part: Part,
    in_turn: bool,
    rank: usize,
    /// How many messages come from each rank.
    heard: Vec<u32>,
    /// Whether all messages are read that the rank sends.
    is_told: bool,
    /// Units of scratch in use.
    written: u64,
    script: Script,
    /// Received and not needed yet.
    coming: Coming,
    /// Synchronization messages that the next fence waits for.
    signals: Vec<u32>,
    /// Whether anything was waited for that a step needs.
    has_awaited: bool,
    /// Whether the step written last is a receive.
    is_last_received: bool,
    /// Whether what comes next waits for the message sent last.
    is_after_another: bool,
}

impl Reader {
    /// What comes next needs a range: it waits for what of it has yet to come.
    fn needs(&mut self, range: Range) {
        // Of what goes straight to its receiver, nothing waits for anything.
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

    /// A call ends when all has come.
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
            self.script.told.push(Told {
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
