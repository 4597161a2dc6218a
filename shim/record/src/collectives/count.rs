//! Counting of collectives.

use std::collections::HashSet;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_collective::PlanRun;

/// Plan, as calls that it runs are counted: one address for all equal ones, which is valid as long
/// as the process.
pub type Plan = &'static PlanRun;

/// Returns the address of a plan; to be called when the plan is made.
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

/// True if counts on a communicator with this group are reported. Collectives with processes of
/// another world are omitted: a profile has no ranks for those.
pub fn is_reported(group: &[u32]) -> bool {
    !group.contains(&u32::MAX)
}
