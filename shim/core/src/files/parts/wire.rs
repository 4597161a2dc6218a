//! A part as bytes: items, each a tag and numbers in LEB128, seven bits a byte,
//! the lowest first. Nothing is allocated on the way out.

use std::collections::BTreeMap;

use super::{Kind, Records};
use crate::affinity::Traffic;
use crate::affinity::collective::{Operation, Record, Volume};
use crate::affinity::times::{CallClass, CallTime};

/// Where encoded bytes go.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// FNV-1a: a file that was cut off or changed is told
/// from a whole one. Not meant against malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Takes the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// What stands before an item.
#[derive(Clone, Copy)]
enum Tag {
    End,
    Rank,
    Counted,
    TakenBack,
    Collective,
    Phase,
    OpenPhase,
    SharedMemory,
    Time,
}

impl Tag {
    const ALL: [Tag; 9] = [
        Tag::End,
        Tag::Rank,
        Tag::Counted,
        Tag::TakenBack,
        Tag::Collective,
        Tag::Phase,
        Tag::OpenPhase,
        Tag::SharedMemory,
        Tag::Time,
    ];
}

/// When a phase was, on one rank, in nanoseconds since the job's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// When it first began.
    pub start: u64,
    /// When it last ended.
    pub end: u64,
    /// How long it lasted, all its times together.
    pub length: u64,
}

impl Span {
    /// Adds another time of the same phase.
    pub fn extend(&mut self, other: Span) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.length = self.length.saturating_add(other.length);
    }
}

/// Writes one part.
pub struct Encoder<'a, S: Sink>(&'a mut S);

impl<'a, S: Sink> Encoder<'a, S> {
    /// An encoder that writes to `sink`.
    pub fn new(sink: &'a mut S) -> Self {
        Encoder(sink)
    }

    fn number(&mut self, mut value: u64) {
        let mut bytes = [0; 10];
        let mut length = 0;
        loop {
            bytes[length] = value as u8 & 0x7f;
            value >>= 7;
            if value == 0 {
                break;
            }
            bytes[length] |= 0x80;
            length += 1;
        }
        self.0.put(&bytes[..=length]);
    }

    fn tag(&mut self, tag: Tag) {
        self.number(tag as u64);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.put(text.as_bytes());
    }

    pub(super) fn plain_number(&mut self, value: u64) {
        self.number(value);
    }

    /// Who writes: process of the launcher's world, rank of the application's
    /// world, host, allowed cores as Linux lists them, and nanoseconds since the
    /// job's start. The first item of a part.
    pub fn rank(&mut self, process: u32, rank: u32, host: &str, cores: &str, elapsed: u64) {
        self.tag(Tag::Rank);
        self.number(u64::from(process));
        self.number(u64::from(rank));
        self.text(host);
        self.text(cores);
        self.number(elapsed);
    }

    /// Messages to or from a partner. Several items of the same add up.
    pub fn counted(&mut self, kind: Kind, partner: u32, traffic: Traffic) {
        self.tag(Tag::Counted);
        self.messages(kind, partner, traffic);
    }

    /// Messages that were counted and then cancelled.
    pub fn taken_back(&mut self, kind: Kind, partner: u32, traffic: Traffic) {
        self.tag(Tag::TakenBack);
        self.messages(kind, partner, traffic);
    }

    fn messages(&mut self, kind: Kind, partner: u32, traffic: Traffic) {
        self.number(kind as u64);
        self.number(u64::from(partner));
        self.number(traffic.messages);
        self.number(traffic.bytes);
    }

    /// What stands before the volume of a record of a collective.
    fn collective(&mut self, of: (Operation, Option<u32>, u8), calls: u64, group: &[u32]) {
        let (operation, root, size_class) = of;
        self.tag(Tag::Collective);
        self.number(operation as u64);
        self.number(root.map_or(0, |root| u64::from(root) + 1));
        self.number(u64::from(size_class));
        self.number(calls);
        self.group(group);
    }

    fn group(&mut self, group: &[u32]) {
        self.number(group.len() as u64);
        // Most groups are runs of neighbouring ranks: differences are small.
        let mut last = 0;
        for &rank in group {
            self.number(zigzag(i64::from(rank) - last));
            last = i64::from(rank);
        }
    }

