//! The calls that ranks are in as bars of a trace, up to the time at which they were observed, with
//! arrows to the ranks that they wait for.

use serde_json::{Value, json};
use treepie_base::Rank;
use treepie_jobstate::waits::ObservedRank;

use crate::trace_events::{Events, Row, micros};
use crate::waits::hang::Hang;

/// Time before the end of bars at which arrows stand.
const BEFORE_END: f64 = 1.0;

fn row(rank: Rank, area: usize) -> Row {
    Row {
        process: rank.0,
        thread: area,
    }
}

impl Hang {
    /// The trace of a job; its time begins with the oldest call.
    pub fn trace(&self) -> Value {
        let threads = self.job.ranks.values().flat_map(|seen| &seen.state.threads);
        let known = threads
            .map(|thread| thread.since)
            .filter(|since| *since > 0);
        let begin = known.min().unwrap_or(self.now);
        let seconds = |time: u64| micros(time.saturating_sub(begin) as f64 / 1e9);
        let end = seconds(self.now);
        let mut events = Events::default();
        for (&rank, seen) in &self.job.ranks {
            let name = format!("rank {rank} on {}", seen.state.host);
            events.process(rank.0, &name);
            let does = self.describe(seen);
            for (thread, does) in seen.state.threads.iter().zip(&does) {
                let row = row(rank, thread.area);
                events.thread(row, &format!("thread {}", thread.area));
                let start = match thread.since {
                    0 => end,
                    since => seconds(since),
                };
                let arguments = json!({ "procedure": thread.procedure, "call": thread.number });
                events.bar("MPI", row, does, [start, end], arguments);
            }
        }
        self.arrows(end - BEFORE_END, &mut events);
        events.whole()
    }

    /// Arrows where a rank waits for one other.
    fn arrows(&self, time: f64, events: &mut Events) {
        let first = |rank: Rank| {
            let seen: &ObservedRank = self.job.ranks.get(&rank)?;
            let thread = seen.state.threads.first()?;
            Some((row(rank, thread.area), time))
        };
        for wait in &self.verdict.waits {
            for clause in &wait.clauses {
                let [target] = clause[..] else { continue };
                if let (Some(from), Some(to)) = (first(wait.rank), first(target)) {
                    events.arrow("waits for", from, to);
                }
            }
        }
    }
}
