//! Reading of a page. Every number may have any value: the writer continues meanwhile, or was
//! killed.

use std::collections::BTreeMap;

use super::layout::{
    ABORTS, ABSENT, AREAS_AT, CHANNEL, CHANNELS, CHANNELS_AT, CHANNELS_HEAD, COMMUNICATORS,
    COMMUNICATORS_AT, EXITS, INSIDE, MAGIC, MEMBERS, MEMBERS_AT, NUMBER_SHIFT, REQUEST, REQUESTS,
    REQUESTS_AT, STARTED, THREADS, UNKNOWN, VERSION, WORDS, area, communicator, header,
    request_place, send_place, unpack,
};
use super::page::{Page, PageError};
use crate::waits::{
    Activity, Channel, Channels, Collective, Communicator, End, Envelope, Incomplete, Key, Life,
    Members, Operation, Partner, RankState, Stop, Thread, Until,
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

/// Procedure of the page's table.
struct Procedure<'a> {
    name: &'a str,
    role: &'a str,
}

impl Procedure<'_> {
    /// Returns its name without the prefix, and without the suffix of large-count variants.
    fn word(&self) -> &str {
        let name = self
            .name
            .trim_start_matches("MPIX_")
            .trim_start_matches("MPI_");
        name.strip_suffix("_c").unwrap_or(name)
    }

    fn is_poll(&self) -> bool {
        let word = self.word();
        word.starts_with("Test") || ["Iprobe", "Improbe", "Request_get_status"].contains(&word)
    }

    fn is_immediate(&self) -> bool {
        self.word().starts_with('I') && !self.word().starts_with("Intercomm")
    }

    /// Returns the operation of a collective: `Bcast` for `MPI_Bcast` and `MPI_Ibcast`.
    fn operation(&self) -> String {
        match self
            .role
            .strip_prefix("collective ")
            .or(self.role.strip_prefix("collective-init "))
        {
            Some(operation) => format!("MPI_{operation}"),
            None => format!("MPI_{}", self.word()),
        }
    }

    /// True if its request is persistent.
    fn is_prepared(&self) -> bool {
        self.word().ends_with("_init")
    }

    /// True if it is a collective on its communicator, which returns when it is complete.
    fn is_collective(&self) -> bool {
        let roles = ["collective", "neighbourhood", "makes"];
        let role = self.role.split(' ').next().unwrap_or_default();
        roles.contains(&role)
    }

    fn has_root(&self) -> bool {
        let rooted = [
            "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce",
        ];
        let operation = self.role.strip_prefix("collective ").unwrap_or_default();
        rooted.contains(&operation)
    }
}

