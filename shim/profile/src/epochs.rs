//! Results of the guard on small puts and accumulates: the kinds of epochs whose updates are
//! joined, and their measurements.

use serde::{Deserialize, Serialize};

use crate::guard::{GuardedCell, check_times, nanoseconds, seconds};
use treepie_guard::{AdoptedPlan, EPOCHS_PER_CALL, EpochKey, Gathered, State, Summary};
use treepie_traffic::windows::EpochKind;

/// Epochs of one kind in windows of one number of ranks, with the same result on several ranks.
/// Times are seconds of [`EPOCHS_PER_CALL`] of them; absent if not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedEpochs {
    /// Kind of epoch.
    pub epoch: EpochKind,
    /// Number of ranks of the window.
    pub ranks: u64,
    /// State of the decision to join updates, with its reason.
    pub state: State,
    /// Number of windows on which a rank, or all ranks together, made this decision.
    pub decisions: u64,
    /// Pairs in which joined updates took less time.
    pub won: u32,
    /// Other pairs.
    pub lost: u32,
    /// Median in seconds with the MPI's own updates.
    pub native_seconds: Option<f64>,
    /// Median in seconds with joined updates.
    pub joined_seconds: Option<f64>,
    /// Number of epochs.
    pub epochs: u64,
    /// Their time in seconds, by medians, without that of trials.
    pub seconds: f64,
    /// Additional time of trials, in seconds.
    pub excess_seconds: f64,
    /// Time in seconds that joining has saved, by comparisons with separate updates; negative if it
    /// lost before it was revoked.
    pub saved_seconds: f64,
}

impl GuardedEpochs {
    /// Creates the result for a window of `ranks` ranks.
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

    /// Returns the initial plans for epochs of windows of `ranks` ranks, from the results of an
    /// earlier run: for each kind the result of most epochs, if it was adopted.
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

    /// Adds an equal result of another window or rank; `false` if it differs.
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

    /// Merges equal results.
    pub fn together(all: impl IntoIterator<Item = GuardedEpochs>) -> Vec<GuardedEpochs> {
        let mut together: Vec<GuardedEpochs> = Vec::new();
        for one in all {
            if !together.iter_mut().any(|known| known.absorb(&one)) {
                together.push(one);
            }
        }
        together
    }

    /// Checks a result of a job of `ranks` ranks; returns the problem on failure.
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

/// Results of the guards of a process, or of all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GuardResults {
    /// Results for collectives.
    pub collectives: Vec<GuardedCell>,
    /// Results for small puts and accumulates.
    pub epochs: Vec<GuardedEpochs>,
}

impl GuardResults {
    /// Merges equal results.
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
