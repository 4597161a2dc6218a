//! Candidates for an operation, their timed calls, and the results of a cell.

use std::collections::BTreeMap;
use std::time::Instant;

use treepie_collective::Operation;
use treepie_measure::clocks::CommonClock;
use treepie_mpi::native::{Controls, Variable};
use treepie_mpi::program::{Buffers, Communicator};
use treepie_native::knobs::Knob;
use treepie_native::tuning::{Cell, Clock, Emulation, Row, Verdict};
use treepie_profile::settings::NAMED;

/// Kind of a candidate.
pub enum Kind {
    Default(Operation),
    Knob(Knob),
    Plan(Operation, &'static str),
    Emulation(Emulation),
}

/// A candidate for an operation.
pub struct MeasuredAlgorithm<'a> {
    pub kind: Kind,
    pub communicator: Communicator<'a>,
    /// Variables to set around each call: the value, and the usual one.
    pub controls: Vec<(Variable, i32, i32)>,
}

impl<'a> MeasuredAlgorithm<'a> {
    pub fn native(members: &Communicator<'a>, operation: Operation) -> Self {
        MeasuredAlgorithm {
            kind: Kind::Default(operation),
            communicator: members.duplicate(),
            controls: Vec::new(),
        }
    }

    /// A plan of Treepie, which its library runs on a communicator with this name.
    pub fn plan(members: &Communicator<'a>, operation: Operation, name: &'static str) -> Self {
        let way = MeasuredAlgorithm::native(members, operation);
        way.communicator
            .set_name(&format!("{NAMED}{operation}={name}"));
        MeasuredAlgorithm {
            kind: Kind::Plan(operation, name),
            ..way
        }
    }

    fn call(&self, bytes: usize, buffers: &mut Buffers) {
        let mut call = |operation| self.communicator.call(operation, bytes, buffers);
        let done = match &self.kind {
            Kind::Default(operation) | Kind::Plan(operation, _) => call(*operation),
            Kind::Knob(knob) => call(knob.operation),
            Kind::Emulation(emulation) => {
                call(emulation.first).and_then(|()| emulation.then.map_or(Some(()), call))
            }
        };
        // Errors end the job, by MPI's default.
        debug_assert!(done.is_some());
    }
}

pub fn set(controls: &Controls, settings: &[(Variable, i32, i32)], chosen: bool) {
    for &(variable, value, usual) in settings {
        // It was set before, and can be set again.
        let _ = controls.write(variable, if chosen { value } else { usual });
    }
}

/// One cell's calls.
pub struct Caller<'a> {
    members: &'a Communicator<'a>,
    controls: &'a Controls,
    ways: &'a [MeasuredAlgorithm<'a>],
    bytes: usize,
    buffers: Buffers,
    clock: CommonClock,
    /// Number of calls by the default, one in each round of the measurement.
    rounds: usize,
}

impl<'a> Caller<'a> {
    /// Creates the calls of a cell by these candidates; its clock began at `began`. Collective.
    pub fn new(
        members: &'a Communicator<'a>,
        controls: &'a Controls,
        ways: &'a [MeasuredAlgorithm<'a>],
        cell: &Cell,
        began: Instant,
    ) -> Self {
        let bytes = cell.bytes as usize;
        Caller {
            members,
            controls,
            ways,
            bytes,
            buffers: Buffers::new(bytes, cell.ranks),
            clock: CommonClock::new(members, began),
            rounds: 0,
        }
    }
}

/// Number of rounds after which clocks are compared again, because they drift.
const COMPARED_EACH: usize = 8;

impl Clock for Caller<'_> {
    fn time(&mut self, way: usize, calls: usize) -> Vec<f64> {
        if way == 0 {
            self.rounds += 1;
            if self.rounds.is_multiple_of(COMPARED_EACH) {
                self.clock.compare(self.members);
            }
        }
        let way = &self.ways[way];
        let mut one = || {
            let start = self.clock.announced(self.members);
            set(self.controls, &way.controls, true);
            let start = self.clock.wait(start);
            way.call(self.bytes, &mut self.buffers);
            let seconds = self.clock.now() - start;
            set(self.controls, &way.controls, false);
            seconds
        };
        (0..calls).map(|_| one()).collect()
    }

    fn largest(&mut self, numbers: &mut [f64]) {
        self.members.largest(numbers);
    }

    fn elapsed(&self) -> f64 {
        self.clock.now()
    }
}

/// Results of a cell.
pub fn row(
    cell: &Cell,
    ways: &[MeasuredAlgorithm],
    found: &[treepie_native::tuning::AlgorithmResult],
) -> Row {
    let native = found[0].seconds;
    let mut row = Row {
        operation: cell.operation,
        ranks: cell.ranks,
        from_bytes: cell.bytes,
        algorithm: None,
        seconds: native,
        native_seconds: native,
        undecided: false,
        others: BTreeMap::new(),
        plan: None,
        plans: BTreeMap::new(),
        slower_than: BTreeMap::new(),
    };
    let (mut best, mut best_plan) = (1.0, 1.0);
    let mut is_plan_open = false;
    for (way, found) in ways.iter().zip(found) {
        // As if all had been measured in the same rounds.
        let ratio = found.seconds / found.native_seconds;
        match &way.kind {
            Kind::Default(_) => (),
            Kind::Knob(knob) => {
                row.others.insert(knob.name.to_owned(), native * ratio);
                row.undecided |= found.verdict == Verdict::Undecided;
                if found.verdict == Verdict::Faster && ratio < best {
                    best = ratio;
                    row.algorithm = Some(knob.name.to_owned());
                }
            }
            Kind::Plan(_, name) => {
                row.plans.insert((*name).to_owned(), native * ratio);
                is_plan_open |= found.verdict == Verdict::Undecided;
                if found.verdict == Verdict::Faster && ratio < best_plan {
                    best_plan = ratio;
                    row.plan = Some((*name).to_owned());
                }
            }
            Kind::Emulation(emulation) => {
                if found.verdict == Verdict::Faster {
                    row.slower_than.insert(emulation.name(), native * ratio);
                }
            }
        }
    }
    if let Some(seconds) = row
        .algorithm
        .as_ref()
        .and_then(|name| row.others.remove(name))
    {
        row.seconds = seconds;
        row.undecided = false;
    }
    row.undecided |= is_plan_open && row.plan.is_none();
    row
}
