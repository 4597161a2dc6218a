//! One-sided epochs: whether small puts and accumulates of a window gain by being joined.
//!
//! A call, here, is two epochs in a row, since programs often fill every second one only: what
//! they take in one-sided calls and in the synchronisations behind them. Where no two of these did
//! alike, as in steps of three or four, twelve in a row are one. Joining is a matter of
//! the origin alone, so that each rank may decide for itself; but in a fence all wait for the last
//! one. What one of them saves there, nobody sees as long as the others do it otherwise: ranks
//! decide about fences together, and try them at the same ones.

use std::sync::Arc;

use super::Way;
use super::contender::Contender;
use super::exchange::{Due, Event, Guard};
use super::key::{Form, Key, mix};
use super::summary::{Known, Summary};
use super::ticket::Ticket;
use super::times::Work;
use treepie_traffic::windows::EpochKind;

/// Epochs that are one call.
pub const EPOCHS: u32 = 2;

/// The same where no two such calls did alike: whole rounds of three, four or six epochs, and of
/// others nearly as much work in each.
const MORE_EPOCHS: u32 = 12;

/// Epochs of a window that are judged together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EpochKey {
    /// What opens them.
    pub kind: EpochKind,
    /// How many are one call.
    pub epochs: u32,
}

impl EpochKey {
    /// Calls of [`EPOCHS`] of this kind.
    pub fn new(kind: EpochKind) -> Self {
        let epochs = EPOCHS;
        EpochKey { kind, epochs }
    }

    /// Whether ranks decide together.
    pub fn is_shared(&self) -> bool {
        self.kind == EpochKind::Fence
    }
}

impl Key for EpochKey {
    fn number(&self) -> u64 {
        mix(self.kind as u64, u64::from(self.epochs))
    }

    fn form(&self) -> Form {
        match self.is_shared() {
            true => Form::Blocking,
            // The program's own work is between its calls.
            false => Form::Nonblocking,
        }
    }

    fn needs_all(&self) -> bool {
        self.is_shared()
    }
}

/// Small puts and accumulates are kept back and joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathered;

impl Contender for Gathered {
    fn per_mille(&self) -> Option<u32> {
        None
    }

    fn needs_making(&self) -> bool {
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
    /// Whether what they take is measured.
    pub is_measured: bool,
}

/// The guard over the epochs of one window, on one rank: those about which it decides alone, or
/// those about which all do.
#[derive(Debug, Clone)]
pub struct EpochGuard {
    guard: Guard<EpochKey, Gathered>,
    is_alone: bool,
    /// What is decided and not told yet.
    events: Vec<Event<EpochKey, Gathered>>,
    call: Option<Call>,
}

/// Epochs that go on.
#[derive(Debug, Clone)]
struct Call {
    key: EpochKey,
    ticket: Ticket<Gathered>,
    epochs: u32,
}

impl Call {
    fn is_over(&self) -> bool {
        self.epochs >= self.key.epochs
    }

    fn course(&self) -> Course {
        Course {
            gathers: matches!(self.ticket.way, Way::By(Gathered)),
            is_measured: self.ticket.is_measured(),
        }
    }
}

impl EpochGuard {
    /// A guard over what this rank decides for itself. `known`: what earlier runs adopted.
    pub fn alone(seed: u64, adopts: bool, known: Arc<[Known<EpochKey, Gathered>]>) -> Self {
        EpochGuard::with(Guard::alone(seed, adopts, known), true)
    }

    /// A guard over what all ranks of a window decide together. `seed` and `known` are the same on
    /// all of them.
    pub fn shared(seed: u64, adopts: bool, known: Arc<[Known<EpochKey, Gathered>]>) -> Self {
        EpochGuard::with(Guard::new(seed, adopts, known, Arc::default()), false)
    }

    fn with(guard: Guard<EpochKey, Gathered>, is_alone: bool) -> Self {
        EpochGuard {
            guard,
            is_alone,
            events: Vec::new(),
            call: None,
        }
    }

    /// An epoch begins: how it is run. `spent` is asked where a call that was measured has ended:
    /// what its epochs took in nanoseconds, and what they did.
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
        if self.guard.is_never_alike(&key) {
            key.epochs = MORE_EPOCHS;
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

    /// What ranks that decide together have to do before the next epoch, which begins a call.
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

    /// What was decided since this was asked last.
    pub fn take_events(&mut self) -> Vec<Event<EpochKey, Gathered>> {
        std::mem::take(&mut self.events)
    }

    /// What was found, by calls of so many epochs as their keys say.
    pub fn summaries(&self) -> Vec<Summary<EpochKey, Gathered>> {
        self.guard.summaries()
    }
}
