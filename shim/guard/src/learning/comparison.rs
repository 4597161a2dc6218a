//! Comparison of two ways to run an application: pairs of runs, and the standing of a candidate.

use treepie_base::proof::{Pairs, Verdict};
use treepie_base::statistics::median;

use super::experience::{Arm, End, Run};
use super::policy::{
    BAD_RATIO, LARGE_RATIO, LIMITS, LOOKS_PART, MAX_PAIRS, NEWEST_PAIRS, NEWEST_RUNS,
    OVERDUE_RATIO, OVERDUE_SECONDS, SECOND_LOOK_RUNS,
};

/// Evidence from pairs of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunEvidence {
    /// Fraction of the other's time that the candidate saves; `None` without a pair.
    pub gain: Option<f64>,
    /// Bounds of the gain, which hold in 95 % of all comparisons.
    pub interval: (f64, f64),
    /// Number of pairs.
    pub pairs: usize,
    /// Verdict on the candidate.
    pub verdict: Verdict,
}

/// Standing of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// Undecided: runs of both arms continue to alternate.
    Open,
    /// It is so much faster that it is used; the proof follows gradually.
    Likely,
    /// It is proven to be faster.
    Proven,
    /// It is not faster, or not by a provable difference.
    Declined,
    /// It failed where the other arm did not.
    Failed,
    /// A run with it has not ended: no candidate is tried meanwhile.
    Waiting,
    /// Its only run took much longer: it has another one later.
    Deferred,
}

/// Two arms, and their runs.
pub(super) struct Comparison<'a> {
    /// Best arm so far.
    pub(super) known: Arm,
    /// Arm that may be better.
    pub(super) candidate: Arm,
    /// Runs of these two arms, in their order.
    pub(super) runs: Vec<&'a Run>,
    /// Current time, in seconds since 1970.
    pub(super) now: u64,
}

