//! The end of a view: all members report what they have, and consensus decides who goes on with
//! what.

use std::collections::BTreeMap;

use crate::process::{Process, Report};

/// What consensus decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub members: Vec<usize>,
    pub known: Report,
}

/// What a process proposes once each member has reported or is suspected.
pub fn proposal(process: &Process) -> Option<Decision> {
    let reports = process.reports.as_ref()?;
    let is_settled =
        |member: &usize| reports.contains_key(member) || process.suspects.contains(member);
    let members: Vec<usize> = reports.keys().copied().collect();
    // A minority waits: it may be the others that go on.
    let is_majority = 2 * members.len() > process.members.len();
    let is_ready = process.members.iter().all(is_settled) && is_majority;
    is_ready.then(|| Decision {
        members,
        known: union(reports),
    })
}

/// What any of them has: orders up to the first that nobody has with its message. What was ordered
/// behind that has been delivered by none of them.
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
