//! A simulated plan as text, as JSON and as a Gantt chart.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};
use treepie_collective::read::simulate::{Bar as Step, Doing};

use super::trace_events::{Events, Row, micros};
use super::units;
use super::words::pluralize;
use crate::input::plan::Simulated;
use crate::picture::gantt::{Bar, Gantt};

/// Kinds of steps, in the order of [`kind`].
const KINDS: [&str; 4] = ["sends", "receives", "reduces", "copies"];

fn kind(doing: Doing) -> usize {
    match doing {
        Doing::Send => 0,
        Doing::Receive => 1,
        Doing::Reduce => 2,
        Doing::Copy => 3,
    }
}

/// `bcast by grid-ecef, 1 MiB among 16 ranks`.
pub fn describe(plan: &Simulated) -> String {
    format!(
        "{} by {}, {} among {}",
        plan.collective,
        plan.composition.name(),
        units::bytes(plan.bytes as f64),
        pluralize(plan.ranks, "rank")
    )
}

/// Two lines: times, and messages.
pub fn facts(plan: &Simulated) -> String {
    let outcome = &plan.outcome;
    let ends = outcome.ends.iter().copied();
    let first = ends.fold(f64::INFINITY, f64::min);
    format!(
        "  {} until the last rank has ended, {} for the first\n  \
         {} of {} at most, {} between clusters\n",
        units::seconds(outcome.seconds),
        units::seconds(first),
        pluralize(outcome.messages, "message"),
        units::bytes(plan.segment as f64),
        units::bytes(outcome.bytes_between as f64)
    )
}

/// Converts all of it to JSON.
pub fn json(plan: &Simulated) -> Value {
    let outcome = &plan.outcome;
    let bars = outcome.bars.iter().map(|bar| {
        json!({
            "rank": bar.rank, "start": bar.start, "end": bar.end,
            "doing": KINDS[kind(bar.doing)], "peer": bar.peer, "bytes": bar.bytes,
        })
    });
    json!({
        "collective": plan.collective.to_string(),
        "algorithm": plan.composition.name(),
        "bytes": plan.bytes,
        "segment": plan.segment,
        "ranks": plan.ranks,
        "seconds": outcome.seconds,
        "ends": outcome.ends,
        "messages": outcome.messages,
        "bytes_between_clusters": outcome.bytes_between,
        "bars": bars.collect::<Vec<_>>(),
    })
}

/// Draws the steps of each rank in time.
pub fn gantt(plan: &Simulated) -> Gantt {
    let bars = plan.outcome.bars.iter().map(|bar| Bar {
        row: bar.rank,
        start: bar.start,
        end: bar.end,
        kind: kind(bar.doing),
    });
    // Kinds without a step need no colour in the legend.
    let last = plan.outcome.bars.iter().map(|bar| kind(bar.doing)).max();
    Gantt {
        title: describe(plan),
        rows: (0..plan.ranks).map(|rank| format!("rank {rank}")).collect(),
        kinds: KINDS[..last.map_or(0, |last| last + 1)].to_vec(),
        bars: bars.collect(),
        mark: units::seconds,
    }
}

/// Steps of each rank as bars of a trace, with an arrow for each message.
pub fn trace(plan: &Simulated) -> Value {
    let steps: &[Step] = &plan.outcome.bars;
    let row = |rank: usize| Row {
        process: 0,
        thread: rank,
    };
    let mut events = Events::default();
    events.process(0, &describe(plan));
    for rank in 0..plan.ranks {
        events.thread(row(rank), &format!("rank {rank}"));
    }
    let mut sent: HashMap<(usize, usize), VecDeque<&Step>> = HashMap::new();
    for step in steps {
        let name = match (KINDS[kind(step.doing)], step.peer) {
            (name, Some(peer)) if step.doing == Doing::Send => format!("{name} to {peer}"),
            (name, Some(peer)) => format!("{name} from {peer}"),
            (name, None) => name.to_owned(),
        };
        let span = [micros(step.start), micros(step.end)];
        let bytes = json!({ "bytes": step.bytes });
        events.bar("plan", row(step.rank), &name, span, bytes);
        if let (Doing::Send, Some(peer)) = (step.doing, step.peer) {
            sent.entry((step.rank, peer)).or_default().push_back(step);
        }
    }
    // Messages between two ranks do not overtake each other.
    let received = steps.iter().filter(|step| step.doing == Doing::Receive);
    for step in received {
        let Some(peer) = step.peer else { continue };
        let message = sent.get_mut(&(peer, step.rank));
        if let Some(message) = message.and_then(VecDeque::pop_front) {
            let middle = |step: &Step| micros((step.start + step.end) / 2.0);
            let from = (row(message.rank), middle(message));
            events.arrow("message", from, (row(step.rank), middle(step)));
        }
    }
    events.whole()
}
