//! Results of the guard on collectives: the plans that were tried, their measurements, and the
//! cost.

use serde::{Deserialize, Serialize};

use treepie_base::convert;
use treepie_choice::{Candidate, Challenger};
use treepie_collective::Operation;
use treepie_guard::{AdoptedPlan, CellKey, Form, State, Summary, size_class};
use treepie_native::knobs::Library;
use treepie_native::tuning::{Row, Tuning};

/// Result for a plan in a cell (calls of one operation, root and size on communicators of one
/// shape), or for a cell in which none was tried. Times are seconds; absent if no exchange agreed
/// on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedCell {
    /// Collective operation.
    #[serde(with = "convert")]
    pub operation: Operation,
    /// Form of the call; blocking in files of versions that tried no others.
    #[serde(default)]
    pub form: Form,
    /// Root's rank in the communicator, if there is one.
    pub root: Option<u32>,
    /// Bytes of the message or of a block, the maximum of its class; none if ranks differ.
    pub bytes: Option<u64>,
    /// True if operands stay in the order of ranks.
    pub ordered: bool,
    /// Number of ranks of the communicator.
    pub ranks: u64,
    /// Number of their clusters; 0 if it is irrelevant.
    pub clusters: u64,
    /// Plan that was tried.
    pub plan: Option<GuardedPlan>,
    /// State of the plan; of the cell if there is no plan.
    pub state: State,
    /// Pairs in which the plan took less time.
    pub won: u32,
    /// Other pairs.
    pub lost: u32,
    /// Median of the native collective, in seconds.
    pub native_seconds: Option<f64>,
    /// Median of the plan, in seconds.
    pub plan_seconds: Option<f64>,
    /// Plan's longest call in trials, in seconds.
    pub longest_seconds: f64,
    /// Number of calls of the cell.
    pub calls: u64,
    /// Time of the cell in seconds, by medians, without that of trials.
    pub seconds: f64,
    /// Additional time of trials in the cell, in seconds.
    pub excess_seconds: f64,
    /// Time in seconds that the plan has saved since it was adopted, by comparisons with the native
    /// MPI; negative if it lost before it was revoked.
    pub saved_seconds: f64,
}

/// Plan, by its algorithm, or another algorithm of the native MPI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedPlan {
    /// Algorithm; `native:binomial` is one of the native MPI's.
    pub algorithm: String,
    /// Largest message that a plan sends, in bytes; 0 for the native MPI's algorithms.
    pub segment: u64,
}

/// Converts nanoseconds to seconds.
pub(super) fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Converts seconds, which may come from a file, to nanoseconds.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

/// Checks times, and the saved time, the only one that may be negative; returns the problem on
/// failure.
pub(super) fn check_times(times: impl IntoIterator<Item = f64>, saved: f64) -> Result<(), String> {
    let is_time = |time: f64| time.is_finite() && time >= 0.0;
    let wrong = times.into_iter().find(|&time| !is_time(time));
    match wrong.or(Some(saved).filter(|saved| !saved.is_finite())) {
        Some(time) => Err(format!("{time} is no time; write seconds")),
        None => Ok(()),
    }
}

impl GuardedCell {
    /// Creates the result for a communicator of these numbers of ranks and clusters.
    pub fn new(summary: &Summary, ranks: usize, clusters: usize) -> Self {
        GuardedCell {
            operation: summary.key.operation,
            form: summary.key.form,
            root: summary.key.root,
            bytes: summary.key.bytes,
            ordered: summary.key.ordered,
            ranks: ranks as u64,
            clusters: clusters as u64,
            plan: summary.plan.map(|plan| GuardedPlan {
                algorithm: plan.candidate.to_string(),
                segment: plan.candidate.segment(),
            }),
            state: summary.state,
            won: summary.won,
            lost: summary.lost,
            native_seconds: summary.native.map(seconds),
            plan_seconds: summary.with_plan.map(seconds),
            longest_seconds: seconds(summary.longest),
            calls: summary.calls,
            seconds: seconds(summary.time),
            excess_seconds: seconds(summary.excess),
            saved_seconds: summary.saved as f64 / 1e9,
        }
    }

    /// Returns the plans that a tuning has proven, each for the sizes from its row's to the next
    /// row's, as cells of communicators in any number of clusters. The plan itself chooses its
    /// largest message.
    pub fn of_tuning(tuning: &Tuning) -> Vec<GuardedCell> {
        let rows = tuning.rows.iter().enumerate();
        let cells = rows.flat_map(|(place, row)| {
            let of = |row: &Row| (row.operation, row.ranks);
            let next = tuning
                .rows
                .get(place + 1)
                .filter(|next| of(next) == of(row));
            let size = |bytes: u64| size_class(row.operation, bytes);
            let last = || (4 * row.from_bytes).max(size(row.from_bytes) + 1);
            let end = next.map_or_else(last, |next| next.from_bytes);
            let class = move |bytes: u64| Some(size(bytes)).filter(|&class| class < end);
            let sizes =
                std::iter::successors(class(row.from_bytes), move |&bytes| class(bytes + 1));
            sizes.filter_map(|bytes| GuardedCell::of_row(row, bytes))
        });
        cells.collect()
    }