struct Reader<'a> {
    words: &'a [u64],
    procedures: Vec<Procedure<'a>>,
    ranks: usize,
    /// Communicators by handle.
    handles: BTreeMap<u64, Key>,
    communicators: BTreeMap<Key, Communicator>,
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

    fn get(&self, at: usize) -> u64 {
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
    fn handle(&self, word: u64) -> u64 {
        word & self.get(header::HANDLE_MASK)
    }

    fn communicator(&self, word: u64) -> Option<Key> {
        self.handles.get(&self.handle(word)).copied()
    }

    fn procedure(&self, number: u64) -> Option<&Procedure<'a>> {
        self.procedures.get(number as usize)
    }

    fn envelope(&self, comm: u64, partner_and_tag: u64, elements: u64) -> Envelope {
        let (partner, tag) = unpack(partner_and_tag);
        let communicator = self.communicator(comm);
        let is = |at: usize, number: i32| self.get(at) as i32 == number;
        let member = || {
            let members = self.communicators.get(&communicator?)?.members.as_ref()?;
            members.get(usize::try_from(partner).ok()?)
        };
        let partner = match partner {
            partner if is(header::PROC_NULL, partner) => Partner::Nobody,
            partner if is(header::ANY_SOURCE, partner) => Partner::Any,
            _ => member().map_or(Partner::Unknown, Partner::Rank),
        };
        Envelope {
            communicator,
            partner,
            tag: (!is(header::ANY_TAG, tag) && tag != ABSENT).then_some(tag),
            elements,
        }
    }

    fn collective(&self, procedure: &Procedure<'_>, comm: u64, root: u64) -> Collective {
        let communicator = self.communicator(comm);
        let known = communicator.and_then(|key| self.communicators.get(&key));
        Collective {
            communicator,
            number: known.map_or(0, |known| known.done),
            operation: procedure.operation(),
            root: procedure.has_root().then(|| unpack(root).0),
        }
    }

    fn thread(&self, at: usize) -> Thread {
        let call = self.get(at + area::CALL);
        let procedure = self.procedure(call & (INSIDE - 1)).filter(|_| call != 0);
        let is_inside = call & INSIDE != 0;
        let activity = match procedure {
            Some(procedure) if is_inside || procedure.is_poll() => self.activity(procedure, at),
            _ if is_inside => Activity::InCall,
            _ => Activity::Outside,
        };
        let mut last_sends = self.last_sends(at);
        let mut sends = self.get(at + area::SENDS);
        // A send in progress has not been counted yet; its operation shows it.
        if is_inside && procedure.is_some_and(|procedure| procedure.role == "send") {
            sends = sends.saturating_sub(1);
            last_sends.pop();
        }
        let seen = self.get(at + area::SEEN);
        let still = seen >> NUMBER_SHIFT == call >> NUMBER_SHIFT;
        Thread {
            area: (at - AREAS_AT) / area::LENGTH,
            number: call >> NUMBER_SHIFT,
            polls: self.get(at + area::POLLS),
            procedure: procedure.map_or(String::new(), |procedure| procedure.name.to_owned()),
            is_poll: procedure.is_some_and(Procedure::is_poll),
            inside: is_inside,
            activity,
            since: if still { self.get(at + area::SINCE) } else { 0 },
            last_sends,
            sends,
        }
    }

    /// Returns the activity of a thread in a call of this procedure.
    fn activity(&self, procedure: &Procedure<'_>, at: usize) -> Activity {
        let comm = self.get(at + area::COMM);
        let sent = || self.send(at, self.get(at + area::SENDS));
        let received = || self.envelope(comm, self.get(at + area::SOURCE_TAG), 0);
        let all = |operations| Activity::Waits {
            operations,
            until: Until::All,
            begun: false,
        };
        match (
            procedure.role.split(' ').next().unwrap_or_default(),
            procedure.word(),
        ) {
            ("finalize", _) => Activity::Finalizes,
            (_, word) if word.starts_with("Sendrecv") => all(vec![
                Operation::Receive(received()),
                Operation::Send(sent()),
            ]),
            ("send", _) if !procedure.is_immediate() => all(vec![Operation::Send(sent())]),
            ("receive", "Recv" | "Probe" | "Mprobe" | "Iprobe" | "Improbe") => {
                all(vec![Operation::Receive(received())])
            }
            ("complete", word) => Activity::Waits {
                operations: self.asked(at),
                until: match word.ends_with("any") || word.ends_with("some") {
                    true => Until::Any,
                    false => Until::All,
                },
                begun: true,
            },
            _ if procedure.is_collective() && !procedure.is_immediate() => {
                let root = self.get(at + area::DEST);
                let collective = self.collective(procedure, comm, root);
                all(vec![Operation::Collective(collective)])
            }
            _ => Activity::InCall,
        }
    }

    /// Returns the operations of the requests of a thread's call.
    fn asked(&self, at: usize) -> Vec<Operation> {
        let count = self.get(at + area::ASKED) as usize;
        let null = self.handle(self.get(header::REQUEST_NULL));
        let listed = count.min(area::MOST_REQUESTS);
        let mut operations: Vec<Operation> = (0..listed)
            .map(|place| self.get(at + area::REQUESTS + place))
            .filter(|&request| self.handle(request) != null)
            .map(|request| self.request(request))
            .collect();
        if count > listed {
            operations.push(Operation::Unknown);
        }
        operations
    }

    /// Returns the operation of a request.
    fn request(&self, request: u64) -> Operation {
        let at = REQUESTS_AT + request_place(request) * REQUEST;
        let what = self.get(at + 1);
        let procedure = self.procedure(what & (INSIDE - 1));
        let Some(procedure) = procedure.filter(|_| self.get(at) == request) else {
            return Operation::Unknown;
        };
        let (comm, partner) = (self.get(at + 2), self.get(at + 3));
        match (procedure.role, procedure.word()) {
            ("receive" | "receive-init", _) => Operation::Receive(self.envelope(comm, partner, 0)),
            // Either half may be the incomplete one.
            (_, word) if word.starts_with("Isendrecv") => Operation::Unknown,
            ("send" | "send-init", _) => Operation::Send(self.envelope(comm, partner, 0)),
            _ if procedure.is_collective() => {
                let mut collective = self.collective(procedure, comm, partner);
                collective.number = what >> NUMBER_SHIFT;
                Operation::Collective(collective)
            }
            _ => Operation::Unknown,
        }
    }

    /// Returns the requests that a rank in `MPI_Finalize` has begun and not completed.
    fn incomplete(&self) -> Vec<Incomplete> {
        let finalizes = |at: usize| {
            let call = self.get(at + area::CALL);
            let procedure = self.procedure(call & (INSIDE - 1));
            call & INSIDE != 0 && procedure.is_some_and(|procedure| procedure.role == "finalize")
        };
        if !(0..THREADS).any(|number| finalizes(AREAS_AT + number * area::LENGTH)) {
            return Vec::new();
        }
        let places = (0..REQUESTS).map(|place| REQUESTS_AT + place * REQUEST);
        let incomplete = places.filter_map(|at| {
            let (request, what) = (self.get(at), self.get(at + 1));
            let procedure = self.procedure(what & (STARTED - 1))?;
            let is_begun = !procedure.is_prepared() || what & STARTED != 0;
            (request != 0 && is_begun).then(|| Incomplete {
                procedure: procedure.name.to_owned(),
                operation: self.request(request),
            })
        });
        incomplete.collect()
    }

    /// Returns the last sends, the latest last.
    fn last_sends(&self, at: usize) -> Vec<Envelope> {
        let sends = self.get(at + area::SENDS);
        let first = sends.saturating_sub(area::MOST_SENDS as u64) + 1;
        (first..=sends)
            .map(|number| self.send(at, number))
            .collect()
    }

    /// Returns the send with this number, one of the last.
    fn send(&self, at: usize, number: u64) -> Envelope {
        let at = at + send_place(number);
        self.envelope(self.get(at), self.get(at + 1), self.get(at + 2))
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
