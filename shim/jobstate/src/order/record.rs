//! Recorder, which creates the entries of a run.

use super::call::{Call, Outcome};
use super::entry::{Coder, Entry};
use super::log::Totals;

/// Number of events between two checks.
pub(super) const BETWEEN_CHECKS: u64 = 1024;

/// Progress of a run, which a replay must reproduce.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    pub posted: u64,
    pub events: u64,
    sum: u64,
}

impl Progress {
    /// Adds a call.
    pub fn called(&mut self, call: &Call) {
        let communicator = call.communicator.map_or(0, |number| u64::from(number) + 1);
        for word in [call.kind as u64, communicator, call.count] {
            // FNV-1a over words.
            self.sum = (self.sum ^ word).wrapping_mul(0x0100_0000_01b3);
            self.sum ^= self.sum >> 29;
        }
    }

    /// Counts an event: a receive was posted, or a call found something. Returns the checksum if a
    /// check is due.
    pub fn counts(&mut self) -> Option<u32> {
        self.events += 1;
        let due = self.events.is_multiple_of(BETWEEN_CHECKS);
        due.then(|| self.totals().sum)
    }

    pub fn totals(&self) -> Totals {
        Totals {
            posted: self.posted,
            events: self.events,
            sum: (self.sum ^ self.sum >> 32) as u32,
        }
    }
}

/// Recorder of one rank. Entries are appended to [`Recorder::bytes`].
#[derive(Debug, Default)]
pub struct Recorder {
    coder: Coder,
    progress: Progress,
    /// Number of polls that found nothing since the last entry.
    nothing: u64,
    /// Receives without a match yet, in posting order.
    outstanding: Vec<u64>,
    /// New entries, until the caller takes and clears them.
    pub bytes: Vec<u8>,
}

impl Recorder {
    fn add(&mut self, entry: &Entry) {
        self.coder.encode(&mut self.bytes, entry);
    }

    fn count(&mut self) {
        if let Some(sum) = self.progress.counts() {
            self.add(&Entry::Check(sum));
        }
    }

    /// Records that a receive with a wildcard is posted; returns its number.
    pub fn post(&mut self, call: &Call) -> u64 {
        let number = self.progress.posted;
        self.progress.posted += 1;
        self.outstanding.push(number);
        self.progress.called(call);
        self.count();
        number
    }

    /// Removes a receive from those without a match; returns its index.
    fn take(&mut self, number: u64) -> Option<u64> {
        let place = self.outstanding.binary_search(&number).ok()?;
        self.outstanding.remove(place);
        Some(place as u64)
    }

    /// Records that receive `number` matched a message; with the tag if any tag matches.
    pub fn matched(&mut self, number: u64, source: i32, tag: Option<i32>) {
        if let Some(place) = self.take(number) {
            self.add(&Entry::Match { place, source, tag });
        }
    }

    /// Records that receive `number` was cancelled.
    pub fn cancelled(&mut self, number: u64) {
        if let Some(place) = self.take(number) {
            self.add(&Entry::Cancelled { place });
        }
    }

    /// Records the result of a call.
    pub fn found(&mut self, call: &Call, outcome: Outcome) {
        self.progress.called(call);
        if outcome == Outcome::Nothing {
            self.nothing += 1;
            return;
        }
        self.end_run();
        self.add(&Entry::Found(outcome));
        self.count();
    }

    /// Records that more than one thread receives: later entries are unusable.
    pub fn threads(&mut self) {
        self.add(&Entry::Threads);
    }

    /// Records that a window was created: communication through it has no recorded order.
    pub fn window(&mut self) {
        self.add(&Entry::Window);
    }

    fn end_run(&mut self) {
        match std::mem::take(&mut self.nothing) {
            0 => (),
            polls => self.add(&Entry::Nothing(polls)),
        }
    }

    /// Ends the log at `MPI_Finalize`; returns the totals.
    pub fn end(&mut self) -> Totals {
        self.end_run();
        self.progress.totals()
    }
}
