//! The phases of a run, and each rank's time in MPI in each phase, as bars of a trace. A profile
//! has sums and no events: the bars of a rank show durations, not times.

use serde_json::{Value, json};
use treepie_base::Rank;
use treepie_profile::{Profile, Times};

use super::rows::hosts;
use crate::trace_events::{Events, Row, micros};

const PHASES: Row = Row {
    process: 0,
    thread: 0,
};

fn row(rank: usize) -> Row {
    Row {
        process: 1,
        thread: rank,
    }
}

/// The trace of a profile; `None` if it has neither phases nor times.
pub(super) fn trace(profile: &Profile) -> Option<Value> {
    let mut events = Events::default();
    for phase in &profile.phases {
        let span = [micros(phase.start_seconds), micros(phase.end_seconds)];
        events.bar("phases", PHASES, &phase.name, span, json!({}));
        if let Some(times) = &phase.times {
            sums(profile, times, span[0], &mut events);
        }
    }
    if let (true, Some(times)) = (profile.phases.is_empty(), &profile.times) {
        sums(profile, times, 0.0, &mut events);
    }
    if events.is_empty() {
        return None;
    }
    events.process(PHASES.process, "phases");
    events.process(1, "time in MPI by class, sums behind each other");
    for (rank, host) in hosts(profile).iter().enumerate() {
        events.thread(row(rank), &format!("rank {rank} on {host}"));
    }
    Some(events.whole())
}

/// Adds the bars of each rank, one class after the other.
fn sums(profile: &Profile, times: &Times, start: f64, events: &mut Events) {
    for rank in 0..profile.ranks {
        let mut at = start;
        for (class, of_ranks) in &times.classes {
            let Some(time) = of_ranks.get(Rank(rank)).filter(|time| time.calls > 0) else {
                continue;
            };
            let end = at + time.nanoseconds as f64 / 1e3;
            let calls = json!({ "calls": time.calls });
            events.bar("MPI", row(rank), &class.to_string(), [at, end], calls);
            at = end;
        }
    }
}
