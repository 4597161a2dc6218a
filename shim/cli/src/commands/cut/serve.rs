//! Execution of the orders of the command on another host.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::commands::cut::members::Members;
use crate::commands::cut::protocol::{Answer, BETWEEN_BEATS, Order, PATIENCE};
use crate::commands::outcome::Outcome;

/// Acts as a coordinator: executes orders until there are no more. While others still run the
/// user's command, its ranks stay stopped.
pub fn serve(mut members: Members) -> Outcome {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        lines
            .map_while(|line| sender.send(line).ok())
            .for_each(drop);
    });
    let mut stays_until = Instant::now();
    loop {
        let line = match orders.recv_timeout(BETWEEN_BEATS) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                if Instant::now() < stays_until {
                    members.beat();
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(ExitCode::SUCCESS),
        };
        let began = Instant::now();
        let answer = match serde_json::from_str(&line) {
            Ok(order) => {
                stays_until = match &order {
                    Order::Then { limit, .. } => began + PATIENCE + Duration::from_secs_f64(*limit),
                    _ => began,
                };
                members.obey(&order)
            }
            Err(error) => Answer::problem(format!("an order that is none: {error}")),
        };
        let text = serde_json::to_string(&answer).unwrap_or_default();
        let mut output = io::stdout().lock();
        let written = writeln!(output, "{text}").and_then(|()| output.flush());
        if written.is_err() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}
