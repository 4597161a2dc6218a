//! Plans in which no rank runs far ahead of its receivers.
//!
//! A rank that only sends to another never waits for it: in a loop of broadcasts the root may be
//! thousands of calls ahead, and the MPI keeps its eager messages in the memory of the receivers.
//! Ten thousand reductions of 64 KiB by plans took 1 GB on ranks. Therefore, receivers regularly
//! acknowledge that they have begun a call.

use crate::plan::range::Range;
use crate::plan::step::{Action, Plan};
use std::collections::BTreeSet;

/// Approximate number of bytes that a rank sends another between two acknowledged calls. MPICH
/// keeps two to three times as many for them: three ranks that sent 2 KiB took 82 MiB of a fourth
/// at 8 MiB.
const UNACKNOWLEDGED: u64 = 4 << 20;

/// Minimum number of bytes that a call counts.
const LEAST: u64 = 2 << 10;

/// Number of bytes that a call counts if ranks may know different sizes.
const UNKNOWN: u64 = 64 << 10;

/// 2^32 over the golden ratio.
const GOLDEN: u32 = 0x9E37_79B9;

/// True if the call of this number on a communicator is acknowledged, for this number of bytes: it
/// depends only on values that all ranks share. If such calls are all of the communicator's, every
/// second, or every third, they are acknowledged evenly: multiples of the golden ratio leave no
/// large gaps (Knuth, TAOCP 3, 6.4).
pub fn is_acknowledged(call: u32, bytes: Option<u64>) -> bool {
    let calls = UNACKNOWLEDGED / bytes.unwrap_or(UNKNOWN).max(LEAST);
    let part = u64::from(u32::MAX) / calls.max(1);
    // Not the first call, which is half a period before.
    u64::from(call.wrapping_mul(GOLDEN).wrapping_add(1 << 31)) <= part
}

impl Plan {
    /// Adds acknowledgements: each rank that only receives from another sends it an empty message
    /// when it begins, and the sender waits for it before it ends.
    pub fn acknowledged(&self) -> Plan {
        let (mut senders, mut receivers) = (BTreeSet::new(), BTreeSet::new());
        for step in &self.steps {
            match step.action {
                Action::Send { to, .. } => receivers.insert(to),
                Action::Receive { from, .. } => senders.insert(from),
                Action::Reduce { .. } | Action::Copy { .. } => continue,
            };
        }
        let (tag, range) = (0, Range::output(0, 0));
        let sent = senders.difference(&receivers);
        let sent = sent.map(|&to| Action::Send { to, tag, range });
        let received = receivers.difference(&senders);
        let received = received.map(|&from| Action::Receive { from, tag, range });
        let mut plan = self.clone();
        for action in sent.chain(received) {
            plan.push(action, []);
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_acknowledged_as_often_as_their_bytes_ask_for() {
        for (bytes, calls) in [(4 << 20, 1), (1 << 20, 4), (1 << 16, 64), (8, 2048)] {
            for step in [1, 2, 3] {
                let mut gap = 0;
                let mut most = 0;
                let mut acknowledged = 0;
                let count = 64 * calls;
                for call in 0..count {
                    gap += 1;
                    if is_acknowledged(1000 + call * step, Some(bytes)) {
                        (most, gap) = (most.max(gap), 0);
                        acknowledged += 1;
                    }
                }
                assert!(
                    (60..=68).contains(&acknowledged),
                    "{bytes} {step} {acknowledged}"
                );
                assert!(most <= 3 * calls, "{bytes} {step} {most}");
            }
        }
        assert!(is_acknowledged(77, Some(u64::MAX)));
    }

    #[test]
    fn who_only_receives_tells_that_it_has_begun_and_nobody_else_does() {
        let range = Range::output(0, 4);
        let plan_of = |actions: &[Action]| {
            let mut plan = Plan::default();
            for &action in actions {
                plan.push(action, []);
            }
            plan
        };
        let (tag, empty) = (0, Range::output(0, 0));
        // Rank 0 sends to 1, and exchanges with 2.
        let plan = plan_of(&[
            Action::Send { to: 1, tag, range },
            Action::Send { to: 2, tag, range },
            Action::Receive {
                from: 2,
                tag,
                range,
            },
        ]);
        let added: Vec<Action> = plan.acknowledged().steps()[3..]
            .iter()
            .map(|step| step.action)
            .collect();
        let range = empty;
        assert_eq!(
            added,
            [Action::Receive {
                from: 1,
                tag,
                range
            }]
        );
        let plan = plan_of(&[Action::Receive {
            from: 0,
            tag,
            range: Range::output(0, 4),
        }]);
        let added = plan.acknowledged().steps()[1].action;
        assert_eq!(added, Action::Send { to: 0, tag, range });
    }
}
