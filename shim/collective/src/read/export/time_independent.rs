//! Time-independent traces (SimGrid 3.32, `smpirun -replay`): one text for each rank.
//!
//! A trace is a program: before each step it waits for the step's dependencies, and everything else
//! proceeds meanwhile. Receives without dependencies come first.

use crate::plan::step::{Action, Plan, Step};
use std::fmt::Write as _;

/// Floating-point operations for each byte that is copied or reduced: with hosts of 4 Gflop/s, the
/// work that predictions assume.
const WORK_PER_BYTE: f64 = 1.0;

/// Trace of every rank, for plans whose units have `unit_bytes` bytes.
pub fn time_independent(plans: &[Plan], unit_bytes: u64) -> Vec<String> {
    let trace = |(rank, plan)| one(rank, plan, unit_bytes);
    plans.iter().enumerate().map(trace).collect()
}

fn one(rank: usize, plan: &Plan, unit_bytes: u64) -> String {
    let mut text = format!("{rank} init\n");
    let mut waited = vec![false; plan.steps().len()];
    let early =
        |step: &Step| matches!(step.action, Action::Receive { .. }) && plan.needs(step).is_empty();
    let steps = || plan.steps().iter().enumerate();
    let posted_first = steps().filter(|(_, step)| early(step));
    let others = steps().filter(|(_, step)| !early(step));
    for (_, step) in posted_first.chain(others) {
        for &needed in plan.needs(step) {
            wait(&mut text, rank, plan, needed as usize, &mut waited);
        }
        let bytes = |units: u64| units * unit_bytes;
        let _ = match step.action {
            Action::Send { to, tag, range } => {
                writeln!(text, "{rank} isend {to} {tag} {}", bytes(range.length))
            }
            Action::Receive { from, tag, range } => {
                writeln!(text, "{rank} irecv {from} {tag} {}", bytes(range.length))
            }
            Action::Reduce { left: range, .. } | Action::Copy { from: range, .. } => {
                let work = WORK_PER_BYTE * bytes(range.length) as f64;
                writeln!(text, "{rank} compute {work}")
            }
        };
    }
    for place in 0..plan.steps().len() {
        wait(&mut text, rank, plan, place, &mut waited);
    }
    let _ = writeln!(text, "{rank} finalize");
    text
}

/// Waits for a message, once.
fn wait(text: &mut String, rank: usize, plan: &Plan, place: usize, waited: &mut [bool]) {
    if std::mem::replace(&mut waited[place], true) {
        return;
    }
    let _ = match plan.steps()[place].action {
        Action::Send { to, tag, .. } => writeln!(text, "{rank} wait {rank} {to} {tag}"),
        Action::Receive { from, tag, .. } => writeln!(text, "{rank} wait {from} {rank} {tag}"),
        Action::Reduce { .. } | Action::Copy { .. } => Ok(()),
    };
}
