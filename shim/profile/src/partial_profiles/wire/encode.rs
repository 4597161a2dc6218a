//! Writing a partial profile.

use super::{Sink, Tag};
use crate::partial_profiles::{Kind, Span};
use treepie_collective::{Operation, PlanRun, Record, Volume};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::Access;

/// What calls that are counted together have in common, beside their group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Alike<'a> {
    /// The collective.
    pub operation: Operation,
    /// The root, as a rank of the communicator.
    pub root: Option<u32>,
    /// Class of the bytes of one call.
    pub size_class: u8,
    /// The plan that ran them; `None` for the native collective.
    pub plan: Option<&'a PlanRun>,
}

/// Writes one partial profile.
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

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.put(text.as_bytes());
    }

    pub(crate) fn plain_number(&mut self, value: u64) {
        self.number(value);
    }

    /// The writing rank: process of the launcher's world, rank of the application's world, host,
    /// allowed cores as Linux lists them, and nanoseconds since the job's start. The first item of
    /// a partial profile.
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

    /// Fields before the volume of a record of a collective.
    fn collective(&mut self, of: Alike<'_>, calls: u64, group: &[u32]) {
        self.tag(Tag::Collective);
        self.number(of.operation as u64);
        self.number(of.root.map_or(0, |root| u64::from(root) + 1));
        self.number(u64::from(of.size_class));
        self.number(u64::from(of.plan.is_some()));
        if let Some(plan) = of.plan {
            self.text(&plan.algorithm);
            self.number(plan.segment);
            self.number(plan.unit_bytes);
            self.number(u64::from(plan.ordered));
        }
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

    /// A record whose ranks have the same volume.
    pub fn uniform(&mut self, of: Alike<'_>, calls: u64, group: &[u32], bytes: u64) {
        self.collective(of, calls, group);
        self.number(0);
        self.number(bytes);
    }

    /// A record with one volume for each rank.
    pub fn per_rank(&mut self, of: Alike<'_>, calls: u64, group: &[u32], bytes: &[u64]) {
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
        of: Alike<'_>,
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
        let of = Alike {
            operation: record.operation,
            root: record.root,
            size_class: record.size_class,
            plan: record.plan.as_ref(),
        };
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

    /// The open phase: all that was counted and is in no other phase is its.
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

    /// A window: how many the same ranks made before, and its ranks in the application's world.
    pub fn window(&mut self, number: u32, group: &[u32]) {
        self.tag(Tag::Window);
        self.number(u64::from(number));
        self.group(group);
    }

    /// Calls on the window that was written as the `place`-th, from 0, and the intervals between
    /// synchronisations in which there were some.
    pub fn access(&mut self, place: u32, access: &Access, traffic: Traffic, intervals: u32) {
        self.tag(Tag::Access);
        for number in [
            place,
            access.epoch as u32,
            access.call as u32,
            u32::from(access.is_contiguous),
            u32::from(access.size_class),
            access.target,
        ] {
            self.number(u64::from(number));
        }
        self.number(traffic.messages);
        self.number(traffic.bytes);
        self.number(u64::from(intervals));
    }

    /// The end of the partial profile.
    pub fn end(&mut self) {
        self.tag(Tag::End);
    }
}

/// Small numbers for small differences, whichever their sign.
fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}
