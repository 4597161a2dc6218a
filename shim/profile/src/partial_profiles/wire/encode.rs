//! Writing a partial profile.

use serde::Serialize;
use treepie_base::{Process, Rank};
use treepie_collective::PlanRun;
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses};

use super::item::{Item, ItemVolume, Pairs, Ranks, RecordKey};
use super::sink::{Output, Sink};
use crate::partial_profiles::kind::MessageKind;
use crate::partial_profiles::span::Span;

/// Item without pairs of ranks.
type Plain<'a> = Item<'a, (), ()>;

/// Encoder of one partial profile.
pub struct Encoder<'a, S: Sink>(&'a mut S);

impl<'a, S: Sink> Encoder<'a, S> {
    /// Creates an encoder that writes to `sink`.
    pub fn new(sink: &'a mut S) -> Self {
        Encoder(sink)
    }

    fn item<R: Serialize, P: Serialize>(&mut self, item: &Item<'_, R, P>) {
        // A sink accepts all bytes, and the lengths of all lists are known: no error is possible.
        let _ = postcard::serialize_with_flavor(item, Output(&mut *self.0));
    }

    /// Writes the rank and its process, its host, its allowed cores in Linux's list format, and the
    /// nanoseconds since the job's start. The first item of a partial profile.
    pub fn rank(&mut self, process: Process, rank: Rank, host: &str, cores: &str, elapsed: u64) {
        self.item(&Plain::Rank {
            process,
            rank,
            host: host.into(),
            cores: cores.into(),
            elapsed,
        });
    }

    /// Writes messages to or from a partner. Several items for the same partner are added.
    pub fn counted(&mut self, kind: MessageKind, partner: Rank, traffic: Traffic) {
        self.item(&Plain::Counted(kind, partner, traffic));
    }

    /// Writes messages that were counted and then cancelled.
    pub fn taken_back(&mut self, kind: MessageKind, partner: Rank, traffic: Traffic) {
        self.item(&Plain::TakenBack(kind, partner, traffic));
    }

    /// Writes a record whose ranks have the same volume.
    pub fn uniform(&mut self, of: RecordKey<&PlanRun>, calls: u64, group: &[u32], bytes: u64) {
        self.collective(of, calls, group, ItemVolume::<()>::Uniform(bytes));
    }

    /// Writes a record with one volume for each rank.
    pub fn per_rank(&mut self, of: RecordKey<&PlanRun>, calls: u64, group: &[u32], bytes: &[u64]) {
        self.collective(of, calls, group, ItemVolume::<()>::PerRank(bytes.into()));
    }

    /// Writes a record with one volume for each pair: from, to, bytes, messages.
    pub fn pairs(
        &mut self,
        of: RecordKey<&PlanRun>,
        calls: u64,
        group: &[u32],
        pairs: impl ExactSizeIterator<Item = (u32, u32, u64, u64)> + Clone,
    ) {
        self.collective(of, calls, group, ItemVolume::Pairs(Pairs(pairs)));
    }

    fn collective<P: Serialize>(
        &mut self,
        of: RecordKey<&PlanRun>,
        calls: u64,
        group: &[u32],
        volume: ItemVolume<'_, P>,
    ) {
        let group = Ranks(group.into());
        self.item(&Item::Collective {
            of,
            calls,
            group,
            volume,
        });
    }

    /// Writes a phase that has ended: its counts follow, until the next phase. With `left_out` they
    /// are not part of the profile.
    pub fn phase(&mut self, name: &str, span: Span, left_out: bool) {
        self.item(&Plain::Phase(name.into(), span, left_out));
    }

    /// Writes the open phase, to which all counts belong that are in no other phase.
    pub fn open_phase(&mut self, name: &str, span: Span, left_out: bool) {
        self.item(&Plain::OpenPhase(name.into(), span, left_out));
    }

    /// Writes world ranks that share memory.
    pub fn shared_memory(&mut self, group: &[u32]) {
        self.item(&Plain::SharedMemory(Ranks(group.into())));
    }

    /// Writes calls of a class and the time in them.
    pub fn time(&mut self, class: CallClass, time: CallTime) {
        self.item(&Plain::Time(class, time));
    }

    /// Writes a window: the number of earlier windows of the same ranks, and its ranks in the
    /// application's world.
    pub fn window(&mut self, number: u32, group: &[u32]) {
        self.item(&Plain::Window(number, Ranks(group.into())));
    }

    /// Writes calls on the window that was written as the `place`-th, from 0, and the number of
    /// intervals between synchronisations with such calls.
    pub fn access(&mut self, place: u32, access: &Access, traffic: Traffic, intervals: u32) {
        let intervals = intervals.into();
        let accesses = Accesses { traffic, intervals };
        self.item(&Plain::Access(place, *access, accesses));
    }

    /// Writes the end of the partial profile.
    pub fn end(&mut self) {
        self.item(&Plain::End);
    }
}
