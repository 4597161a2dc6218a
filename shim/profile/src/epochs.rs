//! Results of the guard on small puts and accumulates: of which epochs they are joined, and what
//! was found.

use serde::{Deserialize, Serialize};

use crate::guard::{GuardedCell, check_times, nanoseconds, seconds};
use treepie_guard::{AdoptedPlan, EPOCHS_PER_CALL, EpochKey, Gathered, State, Summary};
use treepie_traffic::windows::EpochKind;

/// Epochs of one kind in windows of so many ranks, as ranks found alike. Times are seconds of
/// [`EPOCHS_PER_CALL`] of them; those of which nothing was measured are absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedEpochs {
    /// What opens them.
    pub epoch: EpochKind,
    /// Ranks of the window.
    pub ranks: u64,
    /// Whether pieces are joined, or why they are not.
    pub state: State,
    /// Windows on which a rank, or all of them together, decided so.
    pub decisions: u64,
    /// Pairs in which joined pieces took less time.
    pub won: u32,
    /// The other pairs.
    pub lost: u32,
    /// Median of the MPI's own.
    pub native_seconds: Option<f64>,
    /// Median with joined pieces.
    pub joined_seconds: Option<f64>,
    /// The epochs.
    pub epochs: u64,
    /// Their time, by medians, without what was only tried.
    pub seconds: f64,
    /// Time that trials took beyond that.
    pub excess_seconds: f64,
    /// Time that joining has saved, by comparisons with each piece on its own; less than none where
    /// it lost before it was taken back.
    pub saved_seconds: f64,
}

impl GuardedEpochs {
    /// A result on a window of so many ranks.
    pub fn new(found: &Summary<EpochKey>, ranks: usize) -> Self {
        let epochs = found.key.epochs;
        let medians = f64::from(EPOCHS_PER_CALL) / f64::from(epochs);
        let median = |nanoseconds| seconds(nanoseconds) * medians;
        GuardedEpochs {
            epoch: found.key.kind,
            ranks: ranks as u64,
            state: found.state,
            decisions: 1,
            won: found.won,
            lost: found.lost,
            native_seconds: found.native.map(median),
            joined_seconds: found.with_plan.map(median),
            epochs: found.calls * u64::from(epochs),
            seconds: seconds(found.time),
            excess_seconds: seconds(found.excess),
            saved_seconds: found.saved as f64 / 1e9,
        }
    }

    /// What epochs of windows of so many ranks begin with, by what an earlier run found: of each
    /// kind what most epochs ended with, if it was adopted.
    pub fn known(all: &[GuardedEpochs], ranks: usize) -> Vec<AdoptedPlan<EpochKey>> {
        let of_kind = |&kind: &EpochKind| {
            let fitting = all
                .iter()
                .filter(|one| one.epoch == kind && one.ranks == ranks as u64);
            let most = fitting.max_by_key(|one| one.epochs)?;
            (most.state == State::Adopted).then_some(())?;
            Some(AdoptedPlan {
                key: EpochKey::new(kind),
                challenger: Gathered,
                native: nanoseconds(most.native_seconds?),
                plan: nanoseconds(most.joined_seconds?),
            })
        };
        EpochKind::ALL.iter().filter_map(of_kind).collect()
    }

    /// Adds the same result of another window or rank; `false` where it is another one.
    pub fn absorb(&mut self, other: &GuardedEpochs) -> bool {
        let what = |one: &GuardedEpochs| (one.epoch, one.ranks, one.state);
        if what(self) != what(other) {
            return false;
        }
        self.decisions = self.decisions.saturating_add(other.decisions);
        self.won = self.won.saturating_add(other.won);
        self.lost = self.lost.saturating_add(other.lost);
        self.native_seconds = self.native_seconds.or(other.native_seconds);
        self.joined_seconds = self.joined_seconds.or(other.joined_seconds);
        self.epochs = self.epochs.saturating_add(other.epochs);
        self.seconds += other.seconds;
        self.excess_seconds += other.excess_seconds;
        self.saved_seconds += other.saved_seconds;
        true
    }

    /// Results in which equal ones are one.
    pub fn together(all: impl IntoIterator<Item = GuardedEpochs>) -> Vec<GuardedEpochs> {
        let mut together: Vec<GuardedEpochs> = Vec::new();
        for one in all {
            if !together.iter_mut().any(|known| known.absorb(&one)) {
                together.push(one);
            }
        }
        together
    }

    /// Checks a result of a job of `ranks` ranks; on failure the problem.
    pub(crate) fn check(&self, ranks: usize) -> Result<(), String> {
        if self.ranks > ranks as u64 {
            return Err(format!("has {} ranks of {ranks}; correct it", self.ranks));
        }
        let medians = [self.native_seconds, self.joined_seconds];
        let all = [self.seconds, self.excess_seconds]
            .into_iter()
            .chain(medians.into_iter().flatten());
        check_times(all, self.saved_seconds)
    }
}

/// What the guards of a process, or of all, found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GuardResults {
    /// On collectives.
    pub collectives: Vec<GuardedCell>,
    /// On small puts and accumulates.
    pub epochs: Vec<GuardedEpochs>,
}

impl GuardResults {
    /// Results in which equal ones are one.
    pub fn together(all: Vec<GuardResults>) -> GuardResults {
        let (collectives, epochs): (Vec<_>, Vec<_>) = all
            .into_iter()
            .map(|one| (one.collectives, one.epochs))
            .unzip();
        GuardResults {
            collectives: GuardedCell::together(collectives.into_iter().flatten()),
            epochs: GuardedEpochs::together(epochs.into_iter().flatten()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(state: State, epochs: u64) -> GuardedEpochs {
        GuardedEpochs {
            epoch: EpochKind::LockAll,
            ranks: 4,
            state,
            decisions: 1,
            won: 9,
            lost: 1,
            native_seconds: Some(2e-3),
            joined_seconds: Some(1e-3),
            epochs,
            seconds: 1.5,
            excess_seconds: 0.01,
            saved_seconds: 0.9,
        }
    }

    #[test]
    fn what_most_epochs_ended_with_is_known_to_the_next_run() {
        let known = |all: &[GuardedEpochs], ranks| GuardedEpochs::known(all, ranks).len();
        let (adopted, dropped) = (found(State::Adopted, 100), found(State::Dropped, 60));
        assert_eq!(known(&[adopted.clone(), dropped.clone()], 4), 1);
        assert_eq!(known(std::slice::from_ref(&adopted), 5), 0);
        let dropped = found(State::TakenBack, 160);
        assert_eq!(known(&[adopted, dropped], 4), 0);
    }

    #[test]
    fn the_same_result_of_several_ranks_is_one() {
        let all = [State::Adopted, State::Dropped, State::Adopted].map(|state| found(state, 100));
        let together = GuardedEpochs::together(all);
        assert_eq!(together.len(), 2);
        assert_eq!((together[0].decisions, together[0].epochs), (2, 200));
        assert_eq!(together[0].native_seconds, Some(2e-3));
    }

    #[test]
    fn wrong_results_are_refused() {
        assert_eq!(found(State::Adopted, 1).check(4), Ok(()));
        assert!(found(State::Adopted, 1).check(3).is_err());
        let wrong = GuardedEpochs {
            joined_seconds: Some(-1.0),
            ..found(State::Adopted, 1)
        };
        assert!(wrong.check(4).is_err());
    }
}
