//! Execution of plans on symbols: a send is complete when it is received.

use crate::contract::Contract;
use crate::expressions::{Expressions, Value};
use crate::flaw::Flaw;
use std::collections::HashMap;
use treepie_collective::{Action, Plan, Range, Space};

/// Buffers of one rank.
struct Memory {
    rank: usize,
    output: Vec<Option<Value>>,
    scratch: Vec<Option<Value>>,
}

impl Memory {
    fn read(
        &self,
        range: Range,
        step: usize,
        expressions: &mut Expressions,
    ) -> Result<Vec<Value>, Flaw> {
        let unit = |unit: u64| {
            let value = match range.space {
                Space::Input => Some(expressions.given(self.rank, unit)),
                Space::Output => self.output[unit as usize],
                Space::Scratch => self.scratch[unit as usize],
            };
            value.ok_or(Flaw::Undefined {
                rank: self.rank,
                step,
                space: range.space,
                unit,
            })
        };
        (range.start..range.end()).map(unit).collect()
    }

    fn write(&mut self, range: Range, values: Vec<Value>) {
        let space = match range.space {
            Space::Scratch => &mut self.scratch,
            Space::Input | Space::Output => &mut self.output,
        };
        for (unit, value) in (range.start..range.end()).zip(values) {
            space[unit as usize] = Some(value);
        }
    }
}

/// Message by sender, receiver and tag.
type Message = (usize, usize, u32);

/// State of the plans of all ranks.
pub(super) struct Machine<'a> {
    plans: &'a [Plan],
    memory: Vec<Memory>,
    expressions: Expressions,
    /// For each step of each rank, the ranks that are known to have started when it is complete, as
    /// a bit set: 64 a word.
    heard: Vec<Vec<Vec<u64>>>,
    /// Number of incomplete dependencies of each step, by rank.
    missing: Vec<Vec<usize>>,
    followers: Vec<Vec<Vec<u32>>>,
    done: Vec<Vec<bool>>,
    ready: Vec<(usize, usize)>,
    sent: HashMap<Message, usize>,
    awaited: HashMap<Message, usize>,
}

impl<'a> Machine<'a> {
    /// Creates a machine with all plans before their first steps.
    pub fn new(plans: &'a [Plan], contracts: &[Contract]) -> Self {
        let mut expressions = Expressions::default();
        let mut memory = Vec::new();
        let (mut missing, mut followers, mut ready) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, (plan, contract)) in plans.iter().zip(contracts).enumerate() {
            let mut output = vec![None; contract.output as usize];
            if contract.output_given {
                for (unit, value) in output.iter_mut().enumerate() {
                    *value = Some(expressions.given(rank, unit as u64));
                }
            }
            memory.push(Memory {
                rank,
                output,
                scratch: vec![None; plan.scratch() as usize],
            });
            let mut waits = Vec::new();
            let mut follow = vec![Vec::new(); plan.steps().len()];
            for (place, step) in plan.steps().iter().enumerate() {
                waits.push(plan.needs(step).len());
                for &needed in plan.needs(step) {
                    follow[needed as usize].push(place as u32);
                }
                if plan.needs(step).is_empty() {
                    ready.push((rank, place));
                }
            }
            missing.push(waits);
            followers.push(follow);
        }
        Machine {
            plans,
            memory,
            expressions,
            heard: plans
                .iter()
                .map(|plan| vec![Vec::new(); plan.steps().len()])
                .collect(),
            missing,
            followers,
            done: plans
                .iter()
                .map(|plan| vec![false; plan.steps().len()])
                .collect(),
            ready,
            sent: HashMap::new(),
            awaited: HashMap::new(),
        }
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// The first flaw that is found; a deadlock if steps are left.
    pub fn run(&mut self) -> Result<(), Flaw> {
        while let Some((rank, step)) = self.ready.pop() {
            self.start(rank, step)?;
        }
        for (rank, done) in self.done.iter().enumerate() {
            if let Some(step) = done.iter().position(|done| !done) {
                return Err(Flaw::Deadlock { rank, step });
            }
        }
        Ok(())
    }

