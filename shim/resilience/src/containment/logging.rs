//! Comparison of waves of the whole job with logging of all messages, by the failure rate of the
//! machine.
//!
//! With waves at an interval a job loses `delta/tau + (tau/2 + Rs)/M` (Young 1974). With logging,
//! ranks save independently while they continue, and it loses `s + (tau/2 + Rs)/M`, if replay is as
//! fast as the run and others wait for it: `s` is the time in which senders copy messages. At
//! Young's interval both lose the same if `M = delta / (2 s^2)`.

use serde::Serialize;
use treepie_traffic::Matrix;

use super::trade_off::COPY_RATE;
use crate::containment::interval::Failures;

/// Compared mean times between failures, in seconds: an hour to a year.
const MTBFS: [f64; 6] = [
    3_600.0,
    21_600.0,
    86_400.0,
    604_800.0,
    2_592_000.0,
    31_557_600.0,
];

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Logging {
    /// Mean share of the time in which a rank copies its sends.
    pub slow_down: f64,
    /// Mean time between failures of the machine above which waves lose less, in seconds; infinite
    /// if nothing is logged.
    pub crossing: f64,
    /// Rows by mean time between failures, including the machine's own.
    pub rows: Vec<LoggingRow>,
}

/// Losses of both methods for one machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoggingRow {
    /// Mean time between failures of any domain, in seconds.
    pub mtbf: f64,
    /// Young's interval, in seconds.
    pub interval: f64,
    /// Share of the time lost with waves.
    pub waves: f64,
    /// Share of the time lost with logging.
    pub logging: f64,
    /// True if this is the requested machine.
    pub is_own: bool,
}

impl Logging {
    /// Compares both for the traffic of a run of `run_time` seconds.
    pub fn new(bytes: &Matrix, run_time: f64, failures: Failures) -> Self {
        let sent: f64 = bytes
            .entries()
            .filter(|&(from, to, _)| from != to)
            .map(|(_, _, bytes)| bytes)
            .sum();
        Logging::with_slow_down(
            sent / (bytes.order() as f64 * run_time) / COPY_RATE,
            failures,
        )
    }

    /// Compares both if logging takes this share of the time.
    pub(crate) fn with_slow_down(slow_down: f64, failures: Failures) -> Self {
        let mut mtbfs = MTBFS.to_vec();
        mtbfs.push(failures.mtbf);
        mtbfs.sort_by(f64::total_cmp);
        mtbfs.dedup();
        let row = |mtbf| {
            let failing = Failures { mtbf, ..failures };
            let interval = failing.young();
            LoggingRow {
                mtbf,
                interval,
                waves: failing.waste(interval),
                logging: slow_down + failing.rework(interval) / mtbf,
                is_own: mtbf == failures.mtbf,
            }
        };
        Logging {
            slow_down,
            crossing: failures.checkpoint / (2.0 * slow_down * slow_down),
            rows: mtbfs.into_iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_lose_less_than_logging_on_machines_that_fail_less_often_than_the_crossing() {
        let failures = Failures::new(86_400.0, 1, 60.0, 120.0).unwrap();
        let found = Logging::with_slow_down(0.01, failures);
        // 60 s / (2 * 0.01^2): 83 hours.
        assert!(
            (found.crossing - 300_000.0).abs() < 1e-6,
            "{}",
            found.crossing
        );
        assert_eq!(found.rows.len(), 6);
        for row in &found.rows {
            assert_eq!(
                row.waves < row.logging,
                row.mtbf > found.crossing,
                "{row:?}"
            );
            assert_eq!(row.is_own, row.mtbf == 86_400.0);
        }
        let at = Failures {
            mtbf: found.crossing,
            ..failures
        };
        let row = Logging::with_slow_down(0.01, at)
            .rows
            .into_iter()
            .find(|row| row.is_own);
        let row = row.unwrap();
        assert!((row.waves - row.logging).abs() < 1e-12, "{row:?}");
        assert!((row.interval - 6_000.0).abs() < 1e-6);
    }

    #[test]
    fn ranks_copy_what_they_send_to_others() {
        let entries = [(0, 1, 3e9), (1, 0, 1e9), (1, 1, 5e9)];
        let bytes = Matrix::from_entries(2, entries).unwrap();
        let failures = Failures::new(86_400.0, 1, 60.0, 120.0).unwrap();
        let found = Logging::new(&bytes, 100.0, failures);
        assert!(
            (found.slow_down - 0.02).abs() < 1e-12,
            "{}",
            found.slow_down
        );
    }
}
