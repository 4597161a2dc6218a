//! Cost of containment, by the number of groups.

use serde::Serialize;
use treepie_traffic::Matrix;

use super::cut::{logged, require_count};
use super::interval::require_positive;
use crate::containment::cut::Cut;
use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;
use crate::containment::interval::Failures;
use crate::containment::partition::{group_counts, grouped};

/// Bytes per second at which a rank copies messages into its log: low for a memory copy, which
/// reaches 1 to 5 GB/s per rank.
pub(super) const COPY_RATE: f64 = 1e9;

/// Inputs of the trade-off.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Bytes that ranks sent to each other in the run.
    pub bytes: &'a Matrix,
    /// Messages, if counted.
    pub messages: Option<&'a Matrix>,
    /// Domains that fail as a whole.
    pub domains: &'a Domains,
    /// Larger parts of the machine, whose nodes are candidates for groups.
    pub levels: &'a [Domains],
    /// Failure rate of domains, and times of a checkpoint and a restart.
    pub failures: Failures,
    /// Seconds of the run; without them the size of a log is not known.
    pub run_time: Option<f64>,
    /// Seconds between checkpoints [default: Daly's].
    pub interval: Option<f64>,
    /// Maximum number of bytes of memory for the log of a rank.
    pub log_memory: Option<f64>,
    /// Groups to examine.
    pub plan: &'a Plan,
}

/// Requested groups.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// All numbers of groups of `group_counts`.
    Series,
    /// One number of groups.
    Count(usize),
    /// The group of each rank.
    Given(Vec<usize>),
}

/// Expected costs of a division into groups under one assumption about a failure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlook {
    /// Young's interval, in seconds.
    pub young: f64,
    /// Daly's interval, in seconds.
    pub daly: f64,
    /// The interval used for the following fields: the given one, or Daly's.
    pub interval: f64,
    /// Largest log of a rank in bytes: its traffic to other groups in an interval. Twice that if
    /// groups checkpoint at different times: a message is freed when the group of its receiver has
    /// checkpointed.
    pub largest_log: Option<f64>,
    /// Mean log of a rank, in bytes.
    pub mean_log: Option<f64>,
    /// First-order share of the time that is lost.
    pub waste: f64,
    /// Rank-seconds of work and restart lost by a failure.
    pub lost_rank_seconds: f64,
    /// True if the largest log fits into its memory.
    pub fits: bool,
    /// True if no other division that fits loses less time.
    pub least_loss: bool,
}

/// A division into groups and its costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Division {
    /// The group of each rank.
    pub group_of_rank: Vec<usize>,
    /// Logged messages and rolled-back ranks.
    pub cut: Cut,
    /// Messages between groups, if messages were counted.
    pub messages: Option<f64>,
    /// Ratio of these messages to all messages, from 0 to 1.
    pub messages_share: Option<f64>,
    /// Costs if ranks of other groups wait until those that were rolled back have caught up, as in
    /// a stencil: groups then save work and energy, but no time.
    pub others_wait: Outlook,
    /// Costs if ranks of other groups can continue.
    pub others_go_on: Outlook,
    /// True if no other division logs less, rolls back fewer, and has a smaller largest log.
    pub on_front: bool,
}

/// Computes divisions by increasing number of groups.
///
/// # Errors
/// The question has no answer, or the sum of the traffic is too large.
pub fn trade_offs(question: &Question) -> Result<Vec<Division>, ContainmentError> {
    question.check()?;
    let counts = match question.plan {
        Plan::Given(groups) => return Ok(marked(vec![question.division(groups.clone())?])),
        Plan::Count(count) => vec![*count],
        Plan::Series => group_counts(question.domains, question.levels),
    };
    let divisions = counts.into_iter().map(|count| {
        let groups = grouped(question.bytes, question.domains, question.levels, count)?;
        question.division(groups)
    });
    Ok(marked(divisions.collect::<Result<_, _>>()?))
}

impl Question<'_> {
    fn check(&self) -> Result<(), ContainmentError> {
        let ranks = self.bytes.order();
        if ranks < 2 {
            return Err(ContainmentError::TooFewRanks { ranks });
        }
        require_count("failure domains", self.domains.of_rank().len(), ranks)?;
        if self.bytes.entries().all(|(from, to, _)| from == to) {
            return Err(ContainmentError::NoTraffic);
        }
        if let Some(run_time) = self.run_time {
            require_positive("a run", run_time)?;
        }
        match self.interval {
            Some(interval) => require_positive("an interval", interval),
            None => Ok(()),
        }
    }

    fn division(&self, group_of_rank: Vec<usize>) -> Result<Division, ContainmentError> {
        let cut = Cut::new(self.bytes, &group_of_rank, self.domains)?;
        let crossing = |messages: &Matrix| logged(messages, &group_of_rank);
        let messages = self.messages.map(crossing);
        let all = self.messages.map(|messages| messages.total().max(1.0));
        let share = cut.rolled_back_share();
        Ok(Division {
            others_wait: self.outlook(&cut, self.failures),
            others_go_on: self.outlook(&cut, self.failures.stopping_only(share)),
            messages,
            messages_share: messages.zip(all).map(|(some, all)| some / all),
            cut,
            group_of_rank,
            on_front: false,
        })
    }

    /// The costs of a cut if failures stop the whole program at the rate of `stopping`.
    fn outlook(&self, cut: &Cut, stopping: Failures) -> Outlook {
        let daly = stopping.daly();
        let interval = self.interval.unwrap_or(daly);
        let ranks = cut.ranks() as f64;
        let in_an_interval = |bytes: f64| self.run_time.map(|run| bytes * interval / run);
        let largest_log = in_an_interval(cut.largest_log);
        let slow_down = self
            .run_time
            .map_or(0.0, |run| cut.bytes / (ranks * run) / COPY_RATE);
        Outlook {
            young: stopping.young(),
            daly,
            interval,
            largest_log,
            mean_log: in_an_interval(cut.bytes / ranks),
            waste: stopping.waste(interval) + slow_down,
            lost_rank_seconds: stopping.rework(interval) * cut.rolled_back,
            fits: match (largest_log, self.log_memory) {
                (Some(log), Some(memory)) => log <= memory,
                _ => true,
            },
            least_loss: false,
        }
    }
}

/// Marks the divisions that no other dominates, and those that lose the least time.
fn marked(mut divisions: Vec<Division>) -> Vec<Division> {
    let criteria = |cut: &Cut| [cut.bytes_share, cut.rolled_back, cut.largest_log];
    let all: Vec<[f64; 3]> = divisions.iter().map(|one| criteria(&one.cut)).collect();
    for division in &mut divisions {
        let own = criteria(&division.cut);
        let beats = |other: &[f64; 3]| {
            *other != own && other.iter().zip(&own).all(|(there, here)| there <= here)
        };
        division.on_front = !all.iter().any(beats);
    }
    mark_least_loss(divisions.iter_mut().map(|one| &mut one.others_wait));
    mark_least_loss(divisions.iter_mut().map(|one| &mut one.others_go_on));
    divisions
}

fn mark_least_loss<'a>(outlooks: impl Iterator<Item = &'a mut Outlook>) {
    let fitting = outlooks.filter(|outlook| outlook.fits);
    if let Some(least) = fitting.min_by(|a, b| a.waste.total_cmp(&b.waste)) {
        least.least_loss = true;
    }
}
