//! Who waits for whom among the steps of a plan, as an execution asks for it: when a
//! step is complete, which others wait for it, and how many they still wait for.

use crate::collective::Plan;

/// The steps that wait, of one plan.
#[derive(Debug, Clone)]
pub struct Waits {
    needed: Vec<u32>,
    /// Those that wait for step `i` are from `first[i]` to `first[i + 1]`.
    followers: Vec<u32>,
    first: Vec<u32>,
}

impl Waits {
    /// Looks at what each step of `plan` needs.
    pub fn of(plan: &Plan) -> Self {
        let steps = plan.steps();
        let mut needed = Vec::with_capacity(steps.len());
        let mut first = vec![0u32; steps.len() + 1];
        for step in steps {
            let needs = plan.needs(step);
            needed.push(needs.len() as u32);
            for &step in needs {
                first[step as usize + 1] += 1;
            }
        }
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut next = first.clone();
        let mut followers = vec![0; first.last().map_or(0, |&all| all as usize)];
        for (place, step) in steps.iter().enumerate() {
            for &needed in plan.needs(step) {
                let slot = &mut next[needed as usize];
                followers[*slot as usize] = place as u32;
                *slot += 1;
            }
        }
        Waits {
            needed,
            followers,
            first,
        }
    }

    /// For each step, how many steps it waits for at the start.
    pub fn needed(&self) -> &[u32] {
        &self.needed
    }

    /// The steps that may start at once, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = u32> {
        let steps = (0u32..).zip(&self.needed);
        steps
            .filter(|&(_, &needed)| needed == 0)
            .map(|(step, _)| step)
    }

    /// The steps that wait for `step`.
    pub fn followers(&self, step: u32) -> &[u32] {
        let step = step as usize;
        &self.followers[self.first[step] as usize..self.first[step + 1] as usize]
    }
}
