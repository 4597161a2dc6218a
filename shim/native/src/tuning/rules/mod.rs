//! What was measured, as the MPI itself reads it.
//!
//! ```text
//! steps      from how many bytes on which algorithm
//! open_mpi   files of rules, of `tuned` and of HAN, in lines
//! json       those of `tuned` in JSON
//! mpich      variables, or files of its collective selection
//! selection  the collective selection in MPICH's library
//! intel      variables with ranges of bytes and ranks
//! ```

mod intel;
mod json;
mod mpich;
mod open_mpi;
mod selection;
mod steps;
#[cfg(test)]
mod tests;

pub use selection::Selection;

use std::collections::BTreeMap;

use crate::knobs::{Component, Knob, Library, Maker, Setting};
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use treepie_collective::Operation;

/// Names of files of rules, where a tuning is written to a directory.
pub const RULES_FILES: [&str; 5] = [
    "openmpi.rules",
    "openmpi.json",
    "openmpi-han.rules",
    "mpich.json",
    "mpich-ch4.json",
];

/// The name of a component's file of rules there.
pub fn rules_file(library: Library, component: Component) -> &'static str {
    match component {
        Component::Tuned if library.rules_are_json() => "openmpi.json",
        Component::Tuned => "openmpi.rules",
        Component::Han => "openmpi-han.rules",
        Component::Algorithms => "mpich.json",
        Component::Compositions => "mpich-ch4.json",
    }
}

/// A way that is this part slower than the default somewhere is no choice for all sizes.
const SLOWER: f64 = 1.02;

/// An MPI's own tuning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MpiTuning {
    /// The texts of files of rules, if this MPI has such and they are needed.
    pub rules: Vec<(Component, String)>,
    /// What goes into the environment, but for the file's name.
    pub settings: Vec<Setting>,
    /// Operations and sizes that have a winner that this MPI cannot be told: rows of the tuning.
    pub left_out: Vec<usize>,
}

impl MpiTuning {
    /// Whether the MPI is told nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.settings.is_empty()
    }
}

/// The MPI's own tuning, of the operations for which `wanted` holds. `own` is what MPICH's library
/// has, where that is at hand.
pub fn mpi_tuning(
    tuning: &Tuning,
    own: Option<&Selection>,
    wanted: impl Fn(Operation) -> bool,
) -> MpiTuning {
    let groups: Vec<&[Row]> = tuning
        .groups()
        .filter(|rows| wanted(rows[0].operation))
        .collect();
    let mut made = match tuning.library.maker {
        Maker::OpenMpi => open_mpi::mpi_tuning(tuning, &groups),
        Maker::Mpich => match own {
            Some(own) => mpich::selection(tuning, &groups, own),
            None => mpich::variables(tuning, &groups),
        },
        Maker::IntelMpi => intel::mpi_tuning(tuning, &groups),
    };
    made.left_out = (0..tuning.rows.len())
        .filter(|place| {
            let row = &tuning.rows[*place];
            row.algorithm.is_some() && wanted(row.operation) && !is_told(tuning, own, row)
        })
        .collect();
    made
}

/// The knob that a row names, if the library has it; such rows are checked before.
fn knob_of(tuning: &Tuning, row: &Row) -> Option<Knob> {
    let name = row.algorithm.as_deref()?;
    tuning.library.knob(row.operation, name).ok()
}

/// Whether the MPI can be told what a row says.
fn is_told(tuning: &Tuning, own: Option<&Selection>, row: &Row) -> bool {
    let of_operation = || {
        tuning
            .rows
            .iter()
            .filter(|other| other.operation == row.operation)
    };
    let of_ranks = || of_operation().filter(|other| other.ranks == row.ranks);
    let rows: Vec<&Row> = match (tuning.library.maker, own) {
        (Maker::IntelMpi, _) => return true,
        (Maker::OpenMpi, _) if open_mpi::goes_by_bytes(row.operation) => return true,
        (Maker::Mpich, Some(own)) if mpich::goes_by_bytes(row.operation) => {
            return knob_of(tuning, row).is_some_and(|knob| own.can_say(&knob));
        }
        (Maker::OpenMpi, _) | (Maker::Mpich, Some(_)) => of_ranks().collect(),
        (Maker::Mpich, None) => of_operation().collect(),
    };
    for_all(&rows) == row.algorithm.as_deref()
}

/// The algorithm that is the quickest choice for all these rows together, and slower than the
/// default in none.
fn for_all<'a>(rows: &[&'a Row]) -> Option<&'a str> {
    let mut gains: BTreeMap<&str, f64> = BTreeMap::new();
    for name in rows.iter().filter_map(|row| row.algorithm.as_deref()) {
        let ratio = |row: &&Row| Some(row.seconds_of(name)? / row.native_seconds);
        let ratios: Option<Vec<f64>> = rows.iter().map(ratio).collect();
        if let Some(ratios) = ratios
            && ratios.iter().all(|ratio| *ratio <= SLOWER)
        {
            gains.insert(
                name,
                -ratios.iter().map(|ratio| libm::log(*ratio)).sum::<f64>(),
            );
        }
    }
    let best = gains
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    best.map(|(name, _)| name)
}
