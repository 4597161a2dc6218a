//! Files and variables of a tuning.

use crate::knobs::library::{Library, Maker};
use crate::knobs::variables::Component;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::mpi_tuning::{MpiTuning, for_all, knob_of};
use crate::tuning::rules::selection::Selection;
use crate::tuning::rules::{intel, mpich, open_mpi};
use treepie_collective::Operation;

/// Names of files of rules, if a tuning is written to a directory.
pub const RULES_FILES: [&str; 5] = [
    "openmpi.rules",
    "openmpi.json",
    "openmpi-han.rules",
    "mpich.json",
    "mpich-ch4.json",
];

/// Returns the name of a component's file of rules there.
pub fn rules_file(library: Library, component: Component) -> &'static str {
    match component {
        Component::Tuned if library.rules_are_json() => "openmpi.json",
        Component::Tuned => "openmpi.rules",
        Component::Han => "openmpi-han.rules",
        Component::Algorithms => "mpich.json",
        Component::Compositions => "mpich-ch4.json",
    }
}

/// Returns the MPI's own tuning, of the operations that `wanted` accepts. `own` is the selection of
/// MPICH's library, if it is available.
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

/// True if the MPI's rules and settings can express a row.
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
