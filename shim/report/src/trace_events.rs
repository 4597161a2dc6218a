//! Chrome's trace-event format, which Perfetto opens: bars of threads of processes, their names,
//! and arrows between bars. Times are in microseconds.

use serde_json::{Value, json};

/// A thread of a process, of which a viewer draws a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) process: usize,
    pub(crate) thread: usize,
}

/// Events of a trace.
#[derive(Debug, Default)]
pub(crate) struct Events {
    events: Vec<Value>,
    arrows: usize,
}

impl Events {
    /// A bar, with what a viewer shows of it beside its name.
    pub(crate) fn bar(
        &mut self,
        category: &str,
        row: Row,
        name: &str,
        [start, end]: [f64; 2],
        arguments: Value,
    ) {
        self.events.push(json!({
            "ph": "X", "cat": category, "pid": row.process, "tid": row.thread, "name": name,
            "ts": start, "dur": (end - start).max(0.0), "args": arguments,
        }));
    }

    /// An arrow from a time in a bar of one row to a time in one of another.
    pub(crate) fn arrow(&mut self, name: &str, from: (Row, f64), to: (Row, f64)) {
        self.arrows += 1;
        for (kind, (row, time)) in [("s", from), ("f", to)] {
            let mut event = json!({
                "ph": kind, "cat": name, "name": name, "id": self.arrows, "pid": row.process,
                "tid": row.thread, "ts": time,
            });
            if kind == "f" {
                // To the bar around the time, and not to the next one.
                event["bp"] = "e".into();
            }
            self.events.push(event);
        }
    }

    /// The name of a process, which stands above its rows.
    pub(crate) fn process(&mut self, process: usize, name: &str) {
        self.named("process_name", Row { process, thread: 0 }, name);
    }

    /// The name of a row.
    pub(crate) fn thread(&mut self, row: Row, name: &str) {
        self.named("thread_name", row, name);
    }

    fn named(&mut self, what: &str, row: Row, name: &str) {
        self.events.push(json!({
            "ph": "M", "name": what, "pid": row.process, "tid": row.thread,
            "args": { "name": name },
        }));
    }

    /// Whether there is no event.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The file.
    pub(crate) fn whole(self) -> Value {
        json!({ "traceEvents": self.events, "displayTimeUnit": "ms" })
    }
}

/// Seconds as a trace has them.
pub(crate) fn micros(seconds: f64) -> f64 {
    seconds * 1e6
}