    /// A record whose ranks have the same volume; operation, root and size class
    /// are `of`.
    pub fn uniform(
        &mut self,
        of: (Operation, Option<u32>, u8),
        calls: u64,
        group: &[u32],
        bytes: u64,
    ) {
        self.collective(of, calls, group);
        self.number(0);
        self.number(bytes);
    }

    /// A record with one volume for each rank.
    pub fn per_rank(
        &mut self,
        of: (Operation, Option<u32>, u8),
        calls: u64,
        group: &[u32],
        bytes: &[u64],
    ) {
        self.collective(of, calls, group);
        self.number(1);
        self.number(bytes.len() as u64);
        for &bytes in bytes {
            self.number(bytes);
        }
    }

    /// A record with one volume for each pair: from, to, bytes, messages.
    pub fn pairs(
        &mut self,
        of: (Operation, Option<u32>, u8),
        calls: u64,
        group: &[u32],
        pairs: impl ExactSizeIterator<Item = (u32, u32, u64, u64)>,
    ) {
        self.collective(of, calls, group);
        self.number(2);
        self.number(pairs.len() as u64);
        for (from, to, bytes, messages) in pairs {
            self.number(u64::from(from));
            self.number(u64::from(to));
            self.number(bytes);
            self.number(messages);
        }
    }

    /// A record, whichever volume it has.
    pub fn record(&mut self, record: &Record) {
        let of = (record.operation, record.root, record.size_class);
        let (calls, group) = (record.calls, &record.group);
        match &record.volume {
            Volume::Uniform(bytes) => self.uniform(of, calls, group, *bytes),
            Volume::PerRank(bytes) => self.per_rank(of, calls, group, bytes),
            Volume::Pairs(pairs) => self.pairs(of, calls, group, pairs.iter().copied()),
        }
    }

    /// A phase that is over: what was counted in it follows, until the next
    /// phase. With `left_out` its counts are not part of the profile.
    pub fn phase(&mut self, name: &str, span: Span, left_out: bool) {
        self.tag(Tag::Phase);
        self.phase_head(name, span, left_out);
    }

    /// The phase that goes on: all that was counted and is in no other phase is
    /// its.
    pub fn open_phase(&mut self, name: &str, span: Span, left_out: bool) {
        self.tag(Tag::OpenPhase);
        self.phase_head(name, span, left_out);
    }

    fn phase_head(&mut self, name: &str, span: Span, left_out: bool) {
        self.text(name);
        self.number(span.start);
        self.number(span.end);
        self.number(span.length);
        self.number(u64::from(left_out));
    }

    /// World ranks that share memory.
    pub fn shared_memory(&mut self, group: &[u32]) {
        self.tag(Tag::SharedMemory);
        self.group(group);
    }

    /// Calls of a class and the time in them.
    pub fn time(&mut self, class: CallClass, time: CallTime) {
        self.tag(Tag::Time);
        self.number(class as u64);
        self.number(time.calls);
        self.number(time.nanoseconds);
    }

    /// The end of the part.
    pub fn end(&mut self) {
        self.tag(Tag::End);
    }
}

/// Small numbers for small differences, whichever their sign.
fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// What was counted in one phase on one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it was.
    pub span: Span,
    /// Its counts are not part of the profile.
    pub left_out: bool,
    /// Messages by kind and partner.
    pub counted: BTreeMap<(Kind, u32), Traffic>,
    /// Collectives.
    pub collectives: Records,
}

/// One rank's part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Its process in the launcher's world.
    pub process: u32,
    /// Its rank in the application's world.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// The cores it may run on, as Linux lists them: `0-3,8`.
    pub allowed_cores: String,
    /// Nanoseconds from the job's start until this was written.
    pub elapsed: u64,
    /// What it counted, by kind and partner.
    pub counted: BTreeMap<(Kind, u32), Traffic>,
    /// The collectives that it reports.
    pub collectives: Records,
    /// The phases that are over.
    pub phases: Vec<Phase>,
    /// The phase that went on; its counts are empty here.
    pub open_phase: Option<Phase>,
    /// Groups of world ranks that share memory.
    pub shared_memory: Vec<Vec<u32>>,
    /// Calls and the time in them, if that was measured.
    pub times: BTreeMap<CallClass, CallTime>,
}

