//! Successors and pending-dependency counts of a plan's steps, for an executor.

use crate::plan::step::Plan;

/// Order between the steps of one plan.
#[derive(Debug, Clone)]
pub struct Dependencies {
    pending: Vec<u32>,
    /// The successors of step `i` are from `first[i]` to `first[i + 1]`.
    successors: Vec<u32>,
    first: Vec<u32>,
}

impl Dependencies {
    /// Collects the dependencies of each step of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let steps = plan.steps();
        let mut pending = Vec::with_capacity(steps.len());
        let mut first = vec![0u32; steps.len() + 1];
        for step in steps {
            let needs = plan.needs(step);
            pending.push(needs.len() as u32);
            for &step in needs {
                first[step as usize + 1] += 1;
            }
        }
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut next = first.clone();
        let mut successors = vec![0; first.last().map_or(0, |&all| all as usize)];
        for (place, step) in steps.iter().enumerate() {
            for &needed in plan.needs(step) {
                let slot = &mut next[needed as usize];
                successors[*slot as usize] = place as u32;
                *slot += 1;
            }
        }
        Dependencies {
            pending,
            successors,
            first,
        }
    }

    /// For each step, the number of steps on which it depends.
    pub fn pending(&self) -> &[u32] {
        &self.pending
    }

    /// Steps that depend on none, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = u32> {
        let steps = (0u32..).zip(&self.pending);
        steps
            .filter(|&(_, &pending)| pending == 0)
            .map(|(step, _)| step)
    }

    /// Steps that depend on `step`.
    pub fn successors(&self, step: u32) -> &[u32] {
        let step = step as usize;
        &self.successors[self.first[step] as usize..self.first[step + 1] as usize]
    }
}
