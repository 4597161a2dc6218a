//! Chrome's trace format, which Perfetto opens: the phases of a run, and each rank's time in MPI in
//! each phase. A profile has sums and no events: the bars of a rank show durations, not times.

use serde_json::{Value, json};
use treepie_base::Rank;
use treepie_profile::{Profile, Times};

use super::rows::hosts;

/// The trace of a profile; `None` if it has neither phases nor times.
pub(super) fn trace(profile: &Profile) -> Option<Value> {
    let mut events = Vec::new();
    for phase in &profile.phases {
        let (start, end) = (micros(phase.start_seconds), micros(phase.end_seconds));
        events.push(bar("phases", 0, 0, &phase.name, start, end - start));
        if let Some(times) = &phase.times {
            sums(profile, times, start, &mut events);
        }
    }
    if let (true, Some(times)) = (profile.phases.is_empty(), &profile.times) {
        sums(profile, times, 0.0, &mut events);
    }
    if events.is_empty() {
        return None;
    }
    events.push(named("process_name", 0, 0, "phases"));
    events.push(named(
        "process_name",
        1,
        0,
        "time in MPI by class, sums behind each other",
    ));
    for (rank, host) in hosts(profile).iter().enumerate() {
        let name = format!("rank {rank} on {host}");
        events.push(named("thread_name", 1, rank, &name));
    }
    Some(json!({ "traceEvents": events, "displayTimeUnit": "ms" }))
}

/// Adds the bars of each rank, one class after the other.
fn sums(profile: &Profile, times: &Times, start: f64, events: &mut Vec<Value>) {
    for rank in 0..profile.ranks {
        let mut at = start;
        for (class, of_ranks) in &times.classes {
            let Some(time) = of_ranks.get(Rank(rank)).filter(|time| time.calls > 0) else {
                continue;
            };
            let length = time.nanoseconds as f64 / 1e3;
            let mut event = bar("MPI", 1, rank, &class.to_string(), at, length);
            event["args"] = json!({ "calls": time.calls });
            events.push(event);
            at += length;
        }
    }
}

fn micros(seconds: f64) -> f64 {
    seconds * 1e6
}

fn bar(category: &str, process: usize, thread: usize, name: &str, at: f64, length: f64) -> Value {
    json!({ "ph": "X", "cat": category, "pid": process, "tid": thread, "name": name, "ts": at,
        "dur": length.max(0.0) })
}

fn named(what: &str, process: usize, thread: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": name } })
}