    fn start(&mut self, rank: usize, step: usize) -> Result<(), Flaw> {
        match self.plans[rank].steps()[step].action {
            Action::Send { to, tag, .. } => {
                let message = (rank, to, tag);
                if self.sent.insert(message, step).is_some() {
                    return Err(flaw_of(message));
                }
                self.meet(message)
            }
            Action::Receive { from, tag, .. } => {
                let message = (from, rank, tag);
                if self.awaited.insert(message, step).is_some() {
                    return Err(flaw_of(message));
                }
                self.meet(message)
            }
            Action::Copy { from, into } => {
                let values = self.memory[rank].read(from, step, &mut self.expressions)?;
                self.memory[rank].write(into, values);
                self.complete(rank, step);
                Ok(())
            }
            Action::Reduce { left, right } => {
                let expressions = &mut self.expressions;
                let lefts = self.memory[rank].read(left, step, expressions)?;
                let rights = self.memory[rank].read(right, step, expressions)?;
                let reduced = lefts.into_iter().zip(rights);
                let reduced: Option<Vec<Value>> = reduced
                    .map(|(left, right)| self.expressions.reduced(left, right))
                    .collect();
                let reduced = reduced.ok_or(Flaw::Mixed { rank, step })?;
                self.memory[rank].write(right, reduced);
                self.complete(rank, step);
                Ok(())
            }
        }
    }

    /// Transfers a message when both sides are ready.
    fn meet(&mut self, message: Message) -> Result<(), Flaw> {
        let (Some(&sending), Some(&receiving)) =
            (self.sent.get(&message), self.awaited.get(&message))
        else {
            return Ok(());
        };
        let (from, to, _) = message;
        let actions = (
            self.plans[from].steps()[sending].action,
            self.plans[to].steps()[receiving].action,
        );
        let (Action::Send { range: out, .. }, Action::Receive { range: into, .. }) = actions else {
            return Err(flaw_of(message));
        };
        if out.length != into.length {
            return Err(flaw_of(message));
        }
        let values = self.memory[from].read(out, sending, &mut self.expressions)?;
        self.memory[to].write(into, values);
        self.heard[to][receiving] = self.heard_before(from, sending);
        self.complete(from, sending);
        self.complete(to, receiving);
        Ok(())
    }

    /// Ranks that are known to have started when `step` starts.
    fn heard_before(&self, rank: usize, step: usize) -> Vec<u64> {
        let mut heard = vec![0; self.plans.len().div_ceil(64)];
        heard[rank / 64] |= 1 << (rank % 64);
        let plan = &self.plans[rank];
        for &needed in plan.needs(&plan.steps()[step]) {
            join(&mut heard, &self.heard[rank][needed as usize]);
        }
        heard
    }

    /// True if each rank ends only after all ranks have started.
    pub(crate) fn all_heard_of_all(&self) -> bool {
        let ranks = self.plans.len();
        self.heard.iter().enumerate().all(|(rank, steps)| {
            let mut heard = vec![0; ranks.div_ceil(64)];
            heard[rank / 64] |= 1 << (rank % 64);
            for step in steps {
                join(&mut heard, step);
            }
            heard
                .iter()
                .map(|word| word.count_ones() as usize)
                .sum::<usize>()
                == ranks
        })
    }

    /// Outputs, unit by unit, and the meaning of their values.
    pub(crate) fn into_outputs(self) -> (Vec<Vec<Option<Value>>>, Expressions) {
        let outputs = self
            .memory
            .into_iter()
            .map(|memory| memory.output)
            .collect();
        (outputs, self.expressions)
    }

    fn complete(&mut self, rank: usize, step: usize) {
        self.done[rank][step] = true;
        let mut heard = self.heard_before(rank, step);
        join(&mut heard, &self.heard[rank][step]);
        self.heard[rank][step] = heard;
        for &next in &self.followers[rank][step] {
            let missing = &mut self.missing[rank][next as usize];
            *missing -= 1;
            if *missing == 0 {
                self.ready.push((rank, next as usize));
            }
        }
    }
}

fn flaw_of((from, to, tag): Message) -> Flaw {
    Flaw::Message { from, to, tag }
}

/// Adds the ranks of `more`.
fn join(heard: &mut [u64], more: &[u64]) {
    for (word, more) in heard.iter_mut().zip(more) {
        *word |= more;
    }
}
