//! The plan reading of a description, which finds the steps that may overlap. Steps wait for each
//! other only if they access the same units.

use crate::plan::hazards::Hazards;
use crate::plan::range::{Range, Space};
use crate::plan::step::{Action, Plan};
use crate::steps::{Flow, LARGEST_MESSAGE, Steps};
use std::collections::HashMap;

/// A plan under construction.
pub struct Builder {
    flow: Flow,
    actions: Vec<(Action, Vec<u32>)>,
    hazards: Hazards,
    scratch: u64,
    sent: HashMap<usize, u32>,
    received: HashMap<usize, u32>,
    /// Receives of synchronization messages: no ranges show the steps that depend on them.
    signals: Vec<u32>,
    /// Steps on which every further step depends.
    fence: Vec<u32>,
}

impl Builder {
    /// Empty plan, with messages segmented by `flow`.
    fn new(flow: impl Into<Flow>) -> Self {
        let flow = flow.into();
        Builder {
            flow: Flow {
                segment: flow.segment.clamp(1, LARGEST_MESSAGE),
                ..flow
            },
            actions: Vec::new(),
            hazards: Hazards::default(),
            scratch: 0,
            sent: HashMap::new(),
            received: HashMap::new(),
            signals: Vec::new(),
            fence: Vec::new(),
        }
    }

    /// Plan of the steps that `write` writes.
    pub fn plan(flow: impl Into<Flow>, write: impl FnOnce(&mut dyn Steps)) -> Plan {
        let mut builder = Builder::new(flow);
        write(&mut builder);
        builder.finish()
    }

    fn finish(self) -> Plan {
        let mut plan = Plan::with_scratch(self.scratch);
        for (action, dependencies) in self.actions {
            plan.push(action, dependencies);
        }
        plan
    }

    fn push(&mut self, action: Action) {
        let step = self.actions.len() as u32;
        let mut dependencies = self.fence.clone();
        for range in action.reads().filter(|range| range.length > 0) {
            self.hazards.read(range, step, &mut dependencies);
        }
        if let Some(range) = action.writes().filter(|range| range.length > 0) {
            self.hazards.write(range, step, &mut dependencies);
        }
        dependencies.sort_unstable();
        dependencies.dedup();
        // A step that reads the range that it writes found itself.
        dependencies.retain(|&earlier| earlier != step);
        self.actions.push((action, dependencies));
    }
}

impl Steps for Builder {
    fn flow(&self) -> Flow {
        self.flow
    }

    fn scratch(&mut self, length: u64) -> Range {
        let start = self.scratch;
        self.scratch += length;
        Range {
            space: Space::Scratch,
            start,
            length,
        }
    }

    fn send_segment(&mut self, to: usize, range: Range) {
        let tag = next(&mut self.sent, to);
        self.push(Action::Send { to, tag, range });
    }

    fn receive_segment(&mut self, from: usize, range: Range) {
        let tag = next(&mut self.received, from);
        self.push(Action::Receive { from, tag, range });
    }

    fn reduce_segment(&mut self, left: Range, right: Range) {
        self.push(Action::Reduce { left, right });
    }

    fn copy_segment(&mut self, from: Range, into: Range) {
        self.push(Action::Copy { from, into });
    }

    fn await_signal(&mut self, from: usize) {
        self.signals.push(self.actions.len() as u32);
        self.receive_segment(from, Range::output(0, 0));
    }

    fn fence(&mut self) {
        if !self.signals.is_empty() {
            self.fence = std::mem::take(&mut self.signals);
        }
    }

    fn one_by_one(&mut self) {
        if let Some(last) = self.last_step() {
            self.fence = vec![last];
        }
    }

    fn last_step(&self) -> Option<u32> {
        (self.actions.len() as u32).checked_sub(1)
    }

    fn send_segment_after(&mut self, to: usize, range: Range, after: Option<u32>) {
        self.send_segment(to, range);
        let dependencies = self
            .actions
            .last_mut()
            .map(|(_, dependencies)| dependencies);
        if let (Some(dependencies), Some(after)) = (dependencies, after)
            && let Err(place) = dependencies.binary_search(&after)
        {
            dependencies.insert(place, after);
        }
    }
}

/// Number of the next message with a partner.
fn next(counts: &mut HashMap<usize, u32>, partner: usize) -> u32 {
    let count = counts.entry(partner).or_default();
    *count += 1;
    *count - 1
}
