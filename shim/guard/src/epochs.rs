//! One-sided epochs: whether small puts and accumulates of a window gain by being joined.
//!
//! A call, here, is two epochs in a row, since programs often fill every second one only: their
//! time in one-sided calls and in the synchronisations behind them. Where no two of these did
//! alike, as in steps of three or four, twelve in a row are one. Joining is a matter of the origin
//! alone, so that each rank may decide for itself; but in a fence all wait for the last one. The
//! savings of one of them there are hidden as long as the others do not join: ranks decide about
//! fences together, and try them at the same ones.

use std::sync::Arc;

use treepie_traffic::windows::EpochKind;

use crate::call::{CallSemantics, Form};
use crate::contender::Contender;
use crate::exchange::Due;
use crate::guard::Guard;
use crate::hash::mix;
use crate::key::Key;
use crate::policy::{EPOCHS_PER_CALL, EPOCHS_PER_LONG_CALL};
use crate::results::{AdoptedPlan, Event, Mode, Summary};
use crate::ticket::Ticket;
use crate::times::Work;

/// Epochs of a window that are judged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EpochKey {
    /// The synchronisation that opens them.
    pub kind: EpochKind,
    /// Epochs that count as one call.
    pub epochs: u32,
}

impl EpochKey {
    /// Calls of [`EPOCHS_PER_CALL`] of this kind.
    pub fn new(kind: EpochKind) -> Self {
        let epochs = EPOCHS_PER_CALL;
        EpochKey { kind, epochs }
    }

    /// Whether ranks decide together.
    pub fn is_shared(&self) -> bool {
        self.kind == EpochKind::Fence
    }
}

impl Key for EpochKey {
    type Candidate = Gathered;

    fn number(&self) -> u64 {
        mix(self.kind as u64, u64::from(self.epochs))
    }

    fn semantics(&self) -> CallSemantics {
        let form = match self.is_shared() {
            true => Form::Blocking,
            // The program's own work is between its calls.
            false => Form::Nonblocking,
        };
        CallSemantics {
            form,
            needs_all: self.is_shared(),
            has_rows: false,
        }
    }
}

/// Small puts and accumulates are kept back and joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathered;

impl Contender for Gathered {
    fn per_mille(&self) -> Option<u32> {
        None
    }

    fn needs_set_up(&self) -> bool {
        false
    }

    fn is_like(&self, _other: &Self) -> bool {
        true
    }

    fn add_to(&self, hash: u64) -> u64 {
        mix(hash, 1)
    }
}

/// How epochs are run from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Whether small puts and accumulates are joined.
    pub gathers: bool,
    /// Whether their time is measured.
    pub is_measured: bool,
}

/// The guard over the epochs of one window, on one rank: those about which it decides alone, or
/// those about which all do.
#[derive(Debug, Clone)]
pub struct EpochGuard {
    guard: Guard<EpochKey>,
    is_alone: bool,
    /// Decisions that were not taken yet.
    events: Vec<Event<EpochKey>>,
    call: Option<Call>,
}

/// Epochs that go on.
#[derive(Debug, Clone)]
struct Call {
    key: EpochKey,
    ticket: Ticket<EpochKey>,
    epochs: u32,
}

impl Call {
    fn is_over(&self) -> bool {
        self.epochs >= self.key.epochs
    }

    fn course(&self) -> Course {
        Course {
            gathers: self.ticket.plan.is_some(),
            is_measured: self.ticket.is_measured(),
        }
    }
}

impl EpochGuard {
    /// A guard over epochs about which this rank decides alone. `known`: plans of earlier runs.
    pub fn alone(seed: u64, mode: Mode, known: Arc<[AdoptedPlan<EpochKey>]>) -> Self {
        EpochGuard::with(Guard::alone(seed, mode, known), true)
    }

    /// A guard over epochs about which all ranks of a window decide together. `seed` and `known`
    /// are the same on all of them.
    pub fn shared(seed: u64, mode: Mode, known: Arc<[AdoptedPlan<EpochKey>]>) -> Self {
        EpochGuard::with(Guard::new(seed, mode, known, Arc::default()), false)
    }

    fn with(guard: Guard<EpochKey>, is_alone: bool) -> Self {
        EpochGuard {
            guard,
            is_alone,
            events: Vec::new(),
            call: None,
        }
    }

    /// An epoch begins: how it is run. `spent` gives the nanoseconds and the work of a call that
    /// was measured and has ended.
    pub fn begin(
        &mut self,
        kind: EpochKind,
        clock: impl Fn() -> u64,
        spent: impl FnOnce() -> (u64, Work),
    ) -> Course {
        match &mut self.call {
            Some(call) if call.key.kind == kind && !call.is_over() => {
                call.epochs += 1;
                return call.course();
            }
            Some(call) if call.ticket.is_measured() => {
                let (took, work) = spent();
                self.guard.took(&call.ticket, took, work);
            }
            _ => (),
        }
        if self.is_alone {
            self.decide_alone(&clock);
        }
        let mut key = EpochKey::new(kind);
        if self.guard.is_never_comparable(&key) {
            key.epochs = EPOCHS_PER_LONG_CALL;
        }
        let ticket = self.guard.enter(key, clock);
        let call = Call {
            key,
            ticket,
            epochs: 1,
        };
        let course = call.course();
        self.call = Some(call);
        course
    }

    fn decide_alone(&mut self, clock: &impl Fn() -> u64) {
        if self.guard.due(true) == Due::Begin {
            let values = self.begin_exchange(clock());
            self.complete_exchange(&values, 0);
        }
    }

    /// The next action of ranks that decide together, before the next epoch, which begins a call.
    pub fn due(&mut self) -> Due {
        match &self.call {
            Some(call) if !call.is_over() => Due::Nothing,
            _ => self.guard.due(true),
        }
    }

    /// As [`Guard::begin`].
    pub fn begin_exchange(&mut self, now: u64) -> Vec<i64> {
        while let Some(key) = self.guard.undecided() {
            self.guard.offer(key, vec![Gathered]);
        }
        self.guard.begin(now)
    }

    /// As [`Guard::complete`].
    pub fn complete_exchange(&mut self, least: &[i64], cost: u64) {
        let events = self.guard.complete(least, cost);
        self.events.extend(events);
    }

    /// A call returned an error: from now on all is left to the native MPI, where ranks decide
    /// together from the next exchange on.
    pub fn fail(&mut self) {
        self.guard.fail();
    }

    /// Each piece on its own from now on.
    pub fn end(&mut self) {
        self.guard.end();
    }

    /// Whether all kinds of epochs seen until now are left to the native MPI for good.
    pub fn leaves_all(&self) -> bool {
        self.guard.leaves_all()
    }

    /// Decisions since the last time.
    pub fn take_events(&mut self) -> Vec<Event<EpochKey>> {
        std::mem::take(&mut self.events)
    }

    /// Results, by calls of as many epochs as their keys say.
    pub fn summaries(&self) -> Vec<Summary<EpochKey>> {
        self.guard.summaries()
    }
}