    fn of_row(row: &Row, bytes: u64) -> Option<GuardedCell> {
        let (name, _) = row.plan_factor()?;
        Some(GuardedCell {
            operation: row.operation,
            form: Form::Blocking,
            root: None,
            bytes: Some(bytes),
            ordered: false,
            ranks: row.ranks as u64,
            clusters: 0,
            plan: Some(GuardedPlan {
                algorithm: name.to_owned(),
                segment: 0,
            }),
            state: State::Adopted,
            won: 0,
            lost: 0,
            native_seconds: Some(row.native_seconds),
            plan_seconds: row.plans.get(name).copied(),
            longest_seconds: 0.0,
            calls: 0,
            seconds: 0.0,
            excess_seconds: 0.0,
            saved_seconds: 0.0,
        })
    }

    /// Returns the initial plan, or algorithm of the native MPI `library`, of a cell of a
    /// communicator of this shape: the one that was adopted, if that algorithm still exists.
    pub fn known(
        &self,
        ranks: usize,
        clusters: usize,
        library: Option<Library>,
    ) -> Option<AdoptedPlan> {
        let is_shape = self.ranks == ranks as u64 && [0, clusters as u64].contains(&self.clusters);
        if self.state != State::Adopted || !is_shape {
            return None;
        }
        let plan = self.plan.as_ref()?;
        let (operation, name) = (self.operation, &plan.algorithm);
        Some(AdoptedPlan {
            key: CellKey {
                operation: self.operation,
                form: self.form,
                root: self.root,
                bytes: self.bytes.map(|bytes| size_class(operation, bytes)),
                ordered: self.ordered,
            },
            challenger: Challenger {
                candidate: Candidate::from_name(operation, name, plan.segment, library)?,
                per_mille: None,
            },
            native: nanoseconds(self.native_seconds?),
            plan: nanoseconds(self.plan_seconds?),
        })
    }

    /// Adds an equal result of another communicator; `false` if it differs.
    pub fn absorb(&mut self, other: &GuardedCell) -> bool {
        let what = |cell: &GuardedCell| {
            let of = (cell.operation, cell.root, cell.bytes, cell.ordered);
            (
                of,
                cell.form,
                cell.ranks,
                cell.clusters,
                cell.plan.clone(),
                cell.state,
            )
        };
        if what(self) != what(other) {
            return false;
        }
        self.won = self.won.saturating_add(other.won);
        self.lost = self.lost.saturating_add(other.lost);
        self.native_seconds = self.native_seconds.or(other.native_seconds);
        self.plan_seconds = self.plan_seconds.or(other.plan_seconds);
        self.longest_seconds = self.longest_seconds.max(other.longest_seconds);
        self.calls = self.calls.saturating_add(other.calls);
        self.seconds += other.seconds;
        self.excess_seconds += other.excess_seconds;
        self.saved_seconds += other.saved_seconds;
        true
    }

    /// Merges equal results.
    pub fn together(cells: impl IntoIterator<Item = GuardedCell>) -> Vec<GuardedCell> {
        let mut all: Vec<GuardedCell> = Vec::new();
        for cell in cells {
            if !all.iter_mut().any(|known| known.absorb(&cell)) {
                all.push(cell);
            }
        }
        all
    }

