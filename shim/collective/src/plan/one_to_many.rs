//! Sends of one rank that carry the same data to several others.

use crate::plan::step::{Action, Plan};
use std::collections::HashMap;

/// For each step, the first send of the same units with the same data; `None` for the only send of
/// its data, and for steps that are not sends.
///
/// Two sends of the same units have the same data if they depend on the same steps: the later one
/// would depend on a write between them.
pub fn one_to_many(plan: &Plan) -> Vec<Option<u32>> {
    let mut first = HashMap::new();
    let mut of_step = vec![None; plan.steps().len()];
    for (number, step) in (0u32..).zip(plan.steps()) {
        if let Action::Send { range, .. } = step.action {
            let leader = *first.entry((range, plan.needs(step))).or_insert(number);
            if leader != number {
                of_step[leader as usize] = Some(leader);
                of_step[number as usize] = Some(leader);
            }
        }
    }
    of_step
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::algorithms::algorithm::Algorithm;
    use crate::clusters::Clusters;
    use crate::operation::Operation;
    use crate::problem::Uniform;

    /// Number of sends of rank 0 with the same data, for all data with several sends, if six ranks
    /// call an operation of 64 bytes.
    fn groups(operation: Operation, name: &str, segment: u64) -> Vec<usize> {
        let mut all = Algorithm::of(operation);
        let algorithm = all.find(|one| one.name == name);
        let call = Uniform {
            operation,
            bytes: 64,
            root: 0,
        };
        let clusters = Clusters::one(6);
        let plans = algorithm.map(|one| one.plans(&call, None, &clusters, segment));
        let plan = &plans.unwrap_or_default()[0];
        let mut groups = BTreeMap::new();
        for leader in one_to_many(plan).into_iter().flatten() {
            *groups.entry(leader).or_insert(0) += 1;
        }
        groups.into_values().collect()
    }

    #[test]
    fn a_root_sends_the_same_to_all_its_children_in_each_segment() {
        assert_eq!(groups(Operation::Bcast, "flat", 64), [5]);
        assert_eq!(groups(Operation::Bcast, "flat", 32), [5, 5]);
        assert_eq!(groups(Operation::Bcast, "binomial", 64), [3]);
        assert_eq!(groups(Operation::Allgather, "flat", 64), [5]);
    }

    #[test]
    fn parts_for_each_rank_and_what_grows_on_its_way_are_not_the_same() {
        assert!(groups(Operation::Scatter, "flat", 64).is_empty());
        assert!(groups(Operation::Alltoall, "flat", 64).is_empty());
        assert!(groups(Operation::Allgather, "ring", 64).is_empty());
        assert!(groups(Operation::Allreduce, "recursive-doubling", 64).is_empty());
    }
}
