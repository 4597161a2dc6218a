//! A clock common to all ranks, and calls that begin simultaneously by it.

use std::time::Instant;

use treepie_mpi::program::Communicator;
use treepie_native::tuning::{Question, ahead};

/// Number of queries to each rank. The first ones open connections.
const QUESTIONS: usize = 16;

/// Ratio of the time by which a start is announced to the time that an announcement takes.
const MARGIN: f64 = 2.0;

/// Number of announcements by which that time is measured.
const TOLD: usize = 4;

/// The clock of this rank, and its relation to that of rank 0.
#[derive(Debug)]
pub struct CommonClock {
    began: Instant,
    /// Seconds by which this rank's clock is ahead of rank 0's.
    ahead: f64,
    /// Seconds from the announcement of a start to the start.
    margin: f64,
}

impl CommonClock {
    /// Seconds count from `began`, which may differ between ranks. Collective.
    pub fn new(members: &Communicator, began: Instant) -> Self {
        let mut clock = CommonClock {
            began,
            ahead: 0.0,
            margin: 0.0,
        };
        clock.compare(members);
        let mut told = 0.0;
        for _ in 0..TOLD {
            // The last one counts: connections are open.
            told = clock.now() - clock.announced(members);
        }
        let mut longest = [told];
        members.largest(&mut longest);
        clock.margin = MARGIN * longest[0].max(0.0);
        clock
    }

    /// Seconds on this rank's clock.
    pub fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Compares all clocks with rank 0's. Collective.
    pub fn compare(&mut self, members: &Communicator) {
        if members.rank() > 0 {
            for _ in 0..QUESTIONS {
                members.receive(0);
                members.send(self.now(), 0);
            }
            self.ahead = members.receive(0);
            return;
        }
        for rank in 1..members.size() {
            let ask = |_| {
                let sent = self.now();
                members.send(sent, rank);
                let there = members.receive(rank);
                let received = self.now();
                Question {
                    sent,
                    there,
                    received,
                }
            };
            let questions: Vec<Question> = (0..QUESTIONS).map(ask).collect();
            members.send(ahead(&questions).unwrap_or(0.0), rank);
        }
    }

    /// Waits for a start; returns the actual start on this rank's clock, which is later if it came
    /// late.
    pub fn wait(&self, start: f64) -> f64 {
        loop {
            let now = self.now();
            if now >= start {
                return now;
            }
            // Others on this core may not have received it yet.
            std::thread::yield_now();
        }
    }

    /// The start announced by rank 0, on this rank's clock. Collective.
    pub fn announced(&self, members: &Communicator) -> f64 {
        let mut start = (self.now() + self.margin).to_le_bytes();
        members.broadcast(&mut start);
        f64::from_le_bytes(start) + self.ahead
    }
}