impl Comparison<'_> {
    /// Returns the seconds of the runs of an arm that ended well, in their order.
    fn seconds(&self, arm: Arm) -> Vec<f64> {
        let of_arm = self.runs.iter().filter(|run| run.arm == arm);
        of_arm.filter_map(|run| run.seconds()).collect()
    }

    /// Returns pairs of seconds, the known arm first, and the arm of the newest unpaired run. A run
    /// is paired with the nearest earlier one of the other arm. The first run of each arm is in no
    /// pair: its files are not in memory yet, and it may have been counted.
    fn pairs(&self) -> (Vec<(f64, f64)>, Option<Arm>) {
        let mut pairs = Vec::new();
        let mut first = vec![self.known, self.candidate];
        let mut last: Option<(Arm, f64)> = None;
        for run in self.runs.iter().filter(|run| is_later(run, &mut first)) {
            let Some(seconds) = run.seconds().filter(|_| !run.counted) else {
                continue;
            };
            last = match last {
                Some((arm, other)) if arm != run.arm => {
                    pairs.push(match arm == self.known {
                        true => (other, seconds),
                        false => (seconds, other),
                    });
                    None
                }
                _ => Some((run.arm, seconds)),
            };
        }
        let older = pairs.len().saturating_sub(MAX_PAIRS);
        (pairs.split_off(older), last.map(|(arm, _)| arm))
    }

    /// Returns the verdict on the pairs, and their number.
    fn verdict(&self) -> (Verdict, usize) {
        let (times, _) = self.pairs();
        let newest = &times[times.len().saturating_sub(NEWEST_PAIRS)..];
        let verdict = match paired(newest).verdict(LIMITS) {
            Verdict::Worse => Verdict::Worse,
            _ => paired(&times).verdict(LIMITS),
        };
        (verdict, times.len())
    }

    /// Returns the evidence from the pairs.
    pub(super) fn evidence(&self) -> RunEvidence {
        let pairs = paired(&self.pairs().0);
        RunEvidence {
            gain: pairs.gain(),
            interval: pairs.interval(),
            pairs: pairs.count(),
            verdict: self.verdict().0,
        }
    }

    /// Returns the standing of the candidate.
    pub(super) fn standing(&self) -> Standing {
        if self.failed() {
            return Standing::Failed;
        }
        let (verdict, pairs) = self.verdict();
        match verdict {
            Verdict::Gain => return Standing::Proven,
            Verdict::Worse | Verdict::None => return Standing::Declined,
            Verdict::NotProven => (),
        }
        if self.is_waited_for() {
            return Standing::Waiting;
        }
        let newest = |arm| -> Vec<f64> {
            let seconds = self.seconds(arm);
            seconds.into_iter().rev().take(NEWEST_RUNS).collect()
        };
        let (known, candidate) = (newest(self.known), newest(self.candidate));
        if is_shorter(LARGE_RATIO, &candidate, &known) {
            return Standing::Likely;
        }
        let by_half = median(&known).zip(median(&candidate));
        let is_longer = by_half.is_some_and(|(known, candidate)| BAD_RATIO * known <= candidate);
        match is_longer && is_shorter(1.0, &known, &candidate) {
            true if known.len() > 1 && candidate.len() > 1 => Standing::Declined,
            true if self.since_tried() < self.second_look() => Standing::Deferred,
            _ if pairs >= LIMITS.pairs => Standing::Declined,
            _ => Standing::Open,
        }
    }

    /// Returns the number of runs of the faster arm that pay for one of the slower one.
    pub(super) fn runs_that_pay(&self) -> usize {
        let of = |arm| median(&self.seconds(arm));
        let both = of(self.known).zip(of(self.candidate));
        let more = both.map_or(0.0, |(a, b)| a.max(b) / a.min(b) - 1.0);
        (more / LOOKS_PART).ceil() as usize
    }

    /// Returns the number of runs of the other arm before the candidate's second one.
    fn second_look(&self) -> usize {
        let [least, most] = SECOND_LOOK_RUNS;
        self.runs_that_pay().clamp(least, most)
    }

    /// Returns the number of runs of the other arm since the last one of the candidate.
    fn since_tried(&self) -> usize {
        let newest = self.runs.iter().rev();
        newest.take_while(|run| run.arm == self.known).count()
    }

    /// True if a run of the candidate failed, and the newest of the other arm did not.
    fn failed(&self) -> bool {
        let mut of_known = self.runs.iter().rev().filter(|run| run.arm == self.known);
        let is_well = of_known.find_map(|run| match run.end {
            End::Open => None,
            End::Seconds(_) => Some(true),
            End::Failed => Some(false),
        });
        let mut of_candidate = self.runs.iter().filter(|run| run.arm == self.candidate);
        is_well == Some(true)
            && of_candidate.any(|run| run.end == End::Failed || self.is_overdue(run))
    }

    fn is_waited_for(&self) -> bool {
        let mut open = self.runs.iter().filter(|run| run.end == End::Open);
        open.any(|run| run.arm == self.candidate && !self.is_overdue(run))
    }

    /// True if a run should have ended long ago.
    fn is_overdue(&self, run: &Run) -> bool {
        let usual = median(&self.seconds(self.known)).unwrap_or(f64::INFINITY);
        let since = self.now.saturating_sub(run.began) as f64;
        run.end == End::Open && since > OVERDUE_RATIO * usual + OVERDUE_SECONDS
    }

    /// True if the candidate, which is used, takes longer now than the other arm did: then the next
    /// run compares them.
    pub(super) fn is_in_doubt(&self) -> bool {
        let newest = self.seconds(self.candidate);
        let usual = median(&self.seconds(self.known));
        let both = newest.last().zip(usual);
        both.is_some_and(|(newest, usual)| *newest > usual)
    }

    /// Returns the number of runs of the candidate since the last run of the other arm.
    pub(super) fn since_compared(&self) -> usize {
        let newest = self.runs.iter().rev();
        newest
            .take_while(|run| run.arm == self.candidate)
            .filter(|run| !run.counted)
            .count()
    }

    /// Returns the arm of the next run of a comparison: the first run of each, then the other half
    /// of a pair, and between pairs a random one.
    pub(super) fn in_turn(&self, lot: bool) -> Arm {
        let ran = |arm| self.runs.iter().any(|run| run.arm == arm);
        match self.pairs().1 {
            _ if !ran(self.candidate) => self.candidate,
            _ if !ran(self.known) => self.known,
            Some(arm) if arm == self.known => self.candidate,
            Some(_) => self.known,
            None if lot => self.candidate,
            None => self.known,
        }
    }
}

/// True if this run is not the first one of its arm that ended.
fn is_later(run: &Run, first: &mut Vec<Arm>) -> bool {
    match first.iter().position(|arm| *arm == run.arm) {
        Some(at) if run.seconds().is_some() => {
            first.remove(at);
            false
        }
        Some(_) => false,
        None => true,
    }
}

fn paired(times: &[(f64, f64)]) -> Pairs {
    let mut pairs = Pairs::default();
    for (known, candidate) in times {
        pairs.add(*known, *candidate);
    }
    pairs
}

/// True if every one of `those` takes at least `times` times as long as every one of `these`.
fn is_shorter(times: f64, these: &[f64], those: &[f64]) -> bool {
    let longest = these.iter().copied().fold(0.0, f64::max);
    let shortest = those.iter().copied().fold(f64::INFINITY, f64::min);
    !these.is_empty() && !those.is_empty() && times * longest <= shortest
}
