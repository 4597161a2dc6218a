//! Reading of a page. Every number may have any value: the writer continues meanwhile, or was
//! killed.

use std::collections::BTreeMap;

use super::layout::{
    ABORTS, AREAS_AT, CHANNEL, CHANNELS, CHANNELS_AT, CHANNELS_HEAD, COMMUNICATORS,
    COMMUNICATORS_AT, EXITS, MAGIC, MEMBERS, MEMBERS_AT, NUMBER_SHIFT, THREADS, UNKNOWN, VERSION,
    WORDS, area, communicator, header, unpack,
};
use super::page::{Page, PageError};
use super::procedure::Procedure;
use crate::waits::{
    Channel, Channels, Collective, Communicator, End, Key, Life, Members, RankState, Stop,
};
use treepie_base::Rank;
use treepie_base::budget::draw;
use treepie_base::printable::one_line;

/// Maximum number of ranks of a job: a verdict takes 64 MiB for their numbers.
const MOST_RANKS: u64 = 1 << 23;

/// Decodes the bytes of a page, which do not show whether its process is alive.
///
/// # Errors
/// Bytes that are not a page, of another layout, cut off, or damaged.
pub fn decode(bytes: &[u8]) -> Result<Page, PageError> {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .take(WORDS)
        .map(|eight| u64::from_ne_bytes(eight.try_into().unwrap_or_default()))
        .collect();
    if words.first() != Some(&MAGIC) {
        return Err(PageError::NoPage);
    }
    let found = words.get(header::VERSION).copied().unwrap_or(0);
    if found != VERSION {
        return Err(PageError::Version { found });
    }
    let names = words.get(header::NAMES).copied().unwrap_or(0);
    let expected = WORDS.saturating_mul(8).saturating_add(names as usize);
    if bytes.len() < expected {
        let found = bytes.len();
        return Err(PageError::Short { found, expected });
    }
    let damaged = |what, found| Err(PageError::Damaged { what, found });
    if words[header::WORDS] != WORDS as u64 {
        return damaged("length", words[header::WORDS]);
    }
    let (ranks, rank) = (words[header::RANKS], words[header::RANK]);
    if ranks == 0 || ranks > MOST_RANKS {
        return damaged("number of ranks", ranks);
    }
    if rank >= ranks {
        return damaged("rank", rank);
    }
    let names = String::from_utf8_lossy(&bytes[WORDS * 8..expected]);
    let reader = Reader::new(&words, &names, ranks as usize);
    Ok(Page {
        run: words[header::RUN],
        given: words[header::GIVEN],
        ranks: ranks as usize,
        started: words[header::STARTED],
        program: reader.text(header::PROGRAM),
        state: reader.rank(Rank(rank as usize)),
    })
}

/// Reader of the words of a page.
pub(super) struct Reader<'a> {
    words: &'a [u64],
    procedures: Vec<Procedure<'a>>,
    ranks: usize,
    /// Communicators by handle.
    handles: BTreeMap<u64, Key>,
    pub(super) communicators: BTreeMap<Key, Communicator>,
}

