//! Time between checkpoints, and the time lost with it (Young 1974, Daly 2006).

use serde::Serialize;

use crate::containment::error::ContainmentError;

/// Failure rate of a machine, and times of a checkpoint and a restart, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Failures {
    /// Mean time between failures of any domain.
    pub mtbf: f64,
    /// Time of a checkpoint.
    pub checkpoint: f64,
    /// Time of a restart.
    pub restart: f64,
}

impl Failures {
    /// Computes the failures of `domains` domains, each of which fails once in `domain_mtbf`
    /// seconds.
    ///
    /// # Errors
    /// A time is negative or not finite, or an MTBF or a checkpoint is 0.
    pub fn new(
        domain_mtbf: f64,
        domains: usize,
        checkpoint: f64,
        restart: f64,
    ) -> Result<Self, ContainmentError> {
        require_positive("an MTBF", domain_mtbf)?;
        require_positive("a checkpoint", checkpoint)?;
        if !restart.is_finite() || restart < 0.0 {
            return Err(ContainmentError::BadTime {
                what: "a restart",
                value: restart,
                expected: "that is not negative",
            });
        }
        Ok(Failures {
            mtbf: domain_mtbf / domains.max(1) as f64,
            checkpoint,
            restart,
        })
    }

    /// Failure rate for a program of which a failure stops only `share`: failures are rarer by that
    /// factor.
    #[must_use]
    pub(crate) fn stopping_only(self, share: f64) -> Self {
        Failures {
            mtbf: self.mtbf / share,
            ..self
        }
    }

    /// Young's interval: the least first-order loss (Young 1974).
    pub(crate) fn young(self) -> f64 {
        (2.0 * self.checkpoint * self.mtbf).sqrt()
    }

    /// Daly's higher-order interval (Daly 2006, equation 37): the MTBF if a checkpoint takes at
    /// least twice as long.
    pub fn daly(self) -> f64 {
        let ratio = self.checkpoint / (2.0 * self.mtbf);
        if ratio >= 1.0 {
            return self.mtbf;
        }
        self.young() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - self.checkpoint
    }

    /// Ratio of run time to work for failures that are a Poisson process and stop all ranks (Daly
    /// 2006, equation 20).
    pub fn run_time(self, interval: f64) -> f64 {
        let segment = (interval + self.checkpoint) / self.mtbf;
        self.mtbf * (self.restart / self.mtbf).exp() * segment.exp_m1() / interval
    }

    /// First-order share of the time that is lost: in checkpoints, and in repeated work.
    pub fn waste(self, interval: f64) -> f64 {
        self.checkpoint / interval + self.rework(interval) / self.mtbf
    }

    /// Time that a failure takes from each rank that it rolls back: half an interval and a restart.
    pub(crate) fn rework(self, interval: f64) -> f64 {
        interval / 2.0 + self.restart
    }
}

/// Accepts finite times above 0.
pub(super) fn require_positive(what: &'static str, value: f64) -> Result<(), ContainmentError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(ContainmentError::BadTime {
            what,
            value,
            expected: "above 0",
        })
    }
}
