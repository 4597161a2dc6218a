//! Next run of an application.

use treepie_placement::worth::Worth;

use super::comparison::{Comparison, RunEvidence, Standing};
use super::experience::{Arm, Candidate, End, Experience, Judgement, Run};
use super::policy::{
    MAX_AGE_SECONDS, MAX_OPEN_RUNS, RECOMPARE_LIKELY_RUNS, RECOMPARE_PROVEN_RUNS, RECOUNT_RUNS,
};

/// Knowledge about an application in one shape of allocations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knowledge {
    /// None: the traffic of the run is counted.
    Unknown,
    /// Its runs never end by `MPI_Finalize`: there is nothing to learn from.
    NeverEnds,
    /// Traffic was counted, and is to be judged in this shape.
    Counted,
    /// No candidate is worth a trial.
    NotWorth(Worth),
    /// Two arms are compared.
    Compared {
        /// Best arm so far.
        known: Arm,
        /// Arm that may be better.
        candidate: Arm,
        /// Standing of the candidate.
        standing: Standing,
        /// Evidence from their runs.
        evidence: RunEvidence,
    },
}

/// Next run of an application.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// Its arm.
    pub arm: Arm,
    /// The candidate, if that is not the plain arm.
    pub candidate: Option<Candidate>,
    /// True if its traffic is counted.
    pub counts: bool,
    /// Knowledge on which it is based.
    pub knowledge: Knowledge,
}

impl Next {
    fn plain(knowledge: Knowledge, counts: bool) -> Next {
        Next {
            arm: Arm::Plain,
            candidate: None,
            counts,
            knowledge,
        }
    }
}

/// Returns the next run, with processes in `shape`, at the time `now` in seconds since 1970. `lot`
/// is random.
pub fn next(experience: &Experience, shape: u64, now: u64, lot: bool) -> Next {
    let is_known = |run: &&Run| run.began + MAX_AGE_SECONDS > now;
    let runs: Vec<&Run> = experience.runs.iter().filter(is_known).collect();
    let counted = runs
        .iter()
        .rposition(|run| run.counted && run.seconds().is_some());
    let Some(counted) = counted else {
        // If another run has ended since, the store could not be written.
        let ended = runs.iter().rposition(|run| run.seconds().is_some());
        let since = ended.map_or(&runs[..], |at| &runs[at + 1..]);
        let begun = |run: &&&Run| run.counted && run.end == End::Open;
        return match since.iter().filter(begun).count() >= MAX_OPEN_RUNS {
            true => Next::plain(Knowledge::NeverEnds, false),
            false => Next::plain(Knowledge::Unknown, true),
        };
    };
    let counts = runs.len() - counted > RECOUNT_RUNS;
    let judgement = experience.judgement(shape);
    let Some(judgement) = judgement.filter(|known| known.made >= runs[counted].began) else {
        return Next::plain(Knowledge::Counted, false);
    };
    if judgement.candidates.is_empty() {
        return Next::plain(Knowledge::NotWorth(judgement.worth), counts);
    }
    let of_shape = runs.into_iter().filter(|run| run.shape == shape);
    let of_shape: Vec<&Run> = of_shape
        .filter(|run| run.began >= judgement.since || run.counted)
        .collect();
    let (arm, knowledge) = compare(judgement, &of_shape, now, lot);
    let mut candidates = judgement.candidates.iter();
    Next {
        arm,
        candidate: candidates.find(|candidate| candidate.arm() == arm).cloned(),
        counts,
        knowledge,
    }
}

/// Tries one candidate after the other against the best arm so far.
fn compare(judgement: &Judgement, runs: &[&Run], now: u64, lot: bool) -> (Arm, Knowledge) {
    let between = |known, candidate| Comparison {
        known,
        candidate,
        runs: runs
            .iter()
            .filter(|run| run.arm == known || run.arm == candidate)
            .copied()
            .collect(),
        now,
    };
    let mut known = Arm::Plain;
    let mut knowledge = Knowledge::NotWorth(judgement.worth);
    for candidate in judgement.candidates.iter().map(Candidate::arm) {
        let comparison = between(known, candidate);
        let standing = comparison.standing();
        let compared = || Knowledge::Compared {
            known,
            candidate,
            standing,
            evidence: comparison.evidence(),
        };
        match standing {
            Standing::Open => return (comparison.in_turn(lot), compared()),
            Standing::Waiting | Standing::Deferred => return (known, compared()),
            Standing::Likely => return (again(&comparison, RECOMPARE_LIKELY_RUNS), compared()),
            Standing::Proven => (known, knowledge) = (candidate, compared()),
            // In the end this is the arm in use, or else the reason why there is none.
            Standing::Declined | Standing::Failed if known == Arm::Plain => knowledge = compared(),
            Standing::Declined | Standing::Failed => (),
        }
    }
    match known {
        Arm::Plain => (Arm::Plain, knowledge),
        known => (
            again(&between(Arm::Plain, known), RECOMPARE_PROVEN_RUNS),
            knowledge,
        ),
    }
}

/// Returns the candidate, which is used; or the other arm, if they are to be compared again: after
/// at least `after` runs, and less often if the other arm takes longer.
fn again(comparison: &Comparison, after: usize) -> Arm {
    let since = comparison.since_compared();
    let is_due = since >= after.max(comparison.runs_that_pay());
    match is_due || since > 0 && comparison.is_in_doubt() {
        true => comparison.known,
        false => comparison.candidate,
    }
}
