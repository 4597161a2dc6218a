//! One-sided epochs: decides if small puts and accumulates of a window are joined.
//!
//! A call, here, is two consecutive epochs, since programs often fill only every second one: their
//! time in one-sided calls and in the synchronisations after them. If no two such calls did similar
//! work, as in cycles of three or four epochs, twelve consecutive epochs are one call. Joining
//! concerns the origin alone, so that each rank may decide separately; but in a fence all wait for
//! the last one. The savings of a single rank there are hidden as long as the others do not join:
//! ranks decide about fences together, and try candidates at the same ones.

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
    /// Synchronisation that opens them.
    pub kind: EpochKind,
    /// Number of epochs that count as one call.
    pub epochs: u32,
}

impl EpochKey {
    /// Creates the key of calls of [`EPOCHS_PER_CALL`] epochs of this kind.
    pub fn new(kind: EpochKind) -> Self {
        let epochs = EPOCHS_PER_CALL;
        EpochKey { kind, epochs }
    }

    /// True if ranks decide together.
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

/// Candidate in which small puts and accumulates are held back and joined.
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

/// Mode of epochs from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// True if small puts and accumulates are joined.
    pub gathers: bool,
    /// True if their time is measured.
    pub is_measured: bool,
}

/// Guard over the epochs of one window, on one rank: those about which it decides alone, or those
/// about which all decide.
#[derive(Debug, Clone)]
pub struct EpochGuard {
    guard: Guard<EpochKey>,
    is_alone: bool,
    /// Decisions that were not taken by the caller yet.
    events: Vec<Event<EpochKey>>,
    call: Option<Call>,
}

/// Current group of epochs that count as one call.
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
    /// Creates a guard over epochs about which this rank decides alone. `known`: plans of earlier
    /// runs.
    pub fn alone(seed: u64, mode: Mode, known: Arc<[AdoptedPlan<EpochKey>]>) -> Self {
        EpochGuard::with(Guard::alone(seed, mode, known), true)
    }

    /// Creates a guard over epochs about which all ranks of a window decide together. `seed` and
    /// `known` are the same on all of them.
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

    /// Begins an epoch; returns its mode. `spent` returns the nanoseconds and the work of a
    /// measured call that has ended.
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

    /// Returns the action that is due on ranks that decide together, before the next epoch, which
    /// begins a call.
    pub fn due(&mut self) -> Due {
        match &self.call {
            Some(call) if !call.is_over() => Due::Nothing,
            _ => self.guard.due(true),
        }
    }

    /// Begins an exchange, as [`Guard::begin`].
    pub fn begin_exchange(&mut self, now: u64) -> Vec<i64> {
        while let Some(key) = self.guard.undecided() {
            self.guard.offer(key, vec![Gathered]);
        }
        self.guard.begin(now)
    }

    /// Completes an exchange, as [`Guard::complete`].
    pub fn complete_exchange(&mut self, least: &[i64], cost: u64) {
        let events = self.guard.complete(least, cost);
        self.events.extend(events);
    }

    /// Handles an error of a call: all is left to the native MPI from now on, or, if ranks decide
    /// together, from the next exchange on.
    pub fn fail(&mut self) {
        self.guard.fail();
    }

    /// Sends each update separately from now on.
    pub fn end(&mut self) {
        self.guard.end();
    }

    /// True if all kinds of epochs seen until now are left to the native MPI for good.
    pub fn leaves_all(&self) -> bool {
        self.guard.leaves_all()
    }

    /// Returns the decisions since the last call.
    pub fn take_events(&mut self) -> Vec<Event<EpochKey>> {
        std::mem::take(&mut self.events)
    }

    /// Returns the results, for calls of the number of epochs in their keys.
    pub fn summaries(&self) -> Vec<Summary<EpochKey>> {
        self.guard.summaries()
    }
}
