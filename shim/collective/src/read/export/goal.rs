//! GOAL (Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language", 2009), as text for
//! LogGOPSim's `txt2bin`.

use crate::network::computing::Computing;
use crate::plan::step::{Action, Plan};
use std::fmt::Write as _;

/// Plans of all ranks, whose units have `unit_bytes` bytes. Copies and reductions take the time of
/// `computing`, in nanoseconds.
pub fn goal(plans: &[Plan], unit_bytes: u64, computing: Computing) -> String {
    let mut text = format!("num_ranks {}\n", plans.len());
    for (rank, plan) in plans.iter().enumerate() {
        let _ = write!(text, "\nrank {rank} {{\n");
        for (place, step) in plan.steps().iter().enumerate() {
            let bytes = |units: u64| units * unit_bytes;
            let nanoseconds = |units| (1e9 * computing.seconds(bytes(units))).round();
            let _ = match step.action {
                Action::Send { to, tag, range } => {
                    let bytes = bytes(range.length);
                    writeln!(text, "s{place}: send {bytes}b to {to} tag {tag}")
                }
                Action::Receive { from, tag, range } => {
                    let bytes = bytes(range.length);
                    writeln!(text, "s{place}: recv {bytes}b from {from} tag {tag}")
                }
                Action::Reduce { left: range, .. } | Action::Copy { from: range, .. } => {
                    writeln!(text, "s{place}: calc {}", nanoseconds(range.length))
                }
            };
            for needed in plan.needs(step) {
                let _ = writeln!(text, "s{place} requires s{needed}");
            }
        }
        text.push_str("}\n");
    }
    text
}
