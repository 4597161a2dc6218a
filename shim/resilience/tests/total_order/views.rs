//! The end of a view: all members report their state, and consensus decides which members continue
//! with which state.

use std::collections::BTreeMap;

use crate::process::{Process, Report};

/// Decision of the consensus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub members: Vec<usize>,
    pub known: Report,
}

/// Proposal of a process once each member has reported or is suspected.
pub fn proposal(process: &Process) -> Option<Decision> {
    let reports = process.reports.as_ref()?;
    let is_settled =
        |member: &usize| reports.contains_key(member) || process.suspects.contains(member);
    let members: Vec<usize> = reports.keys().copied().collect();
    // A minority waits: the others may be the ones that continue.
    let is_majority = 2 * members.len() > process.members.len();
    let is_ready = process.members.iter().all(is_settled) && is_majority;
    is_ready.then(|| Decision {
        members,
        known: union(reports),
    })
}

/// Union of the reports: orders up to the first whose message no process has. No process has
/// delivered a message ordered after that.
fn union(reports: &BTreeMap<usize, Report>) -> Report {
    let mut known = Report::default();
    let mut orders = BTreeMap::new();
    for report in reports.values() {
        known.data.extend(report.data.iter().copied());
        orders.extend(
            report
                .orders
                .iter()
                .map(|(&number, &order)| (number, order)),
        );
    }
    let mut next = 0;
    while let Some(&order) = orders.get(&next) {
        if order.id.is_some_and(|id| !known.data.contains(&id)) {
            break;
        }
        known.orders.insert(next, order);
        next += 1;
    }
    known
}
