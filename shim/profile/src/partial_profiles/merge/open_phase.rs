//! Phase that a rank was in when it wrote its partial profile.

use std::collections::BTreeMap;

use crate::partial_profiles::kind::MessageKind;
use crate::partial_profiles::partial_profile::{PartialProfile, Phase};
use crate::partial_profiles::wire::decode::less;
use treepie_base::Rank;
use treepie_traffic::Traffic;

/// Assigns the counts that are in no other phase to the open phase, and removes the counts of
/// excluded phases from the whole.
pub(super) fn close_phases(partial: &mut PartialProfile) {
    let Some(mut open) = partial.open_phase.take() else {
        return;
    };
    open.counted = partial.counted.clone();
    open.collectives = partial.collectives.clone();
    open.times = partial.times.clone();
    for phase in &partial.phases {
        subtract(&mut open.counted, &phase.counted);
        open.collectives = open.collectives.since(&phase.collectives);
        for (class, time) in &phase.times {
            if let Some(there) = open.times.get_mut(class) {
                *there = there.less(*time);
            }
        }
    }
    let same = |phase: &&mut Phase| phase.name == open.name && phase.left_out == open.left_out;
    match partial.phases.iter_mut().find(same) {
        Some(phase) => {
            phase.span.extend(open.span);
            for (key, traffic) in open.counted {
                *phase.counted.entry(key).or_default() += traffic;
            }
            for record in open.collectives.into_vec() {
                phase.collectives.add(record);
            }
            for (class, time) in open.times {
                *phase.times.entry(class).or_default() += time;
            }
        }
        None => partial.phases.push(open),
    }
    for phase in partial.phases.iter().filter(|phase| phase.left_out) {
        subtract(&mut partial.counted, &phase.counted);
        partial.collectives = partial.collectives.since(&phase.collectives);
    }
}

fn subtract(
    from: &mut BTreeMap<(MessageKind, Rank), Traffic>,
    what: &BTreeMap<(MessageKind, Rank), Traffic>,
) {
    for (key, traffic) in what {
        if let Some(there) = from.get_mut(key) {
            *there = less(*there, *traffic);
        }
    }
    from.retain(|_, traffic| !traffic.is_none());
}
