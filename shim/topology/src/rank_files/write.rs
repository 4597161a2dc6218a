//! Text of each format.

use super::form::Form;
use super::slots::LauncherSlot;
use treepie_base::{Rank, Slice};

/// Formats a placement for a launcher; `slots` has one slot for each rank.
pub fn write(form: Form, slots: &Slice<Rank, LauncherSlot>) -> String {
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
fn lines(
    slots: &Slice<Rank, LauncherSlot>,
    line: impl Fn(Rank, &LauncherSlot) -> String,
) -> String {
    let lines = slots.iter_enumerated();
    lines.map(|(rank, slot)| line(rank, slot) + "\n").collect()
}

/// A line of Open MPI's rank file (TreeMatch thesis, figure 1.8).
fn slot_text(rank: Rank, slot: &LauncherSlot, numbering: &str) -> String {
    let LauncherSlot {
        host,
        socket,
        core_of_socket,
        ..
    } = slot;
    format!("rank {rank}={host} slot={numbering}{socket}:{core_of_socket}")
}

/// One line for each run of ranks on one host: Hydra assigns consecutive ranks to each line, as
/// many as its count.
fn hosts(slots: &Slice<Rank, LauncherSlot>) -> String {
    let runs = slots.raw.chunk_by(|one, next| one.host == next.host);
    let line = |run: &[LauncherSlot]| format!("{}:{}\n", run[0].host, run.len());
    runs.map(line).collect()
}

/// Cray's launcher numbers the slots of a job node by node and core by core: the n-th number in the
/// file is the rank on the n-th slot.
fn rank_order(slots: &Slice<Rank, LauncherSlot>) -> String {
    let mut ranks: Vec<Rank> = slots.keys().collect();
    ranks.sort_by_key(|&rank| (slots[rank].node, slots[rank].leaf_of_host));
    let numbers: Vec<String> = ranks.iter().map(Rank::to_string).collect();
    numbers.join(",") + "\n"
}