impl<'a> Reader<'a> {
    fn new(words: &'a [u64], names: &'a str, ranks: usize) -> Self {
        let line = |line: &'a str| {
            let (name, role) = line.split_once(' ').unwrap_or((line, ""));
            Procedure { name, role }
        };
        let mut reader = Reader {
            words,
            procedures: names.lines().map(line).collect(),
            ranks,
            handles: BTreeMap::new(),
            communicators: BTreeMap::new(),
        };
        for number in 0..COMMUNICATORS {
            reader.read_communicator(COMMUNICATORS_AT + number * communicator::LENGTH);
        }
        reader
    }

    pub(super) fn get(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    fn text(&self, at: usize) -> String {
        let bytes: Vec<u8> = (at..at + header::TEXT)
            .flat_map(|at| self.get(at).to_ne_bytes())
            .take_while(|&byte| byte != 0)
            .collect();
        one_line(&String::from_utf8_lossy(&bytes))
    }

    fn rank(&self, rank: Rank) -> RankState {
        let end = match self.get(header::END) {
            0 => None,
            ABORTS => Some(End::Aborts),
            EXITS => Some(End::Exits),
            signal => Some(End::Signal(signal as i32)),
        };
        let areas = (0..THREADS).map(|number| AREAS_AT + number * area::LENGTH);
        let threads = areas.filter(|&at| self.get(at + area::THREAD) != 0);
        RankState {
            rank,
            host: self.text(header::HOST),
            process: self.get(header::PROCESS) as u32,
            life: Life::Runs,
            end,
            tick: self.get(header::TICK),
            threads: threads.map(|at| self.thread(at)).collect(),
            more_threads: self.get(header::MORE_THREADS),
            communicators: self.communicators.clone(),
            incomplete: self.incomplete(),
            channels: self.channels(),
            stop: self.stop(),
        }
    }

    /// Returns the state of the rank at a cut, if it may be stopped.
    fn stop(&self) -> Option<Stop> {
        (self.get(header::STOPS) == 1).then(|| Stop {
            stopped: self.get(header::STOPPED) != 0,
            receives: self.get(header::RECEIVES),
            collectives: self.get(header::COLLECTIVES),
            refused: self.refused(),
            ended: self.get(header::ENDED) != 0,
        })
    }

    /// Returns the rank's action that a cut cannot include.
    fn refused(&self) -> Option<String> {
        let areas = (0..THREADS).map(|number| AREAS_AT + number * area::LENGTH);
        let threads = areas.filter(|at| self.get(at + area::THREAD) != 0).count();
        let windows = self.get(header::WINDOWS);
        let procedure = self.get(header::REFUSED).checked_sub(1);
        match () {
            () if procedure.is_some() => {
                let procedure = procedure.and_then(|number| self.procedure(number));
                let name = procedure.map_or("an unknown procedure", |procedure| procedure.name);
                Some(format!("has called {name}"))
            }
            () if windows == 1 => Some("has 1 window (one-sided)".to_owned()),
            () if windows > 1 => Some(format!("has {windows} windows (one-sided)")),
            () if threads > 1 || self.get(header::MORE_THREADS) > 0 => {
                Some("calls MPI from several threads".to_owned())
            }
            () if self.get(header::MORE_COMMUNICATORS) > 0 => {
                Some(format!("has more than {COMMUNICATORS} communicators"))
            }
            () if self.get(CHANNELS_AT + 1) == UNKNOWN => {
                Some(format!("has more than {CHANNELS} partners"))
            }
            () => None,
        }
    }

    fn read_communicator(&mut self, at: usize) {
        let handle = self.get(at + communicator::HANDLE);
        if handle == 0 {
            return;
        }
        let size = self.get(at + communicator::SIZE) as usize;
        let key = self.get(at + communicator::KEY);
        let known = Communicator {
            members: self.members(at, size),
            size,
            inter: self.get(at + communicator::INTER) != 0,
            done: self.get(at + communicator::DONE),
            last: self.last_collectives(at, key),
        };
        self.handles.insert(self.handle(handle), key);
        self.communicators.insert(key, known);
    }

    /// Returns the latest completed collectives on a communicator.
    fn last_collectives(&self, at: usize, key: Key) -> Vec<Collective> {
        let done = self.get(at + communicator::DONE);
        let first = done.saturating_sub(communicator::MOST_LAST as u64);
        let last = (first..done).filter_map(|number| {
            let place = number as usize % communicator::MOST_LAST;
            let (root, procedure) = unpack(self.get(at + communicator::LAST + place));
            let procedure = self.procedure(procedure as u64)?;
            Some(Collective {
                communicator: Some(key),
                number,
                operation: procedure.operation(),
                root: procedure.has_root().then_some(root),
            })
        });
        last.collect()
    }

    /// Returns the members; `None` if one is unknown, or if all pages together list more than the
    /// memory limit allows.
    fn members(&self, at: usize, size: usize) -> Option<Members> {
        if size > self.ranks {
            return None;
        }
        let start = match self.get(at + communicator::MEMBERS) {
            UNKNOWN => return None,
            0 => {
                let first = self.get(at + communicator::FIRST);
                let stride = self.get(at + communicator::STRIDE);
                return Members::row(first, stride, size, self.ranks);
            }
            start => start as usize - 1,
        };
        draw("members", size, 2 * size_of::<Rank>()).ok()?;
        let member = |place: usize| {
            let word = start
                .checked_add(place / 2)
                .filter(|&word| word < MEMBERS)?;
            let member = self.get(MEMBERS_AT + word) >> (32 * (place % 2)) & 0xffff_ffff;
            ((member as usize) < self.ranks).then_some(Rank(member as usize))
        };
        (0..size).map(member).collect()
    }

    /// Removes the undefined bits.
    pub(super) fn handle(&self, word: u64) -> u64 {
        word & self.get(header::HANDLE_MASK)
    }

    pub(super) fn communicator(&self, word: u64) -> Option<Key> {
        self.handles.get(&self.handle(word)).copied()
    }

    pub(super) fn procedure(&self, number: u64) -> Option<&Procedure<'a>> {
        self.procedures.get(number as usize)
    }

    /// Returns the messages sent and received, if they were written since the last call.
    fn channels(&self) -> Option<Channels> {
        let areas = (0..THREADS).map(|number| AREAS_AT + number * area::LENGTH);
        let calls: u64 = areas
            .map(|at| self.get(at + area::CALL) >> NUMBER_SHIFT)
            .fold(0, u64::wrapping_add);
        let count = self.get(CHANNELS_AT + 1);
        if self.get(CHANNELS_AT) != calls || count > CHANNELS as u64 {
            return None;
        }
        let channel = |place: usize| {
            let at = CHANNELS_AT + CHANNELS_HEAD + place * CHANNEL;
            let channel = Channel {
                sent: self.get(at + 1),
                posted: self.get(at + 2),
                sent_bytes: self.get(at + 3),
                received: self.get(at + 4),
                received_bytes: self.get(at + 5),
            };
            (Rank(self.get(at) as usize), channel)
        };
        Some(Channels {
            with: (0..count as usize).map(channel).collect(),
            posted_any: self.get(CHANNELS_AT + 2),
        })
    }
}