/// The parts that stand one after the other in `bytes`; `None`, and no more after
/// it, where they do not.
pub fn decode_all(bytes: &[u8]) -> impl Iterator<Item = Option<Part>> {
    let mut decoder = Some(Decoder(bytes));
    std::iter::from_fn(move || {
        let rest = decoder.as_mut().filter(|rest| !rest.0.is_empty())?;
        let part = rest.part();
        if part.is_none() {
            decoder = None;
        }
        Some(part)
    })
}

/// Reads what [`Encoder`] wrote; `None` where it ends too early or makes no sense.
pub(super) struct Decoder<'a>(pub(super) &'a [u8]);

impl Decoder<'_> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| each(self)).collect()
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        let mut last = 0i64;
        self.list(|d| {
            let coded = d.number()?;
            let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
            last = last.checked_add(difference)?;
            u32::try_from(last).ok()
        })
    }

    fn traffic(&mut self) -> Option<((Kind, u32), Traffic)> {
        let kind = Kind::from_number(self.number()?)?;
        let partner = self.small()?;
        let (messages, bytes) = (self.number()?, self.number()?);
        Some(((kind, partner), Traffic { messages, bytes }))
    }

    fn record(&mut self) -> Option<Record> {
        Some(Record {
            operation: {
                let number = self.number()?;
                Operation::all().find(|&known| known as u64 == number)?
            },
            root: match self.number()?.checked_sub(1) {
                Some(root) => Some(u32::try_from(root).ok()?),
                None => None,
            },
            size_class: u8::try_from(self.number()?).ok()?,
            calls: self.number()?,
            group: self.group()?,
            volume: match self.number()? {
                0 => Volume::Uniform(self.number()?),
                1 => Volume::PerRank(self.list(Self::number)?),
                2 => Volume::Pairs(
                    self.list(|d| Some((d.small()?, d.small()?, d.number()?, d.number()?)))?,
                ),
                _ => return None,
            },
        })
    }

    fn phase(&mut self) -> Option<Phase> {
        Some(Phase {
            name: self.text()?,
            span: Span {
                start: self.number()?,
                end: self.number()?,
                length: self.number()?,
            },
            left_out: self.number()? != 0,
            ..Phase::default()
        })
    }

    /// The next part.
    pub(super) fn part(&mut self) -> Option<Part> {
        let mut part = Part::default();
        loop {
            let number = self.number()?;
            match Tag::ALL.into_iter().find(|&tag| tag as u64 == number)? {
                Tag::End => break,
                Tag::Rank => {
                    part.process = self.small()?;
                    part.rank = self.small()?;
                    part.host = self.text()?;
                    part.allowed_cores = self.text()?;
                    part.elapsed = self.number()?;
                }
                Tag::Counted => {
                    let (key, traffic) = self.traffic()?;
                    let counted = match part.phases.last_mut() {
                        Some(phase) => &mut phase.counted,
                        None => &mut part.counted,
                    };
                    *counted.entry(key).or_default() += traffic;
                }
                Tag::TakenBack => {
                    let (key, traffic) = self.traffic()?;
                    if let Some(sum) = part.counted.get_mut(&key) {
                        *sum = less(*sum, traffic);
                    }
                }
                Tag::Collective => {
                    let record = self.record()?;
                    match part.phases.last_mut() {
                        Some(phase) => phase.collectives.add(record),
                        None => part.collectives.add(record),
                    }
                }
                Tag::Phase => {
                    let phase = self.phase()?;
                    part.phases.push(phase);
                }
                Tag::OpenPhase => part.open_phase = Some(self.phase()?),
                Tag::SharedMemory => {
                    let group = self.group()?;
                    part.shared_memory.push(group);
                }
                Tag::Time => {
                    let number = self.number()?;
                    let class = CallClass::ALL
                        .into_iter()
                        .find(|&class| class as u64 == number)?;
                    let (calls, nanoseconds) = (self.number()?, self.number()?);
                    *part.times.entry(class).or_default() += CallTime { calls, nanoseconds };
                }
            }
        }
        Some(part)
    }
}

