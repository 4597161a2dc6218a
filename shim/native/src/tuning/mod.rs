//! Which of a native MPI's own algorithms is the quickest for a call, as measured, and what that
//! MPI has to be told so that it takes it.
//!
//! ```text
//! cells       which calls are measured: from a list, or from what a profile says matters
//! measure     interleaved rounds of all algorithms of one cell, and the verdict
//! guidelines  operations that others can stand in for
//! rules       the MPI's own tuning: Open MPI's rules, MPICH's selection, variables
//! ```

mod cells;
mod clocks;
pub mod file;
mod guidelines;
mod measure;
mod rules;

pub use cells::{Cell, cell_bytes, cells_of_records, is_measured, usual_cells};
pub use clocks::{Question, ahead};
pub use guidelines::{Emulation, emulations};
pub use measure::{Budget, Clock, Found, Verdict, measure};
pub use rules::{MpiTuning, RULES_FILES, Selection, mpi_tuning, rules_file};

use std::collections::BTreeMap;

use crate::knobs::{Library, UnknownKnob};
use treepie_collective::{Algorithm, Operation};

/// What was measured of an MPI's own algorithms.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The MPI.
    pub library: Library,
    /// Ranks of the job that measured.
    pub ranks: usize,
    /// Hosts of that job.
    pub hosts: usize,
    /// Whether algorithms were let in that are wrong for operations that do not commute.
    pub commutative: bool,
    /// What was found, by operation, ranks and bytes, each once.
    pub rows: Vec<Row>,
}

/// The calls of an operation on communicators of so many ranks, from so many bytes up to the next
/// row's.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The operation.
    pub operation: Operation,
    /// Ranks of the communicator.
    pub ranks: usize,
    /// Bytes: of the message, or of the block of one rank (of a pair of ranks in an all-to-all).
    pub from_bytes: u64,
    /// The algorithm that was proven to be quicker; `None` where the MPI's default stays.
    pub algorithm: Option<String>,
    /// Its seconds for a call, by the slowest rank; the default's where that stays.
    pub seconds: f64,
    /// The default's.
    pub native_seconds: f64,
    /// Whether time ran out before the order was clear.
    pub undecided: bool,
    /// Seconds of the other algorithms that were tried.
    pub others: BTreeMap<String, f64>,
    /// The plan of Treepie's that is the quickest of those that were proven to be quicker than the
    /// default.
    pub plan: Option<String>,
    /// Seconds of all plans that were tried.
    pub plans: BTreeMap<String, f64>,
    /// Seconds of other operations that do the same and were proven to be quicker.
    pub slower_than: BTreeMap<String, f64>,
}

impl Row {
    /// How much quicker the algorithm is: 1.5 where the default takes 1.5 times as long.
    pub fn factor(&self) -> f64 {
        self.native_seconds / self.seconds
    }

    /// The plan that was proven to be quicker, and how much.
    pub fn plan_factor(&self) -> Option<(&str, f64)> {
        let name = self.plan.as_deref()?;
        Some((name, self.native_seconds / self.plans.get(name)?))
    }

    /// How much quicker the quicker of both is: 1 where the default stays.
    pub fn best_factor(&self) -> f64 {
        let plan = self.plan_factor().map_or(1.0, |(_, factor)| factor);
        self.factor().max(plan)
    }

    /// Seconds of `algorithm`, if it was measured here.
    fn seconds_of(&self, algorithm: &str) -> Option<f64> {
        match self.algorithm.as_deref() == Some(algorithm) {
            true => Some(self.seconds),
            false => self.others.get(algorithm).copied(),
        }
    }
}

impl Tuning {
    /// Refuses algorithms that the MPI does not have, that the communicator's size does not allow,
    /// and such as need commutative operations where that was not said.
    ///
    /// # Errors
    /// The first row that is wrong, by its place, and why.
    pub fn check(&self) -> Result<(), (usize, RowError)> {
        for (place, row) in self.rows.iter().enumerate() {
            row.check(self.library, self.commutative)
                .map_err(|error| (place, error))?;
        }
        Ok(())
    }

    /// The rows in which an algorithm is quicker than the default.
    pub fn gains(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.algorithm.is_some())
    }

    /// The rows of each operation and size of communicator, which are together.
    fn groups(&self) -> impl Iterator<Item = &[Row]> {
        let key = |row: &Row| (row.operation, row.ranks);
        self.rows.chunk_by(move |one, other| key(one) == key(other))
    }

    /// Puts the rows into their order.
    pub fn sort(&mut self) {
        self.rows
            .sort_by_key(|row| (row.operation, row.ranks, row.from_bytes));
    }
}

/// A row that cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The MPI does not have the algorithm.
    #[error(transparent)]
    Unknown(#[from] UnknownKnob),
    /// It is another one, or an error, among so many ranks.
    #[error("{operation} by {name} is not for {ranks} ranks; take the row out, or measure again")]
    Ranks {
        /// The operation.
        operation: Operation,
        /// The algorithm.
        name: String,
        /// The ranks.
        ranks: usize,
    },
    /// Treepie has no such plan.
    #[error("{operation} has no plan {name}; take it out, or measure again")]
    Plan {
        /// The operation.
        operation: Operation,
        /// The plan.
        name: String,
    },
    /// It gives wrong results where operations do not commute.
    #[error(
        "{operation} by {name} is wrong for operations that do not commute; take the row out, or \
         write `commutative: true` where no program has such operations"
    )]
    Order {
        /// The operation.
        operation: Operation,
        /// The algorithm.
        name: String,
    },
}

impl Row {
    fn check(&self, library: Library, commutative: bool) -> Result<(), RowError> {
        let plans = self.plans.keys().chain(&self.plan);
        let mut unknown = plans.filter(|name| Algorithm::find(self.operation, name).is_none());
        if let Some(name) = unknown.next() {
            let (operation, name) = (self.operation, name.clone());
            return Err(RowError::Plan { operation, name });
        }
        let Some(name) = &self.algorithm else {
            return Ok(());
        };
        let knob = library.knob(self.operation, name)?;
        let (operation, name, ranks) = (self.operation, name.clone(), self.ranks);
        if !knob.allows(ranks) {
            return Err(RowError::Ranks {
                operation,
                name,
                ranks,
            });
        }
        if knob.reorders() && !commutative && !library.checks_order() {
            return Err(RowError::Order { operation, name });
        }
        Ok(())
    }
}
