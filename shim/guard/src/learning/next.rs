//! What the next run of an application does.

use super::experience::{Arm, Candidate, End, Experience, Judgement, Run};
use super::standing::{Evidence, Found, Standing};
use treepie_placement::worth::Worth;

/// What is older says nothing any more, in seconds.
pub const MEMORY: u64 = 60 * 86_400;

/// What lies further in the future, in seconds, says nothing yet: a clock was wrong.
pub const AHEAD: u64 = 86_400;

/// So many runs are counted at most where none of them ends.
const MOST_OPEN: usize = 3;

/// After so many runs that were not counted one is again: programs get other input.
const COUNTED_AGAIN: usize = 50;

/// What is used, but not proven, is compared again after so many runs.
const COMPARED_AGAIN_SOON: usize = 9;

/// The same for what is proven.
const COMPARED_AGAIN: usize = 19;

/// What is known, and what follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// Nothing: the run is counted.
    Unknown,
    /// Its runs never end by `MPI_Finalize`: nothing can be learnt.
    NeverEnds,
    /// Traffic was counted; what it promises in this shape is to be judged.
    Counted,
    /// Nothing is worth trying.
    NotWorth(Worth),
    /// Two ways are compared.
    Compared {
        /// The way that is known to be good.
        known: Arm,
        /// The way that may be better.
        candidate: Arm,
        /// What is found of it.
        found: Found,
        /// What has been shown.
        evidence: Evidence,
    },
}

/// What the next run does.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// How it is run.
    pub arm: Arm,
    /// What that takes, if it is not the plain way.
    pub candidate: Option<Candidate>,
    /// Whether its traffic is counted.
    pub counts: bool,
    /// What is known.
    pub state: State,
}

impl Next {
    fn plain(state: State, counts: bool) -> Next {
        Next {
            arm: Arm::Plain,
            candidate: None,
            counts,
            state,
        }
    }
}

/// What the next run does whose processes are in `shape`, at the time `now` in seconds since 1970.
/// `lot` is drawn by lot.
pub fn next(experience: &Experience, shape: u64, now: u64, lot: bool) -> Next {
    let is_known = |run: &&Run| run.began + MEMORY > now;
    let runs: Vec<&Run> = experience.runs.iter().filter(is_known).collect();
    let counted = runs
        .iter()
        .rposition(|run| run.counted && run.seconds().is_some());
    let Some(counted) = counted else {
        // Where another run has ended since, it was the store that could not be written.
        let ended = runs.iter().rposition(|run| run.seconds().is_some());
        let since = ended.map_or(&runs[..], |at| &runs[at + 1..]);
        let begun = |run: &&&Run| run.counted && run.end == End::Open;
        return match since.iter().filter(begun).count() >= MOST_OPEN {
            true => Next::plain(State::NeverEnds, false),
            false => Next::plain(State::Unknown, true),
        };
    };
    let counts = runs.len() - counted > COUNTED_AGAIN;
    let judgement = experience.judgement(shape);
    let Some(judgement) = judgement.filter(|known| known.made >= runs[counted].began) else {
        return Next::plain(State::Counted, false);
    };
    if judgement.candidates.is_empty() {
        return Next::plain(State::NotWorth(judgement.worth), counts);
    }
    let of_shape = runs.into_iter().filter(|run| run.shape == shape);
    let of_shape: Vec<&Run> = of_shape
        .filter(|run| run.began >= judgement.since || run.counted)
        .collect();
    let (arm, state) = compare(judgement, &of_shape, now, lot);
    let mut candidates = judgement.candidates.iter();
    Next {
        arm,
        candidate: candidates.find(|candidate| candidate.arm() == arm).cloned(),
        counts,
        state,
    }
}

/// Tries one candidate after the other against the best way that is known.
fn compare(judgement: &Judgement, runs: &[&Run], now: u64, lot: bool) -> (Arm, State) {
    let between = |known, candidate| Standing {
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
    let mut state = State::NotWorth(judgement.worth);
    for candidate in judgement.candidates.iter().map(Candidate::arm) {
        let standing = between(known, candidate);
        let found = standing.found();
        let compared = || State::Compared {
            known,
            candidate,
            found,
            evidence: standing.evidence(),
        };
        match found {
            Found::Open => return (standing.in_turn(lot), compared()),
            Found::Waiting | Found::Deferred => return (known, compared()),
            Found::Likely => return (again(&standing, COMPARED_AGAIN_SOON), compared()),
            Found::Proven => (known, state) = (candidate, compared()),
            // What is said in the end is what is used, and otherwise why nothing is.
            Found::Declined | Found::Failed if known == Arm::Plain => state = compared(),
            Found::Declined | Found::Failed => (),
        }
    }
    match known {
        Arm::Plain => (Arm::Plain, state),
        known => (again(&between(Arm::Plain, known), COMPARED_AGAIN), state),
    }
}

/// The candidate, which is used; or the other way, where they are to be compared again: after so
/// many runs at least, and as seldom as what the other way takes longer asks for.
fn again(standing: &Standing, after: usize) -> Arm {
    let since = standing.since_compared();
    let is_due = since >= after.max(standing.runs_that_pay());
    match is_due || since > 0 && standing.is_in_doubt() {
        true => standing.known,
        false => standing.candidate,
    }
}
