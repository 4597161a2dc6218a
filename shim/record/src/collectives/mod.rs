//! Collectives, one counter a call: how often each was called on a communicator,
//! with which root and which size, and which plan ran it in place of the native collective.
//! What traffic that causes is expanded when the profile is read.
//!
//! Where all ranks of a communicator know the same of a call, one of them
//! reports it: rank 0, or the root where only the root knows. Where each rank
//! knows only what itself sends (`MPI_Alltoallv`, `MPI_Alltoallw`), each does.

mod observe;
mod tallies;

use std::collections::HashSet;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_collective::PlanRun;

pub use observe::{Amount, Reader, Seen, observe, observe_block};
pub use tallies::{Recent, Tallies};

/// A plan as calls that it runs are counted: one address for all equal ones, which lasts as long as
/// the process.
pub type Plan = &'static PlanRun;

/// The address of a plan, to be asked for when the plan is made.
pub fn plan(run: PlanRun) -> Plan {
    static KNOWN: Lazy<Mutex<HashSet<Plan>>> = Lazy::new(Mutex::default);
    let mut known = KNOWN.lock();
    if let Some(known) = known.get(&run) {
        return known;
    }
    let run: Plan = Box::leak(Box::new(run));
    known.insert(run);
    run
}

/// Whether what was counted on a communicator with this group is reported.
/// Collectives with processes of another world are left out: a profile has no
/// ranks for those.
pub fn is_reported(group: &[u32]) -> bool {
    !group.contains(&u32::MAX)
}