    /// Checks a result of a job of `ranks` ranks; returns the problem on failure.
    pub(crate) fn check(&self, ranks: usize) -> Result<(), String> {
        if self.ranks > ranks as u64 {
            return Err(format!("has {} ranks of {ranks}; correct it", self.ranks));
        }
        if self.operation.has_root() != self.root.is_some() {
            let problem = match self.root {
                Some(_) => "has a root, and needs none; remove it",
                None => "has no root; name one",
            };
            return Err(format!("{}: {problem}", self.operation));
        }
        let times = [self.longest_seconds, self.seconds, self.excess_seconds];
        let medians = [self.native_seconds, self.plan_seconds];
        let all = times.into_iter().chain(medians.into_iter().flatten());
        check_times(all, self.saved_seconds)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn adopted() -> GuardedCell {
        GuardedCell {
            operation: Operation::Bcast,
            form: Form::Blocking,
            root: Some(1),
            bytes: Some(1024),
            ordered: false,
            ranks: 4,
            clusters: 2,
            plan: Some(GuardedPlan {
                algorithm: "grid-chain".into(),
                segment: 4096,
            }),
            state: State::Adopted,
            won: 9,
            lost: 1,
            native_seconds: Some(2e-3),
            plan_seconds: Some(1e-3),
            longest_seconds: 0.004,
            calls: 1000,
            seconds: 1.5,
            excess_seconds: 0.01,
            saved_seconds: 0.9,
        }
    }

    #[test]
    fn only_what_was_adopted_on_the_same_shape_is_known() {
        let known = |cell: &GuardedCell, clusters| cell.known(4, clusters, None);
        let found = known(&adopted(), 2).unwrap();
        assert_eq!(found.challenger.candidate.to_string(), "grid-chain");
        assert_eq!((found.native, found.plan), (2_000_000, 1_000_000));
        assert!(known(&adopted(), 1).is_none());
        let mut other = adopted();
        other.state = State::TakenBack;
        assert!(known(&other, 2).is_none());
        let mut gone = adopted();
        gone.plan.as_mut().unwrap().algorithm = "grid-gone".into();
        assert!(known(&gone, 2).is_none());
    }

    #[test]
    fn an_algorithm_of_the_native_mpi_is_known_where_this_mpi_has_it() {
        let mut cell = adopted();
        let plan = cell.plan.as_mut().unwrap();
        (plan.algorithm, plan.segment) = ("native:knomial".into(), 0);
        let known = |library: &str| cell.known(4, 2, Some(library.parse().unwrap()));
        let found = known("open-mpi 5.0.3").unwrap();
        assert_eq!(found.challenger.candidate.to_string(), "native:knomial");
        assert!(known("mpich 4.0.2").is_none());
        assert!(cell.known(4, 2, None).is_none());
    }

    #[test]
    fn the_same_result_on_several_communicators_is_one() {
        let mut sum = adopted();
        assert!(sum.absorb(&adopted()));
        assert_eq!((sum.won, sum.calls), (18, 2000));
        assert_eq!((sum.seconds, sum.native_seconds), (3.0, Some(2e-3)));
        assert_eq!(sum.saved_seconds, 1.8);
        let mut other = adopted();
        other.root = Some(2);
        assert!(!sum.absorb(&other));
        let mut started = adopted();
        started.form = Form::Nonblocking;
        assert!(!sum.absorb(&started));
        assert_eq!(
            started.known(4, 2, None).unwrap().key.form,
            Form::Nonblocking
        );
    }

    #[test]
    fn wrong_results_are_refused() {
        assert_eq!(adopted().check(4), Ok(()));
        assert!(adopted().check(3).is_err());
        let wrong = |change: fn(&mut GuardedCell)| {
            let mut cell = adopted();
            change(&mut cell);
            cell.check(4).is_err()
        };
        assert!(wrong(|cell| cell.root = None));
        assert!(wrong(|cell| cell.seconds = -1.0));
        assert!(wrong(|cell| cell.plan_seconds = Some(f64::NAN)));
        assert!(wrong(|cell| cell.saved_seconds = f64::INFINITY));
    }

    #[test]
    fn plans_of_a_tuning_are_known_for_all_sizes_until_the_next_row() {
        let row = |from_bytes, plan: Option<&str>| Row {
            operation: Operation::Bcast,
            ranks: 4,
            from_bytes,
            algorithm: None,
            seconds: 2e-6,
            native_seconds: 2e-6,
            undecided: false,
            others: BTreeMap::new(),
            plan: plan.map(str::to_owned),
            plans: plan
                .map(|name| (name.to_owned(), 1e-6))
                .into_iter()
                .collect(),
            slower_than: BTreeMap::new(),
        };
        let tuning = Tuning {
            library: "mpich 4.0.2".parse().unwrap(),
            ranks: 4,
            hosts: 2,
            commutative: false,
            library_file: None,
            notes: Vec::new(),
            rows: vec![
                row(8, Some("binomial")),
                row(512, None),
                row(1024, Some("chain")),
            ],
        };
        let cells = GuardedCell::of_tuning(&tuning);
        let sizes: Vec<u64> = cells.iter().filter_map(|cell| cell.bytes).collect();
        assert_eq!(sizes[..3], [256, 320, 384]);
        assert!(
            sizes
                .iter()
                .all(|&bytes| bytes < 512 || (1024..4096).contains(&bytes))
        );
        for cell in &cells {
            // In any number of clusters, but only for this number of ranks.
            for clusters in [1, 7] {
                let known = cell.known(4, clusters, None).unwrap();
                let name = if cell.bytes < Some(512) {
                    "binomial"
                } else {
                    "chain"
                };
                assert_eq!(known.challenger.candidate.to_string(), name);
                assert_eq!((known.native, known.plan), (2000, 1000));
            }
            assert!(cell.known(5, 1, None).is_none());
        }
    }
}
