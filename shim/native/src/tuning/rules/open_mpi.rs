//! Open MPI: a file of rules, version 1, which versions 4 and 5 read (`coll_tuned_dynamic_file.c`):
//! operations, sizes of communicators, bytes from which an algorithm applies. A size of
//! communicator applies up to the next one, and the first one to smaller ones too, so that a rule
//! `0` is before and after each: calls without measurements keep their defaults. Over several hosts
//! Open MPI 5 calls HAN first, which leaves to `tuned` the calls in its own file of rules
//! (`coll_han_dynamic_file.c`).

use std::collections::BTreeMap;

use crate::knobs::knob::Knob;
use crate::knobs::variables::Component;
use crate::tuning::file::Tuning;
use crate::tuning::row::Row;
use crate::tuning::rules::json;
use crate::tuning::rules::mpi_tuning::MpiTuning;
use crate::tuning::rules::steps::{Operations, bytes_of, steps};
use treepie_collective::Operation;

/// True if Open MPI's rules can distinguish such calls by length, alike on all ranks. In the others
/// it uses arguments that MPI ignores on some ranks: they would select different algorithms.
pub(super) fn goes_by_bytes(operation: Operation) -> bool {
    use Operation::*;
    !matches!(operation, Gather | Scatter | Allgatherv | Barrier)
}

/// Returns Open MPI's number of an operation (`coll_base_functions.h`, `COLLTYPE`).
fn number_of(operation: Operation) -> Option<u32> {
    use Operation::*;
    Some(match operation {
        Allgather => 0,
        Allgatherv => 1,
        Allreduce => 2,
        Alltoall => 3,
        Alltoallv => 4,
        Barrier => 6,
        Bcast => 7,
        Exscan => 8,
        Gather => 9,
        Reduce => 11,
        ReduceScatter => 12,
        ReduceScatterBlock => 13,
        Scan => 14,
        Scatter => 15,
        // Those of neighbours have no rules.
        _ => return None,
    })
}

pub(super) fn mpi_tuning(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut operations = Operations::new();
    for rows in groups {
        let operation = rows[0].operation;
        let mut steps = steps(tuning, rows, goes_by_bytes(operation));
        for (_, knob) in &mut steps {
            *knob = knob.filter(Knob::is_algorithm);
        }
        let Some(number) = number_of(operation) else {
            continue;
        };
        if steps.iter().any(|(_, knob)| knob.is_some()) {
            let entry = operations.entry(number);
            let (_, sizes) = entry.or_insert((operation, BTreeMap::new()));
            sizes.insert(rows[0].ranks, steps);
        }
    }
    let mut rules = Vec::new();
    if !operations.is_empty() && tuning.library.rules_are_json() {
        rules.push((Component::Tuned, json::of_tuned(&operations)));
    }
    for (_, sizes) in operations.values_mut() {
        for ranks in sizes.keys().copied().collect::<Vec<_>>() {
            sizes.entry(ranks + 1).or_insert_with(|| vec![(0, None)]);
        }
        // Smaller communicators than the first size would use its rules.
        sizes.insert(1, vec![(0, None)]);
    }
    if !operations.is_empty() && !tuning.library.rules_are_json() {
        rules.push((Component::Tuned, of_tuned(tuning, &operations)));
    }
    operations.retain(|_, (operation, _)| tuning.library.han_has(*operation));
    if !operations.is_empty() && tuning.hosts > 1 {
        rules.push((Component::Han, of_han(tuning, &operations)));
    }
    MpiTuning {
        rules,
        ..MpiTuning::default()
    }
}

/// Returns the first lines of a file of rules.
fn heading(tuning: &Tuning, what: &str, operations: usize) -> String {
    let (library, ranks) = (tuning.library, tuning.ranks);
    format!("# {what}, measured with {library} on {ranks} ranks.\n{operations} # operations\n")
}

fn of_tuned(tuning: &Tuning, operations: &Operations) -> String {
    let mut text = heading(tuning, "Algorithms of collectives", operations.len());
    for (number, (operation, sizes)) in operations {
        let count = sizes.len();
        text += &format!("{number} # {operation}\n{count} # sizes of communicators\n");
        for (ranks, lines) in sizes {
            let count = lines.len();
            text += &format!("{ranks} # ranks\n{count} # lines: bytes, algorithm, 0, 0\n");
            for (bytes, knob) in lines {
                let bytes = bytes_of(*operation, *ranks, *bytes);
                let algorithm = knob.map_or(0, |knob| knob.number);
                text += &format!("{bytes} {algorithm} 0 0\n");
            }
        }
    }
    text
}

/// Returns the calls that HAN is to leave to `tuned`, because one of its algorithms was the
/// fastest.
fn of_han(tuning: &Tuning, operations: &Operations) -> String {
    let mut text = heading(
        tuning,
        "Who does collectives over several hosts",
        operations.len(),
    );
    for (number, (operation, sizes)) in operations {
        let count = sizes.len();
        text += &format!(
            "{number} # {operation}\n1 # level\nglobal_communicator\n{count} # sizes of \
             communicators\n"
        );
        for (ranks, lines) in sizes {
            let count = lines.len();
            text += &format!("{ranks} # ranks\n{count} # lines: bytes, component\n");
            for (bytes, knob) in lines {
                let component = if knob.is_some() { "tuned" } else { "han" };
                text += &format!("{bytes} {component}\n");
            }
        }
    }
    text
}