/// `from` without `what`; not below nothing.
pub(super) fn less(from: Traffic, what: Traffic) -> Traffic {
    Traffic {
        messages: from.messages.saturating_sub(what.messages),
        bytes: from.bytes.saturating_sub(what.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(operation: Operation, root: Option<u32>, volume: Volume) -> Record {
        Record {
            operation,
            group: vec![2, 0, 1],
            root,
            size_class: 7,
            calls: 3,
            volume,
        }
    }

    fn encoded(process: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        encoder.rank(process, 3 - process, "node-ä", "0-3,8", 1 << 40);
        encoder.counted(Kind::Got, 1, Traffic::new(2, u64::MAX));
        encoder.counted(Kind::Put, 70_000, Traffic::new(2, 20));
        encoder.taken_back(Kind::Put, 70_000, Traffic::new(1, 5));
        encoder.record(&record(Operation::Bcast, Some(0), Volume::Uniform(64)));
        encoder.record(&record(
            Operation::Allgatherv,
            None,
            Volume::PerRank(vec![1, 2, 3]),
        ));
        encoder.record(&record(
            Operation::Alltoallv,
            None,
            Volume::Pairs(vec![(0, 1, 9, 1)]),
        ));
        encoder.shared_memory(&[0, 1]);
        let time = CallTime {
            calls: 2,
            nanoseconds: 300,
        };
        encoder.time(CallClass::Wait, time);
        let span = Span {
            start: 1,
            end: 9,
            length: 5,
        };
        encoder.phase("2", span, false);
        encoder.counted(Kind::Put, 70_000, Traffic::new(1, 10));
        encoder.open_phase("1", span, true);
        encoder.end();
        bytes
    }

    #[test]
    fn parts_put_one_after_the_other_are_read_as_they_were() {
        let bytes = [encoded(0), encoded(1)].concat();
        let parts: Vec<Part> = decode_all(&bytes).flatten().collect();
        assert_eq!(parts.len(), 2);
        let part = &parts[1];
        assert_eq!((part.process, part.rank), (1, 2));
        assert_eq!(
            (&*part.host, &*part.allowed_cores, part.elapsed),
            ("node-ä", "0-3,8", 1 << 40)
        );
        let expected = [
            ((Kind::Put, 70_000), Traffic::new(1, 15)),
            ((Kind::Got, 1), Traffic::new(2, u64::MAX)),
        ];
        assert_eq!(part.counted, expected.into());
        assert_eq!(part.collectives.clone().into_vec().len(), 3);
        assert_eq!(part.shared_memory, [[0, 1]]);
        assert_eq!(part.times[&CallClass::Wait].nanoseconds, 300);
        assert_eq!(part.phases[0].name, "2");
        let in_phase = part.phases[0].counted[&(Kind::Put, 70_000)];
        assert_eq!(in_phase, Traffic::new(1, 10));
        assert!(part.open_phase.as_ref().is_some_and(|open| open.left_out));
    }

    #[test]
    fn records_are_read_as_they_were_with_every_kind_of_volume() {
        let part = decode_all(&encoded(0)).next().flatten();
        let records = part.map(|part| part.collectives.into_vec());
        let expected = vec![
            record(Operation::Bcast, Some(0), Volume::Uniform(64)),
            record(Operation::Allgatherv, None, Volume::PerRank(vec![1, 2, 3])),
            record(
                Operation::Alltoallv,
                None,
                Volume::Pairs(vec![(0, 1, 9, 1)]),
            ),
        ];
        assert_eq!(records, Some(expected));
    }

    #[test]
    fn bytes_that_end_too_early_are_refused() {
        let bytes = encoded(0);
        for length in 1..bytes.len() {
            let read: Vec<_> = decode_all(&bytes[..length]).collect();
            assert_eq!(read, [None], "{length} bytes");
        }
    }

    #[test]
    fn a_number_that_is_too_long_is_refused() {
        assert_eq!(Decoder(&[0xff; 12]).number(), None);
        assert_eq!(
            Decoder(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).number(),
            Some(u64::MAX)
        );
    }
}
