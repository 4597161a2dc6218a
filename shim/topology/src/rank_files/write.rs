//! The text of each form.

use super::form::Form;
use super::slots::Slot;

/// A placement for a launcher; `slots` has one slot for each rank.
pub fn write(form: Form, slots: &[Slot]) -> String {
    match form {
        Form::OpenMpi => lines(slots, |rank, slot| slot_text(rank, slot, "")),
        Form::OpenMpiPhysical => lines(slots, |rank, slot| slot_text(rank, slot, "p")),
        Form::Hydra => hosts(slots),
        Form::Slurm | Form::Flux | Form::ParaStation | Form::Pbs => {
            lines(slots, |_, slot| slot.host.clone())
        }
        Form::Cray => rank_order(slots),
        Form::Pjm => lines(slots, |_, slot| format!("({})", slot.node)),
    }
}

/// One line for each rank.
fn lines(slots: &[Slot], line: impl Fn(usize, &Slot) -> String) -> String {
    let lines = slots.iter().enumerate();
    lines.map(|(rank, slot)| line(rank, slot) + "\n").collect()
}

/// A line of Open MPI's rank file (TreeMatch thesis, figure 1.8).
fn slot_text(rank: usize, slot: &Slot, numbering: &str) -> String {
    let Slot {
        host,
        socket,
        core_of_socket,
        ..
    } = slot;
    format!("rank {rank}={host} slot={numbering}{socket}:{core_of_socket}")
}

/// Hydra gives consecutive ranks to each line in turn, as many as it counts.
fn hosts(slots: &[Slot]) -> String {
    let runs = slots.chunk_by(|one, next| one.host == next.host);
    let line = |run: &[Slot]| format!("{}:{}\n", run[0].host, run.len());
    runs.map(line).collect()
}

/// Cray's launcher numbers the places of a job node by node and core by core:
/// the n-th number in the file is the rank that gets the n-th place.
fn rank_order(slots: &[Slot]) -> String {
    let mut ranks: Vec<usize> = (0..slots.len()).collect();
    ranks.sort_by_key(|&rank| (slots[rank].node, slots[rank].leaf_of_host));
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    numbers.join(",") + "\n"
}
