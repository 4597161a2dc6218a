//! Steps of a plan that are combined in one sweep through memory: a reduction with the receive of
//! an operand, and with the copy that initialises its result.
//!
//! ```text
//!   receive r into S; copy own to D; reduce S into D     step by step: 9 accesses a byte
//!   for each piece of r: copy own to D, reduce r into D  in a sweep: 6, 2 of them in the cache
//! ```
//!
//! Movement-avoiding reductions as in YHCCL (Peng et al., SC'23); the plan's steps do not change:
//! operands keep their order, so results are bitwise identical.

use treepie_collective::{Action, Dependencies, Plan, Space};

/// Steps that may be combined in one sweep.
#[derive(Debug, Default)]
pub struct Sweeps {
    /// For each receive, the reduction that is the only reader of its data, or whose result it
    /// initialises; for each copy that is combined with a reduction, that one.
    sums: Vec<Option<u32>>,
    /// For each reduction, the copy that initialises its result.
    copies: Vec<Option<u32>>,
}

impl Sweeps {
    /// Finds them in a plan; none if it reduces nothing.
    pub fn new(plan: &Plan, dependencies: &Dependencies) -> Self {
        let steps = plan.steps();
        if !(steps.iter()).any(|step| matches!(step.action, Action::Reduce { .. })) {
            return Sweeps::default();
        }
        let (mut sums, mut copies) = (vec![None; steps.len()], vec![None; steps.len()]);
        for (place, step) in (0u32..).zip(steps) {
            let next = dependencies.successors(place);
            match step.action {
                Action::Receive { range, .. } => {
                    let is_only_read = next.len() == 1 && range.space == Space::Scratch;
                    let combines = |&sum: &u32| match steps[sum as usize].action {
                        Action::Reduce { left, .. } if left == range => is_only_read,
                        Action::Reduce { right, .. } => right == range,
                        _ => false,
                    };
                    sums[place as usize] = next.iter().copied().find(combines);
                }
                Action::Copy { into, .. } => {
                    if let [sum] = *next
                        && let Action::Reduce { right, .. } = steps[sum as usize].action
                        && right == into
                    {
                        sums[place as usize] = Some(sum);
                        copies[sum as usize] = Some(place);
                    }
                }
                _ => (),
            }
        }
        Sweeps { sums, copies }
    }

    /// Returns the reduction that a receive may be combined with.
    pub fn sum(&self, receive: u32) -> Option<u32> {
        self.sums.get(receive as usize).copied().flatten()
    }

    /// Returns the reduction that a copy is combined with.
    pub fn sum_of_copy(&self, copy: u32) -> Option<u32> {
        self.sum(copy).filter(|&sum| self.copy(sum) == Some(copy))
    }

    /// Returns the copy that is combined with a reduction.
    pub fn copy(&self, sum: u32) -> Option<u32> {
        self.copies.get(sum as usize).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::{Algorithm, Clusters, Operation, Uniform};

    /// Returns the number of receives that are reduced as they arrive, and of copies that are
    /// combined with reductions, in a rank's plan of an allreduce of 64 units.
    fn found(name: &str, ranks: usize, rank: usize) -> [usize; 2] {
        let mut all = Algorithm::of(Operation::Allreduce);
        let call = Uniform {
            operation: Operation::Allreduce,
            bytes: 64,
            root: 0,
        };
        let plans = all.find(|one| one.name == name);
        let plans = plans.map(|one| one.plans(&call, None, &Clusters::one(ranks), 64));
        let plan = &plans.unwrap_or_default()[rank];
        let sweeps = Sweeps::new(plan, &Dependencies::new(plan));
        let steps = || (0u32..).zip(plan.steps());
        let receives = steps().filter(|(_, step)| matches!(step.action, Action::Receive { .. }));
        [
            receives
                .filter(|&(step, _)| sweeps.sum(step).is_some())
                .count(),
            steps()
                .filter(|&(step, _)| sweeps.copy(step).is_some())
                .count(),
        ]
    }

    #[test]
    fn sums_of_what_comes_and_of_copies_are_found() {
        // Rank 0's operand is the left one, which is only read; rank 1's becomes the result.
        assert_eq!(found("direct-exchange", 2, 0), [1, 0]);
        assert_eq!(found("direct-exchange", 2, 1), [1, 1]);
        // Operands of three others; the result of the first two is the left operand of the next.
        assert_eq!(found("direct-exchange", 4, 3), [3, 1]);
        // The copy at the end provides no operand.
        assert_eq!(found("recursive-doubling", 2, 0), [1, 0]);
    }
}
