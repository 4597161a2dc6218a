//! Offset between the clocks of two ranks.

/// Query of another rank for the time on its clock, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Time of the query, on the clock of the querying rank.
    pub sent: f64,
    /// Answer of the other rank.
    pub there: f64,
    /// Arrival of the answer, on the clock of the querying rank.
    pub received: f64,
}

impl Question {
    fn took(&self) -> f64 {
        self.received - self.sent
    }
}

/// Returns by how much the other clock is ahead, in seconds, from the query with the shortest round
/// trip: assuming that its message took the same time in both directions, so that the error is at
/// most half of the round trip. `None` without a query.
///
/// Source: Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989.
pub fn ahead(questions: &[Question]) -> Option<f64> {
    let soonest = questions
        .iter()
        .min_by(|one, other| one.took().total_cmp(&other.took()))?;
    Some(soonest.there - (soonest.sent + soonest.received) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns queries of a clock that is this far ahead, by messages that take at least 1 us.
    fn asked(ahead: f64, delays: [f64; 2]) -> Vec<Question> {
        let mut now = 5.0;
        let ask = |number: u32| {
            let message = |delay: f64| 1e-6 + delay * f64::from(number * 7 % 20) / 20.0;
            let (there, back) = (message(delays[0]), message(delays[1]));
            let sent = now;
            now += there + back;
            Question {
                sent,
                there: sent + there + ahead,
                received: now,
            }
        };
        (1..=20).map(ask).collect()
    }

    #[test]
    fn a_clock_is_found_to_within_half_of_the_shortest_round_trip() {
        for ahead_by in [-3.0, 0.0, 1e-5, 40.0] {
            for delays in [[0.0, 0.0], [1e-3, 1e-3], [1e-3, 0.0], [0.0, 1e-3]] {
                let questions = asked(ahead_by, delays);
                let took = questions.iter().map(Question::took);
                let soonest = took.fold(f64::INFINITY, f64::min);
                let error = (ahead(&questions).unwrap() - ahead_by).abs();
                assert!(error <= soonest / 2.0 + 1e-12, "{error} of {soonest}");
                // A single query would be off by the delay of a message.
                assert!(error < 2e-4, "{error}");
            }
        }
        assert_eq!(ahead(&[]), None);
    }
}
