//! The text of each form.

use super::{Form, Seat};

/// A placement for a launcher; `seats` has one seat for each rank.
pub fn write(form: Form, seats: &[Seat]) -> String {
    match form {
        Form::OpenMpi => lines(seats, |rank, seat| slot(rank, seat, "")),
        Form::OpenMpiPhysical => lines(seats, |rank, seat| slot(rank, seat, "p")),
        Form::Hydra => hosts(seats),
        Form::Slurm => lines(seats, |_, seat| seat.host.clone()),
        Form::Cray => rank_order(seats),
        Form::Pjm => lines(seats, |_, seat| format!("({})", seat.node)),
    }
}

/// One line for each rank.
fn lines(seats: &[Seat], line: impl Fn(usize, &Seat) -> String) -> String {
    let lines = seats.iter().enumerate();
    lines.map(|(rank, seat)| line(rank, seat) + "\n").collect()
}

/// A line of Open MPI's rank file (TreeMatch thesis, figure 1.8).
fn slot(rank: usize, seat: &Seat, numbering: &str) -> String {
    let Seat {
        host,
        socket,
        core_of_socket,
        ..
    } = seat;
    format!("rank {rank}={host} slot={numbering}{socket}:{core_of_socket}")
}

/// Hydra gives consecutive ranks to each line in turn, as many as it counts.
fn hosts(seats: &[Seat]) -> String {
    let runs = seats.chunk_by(|one, next| one.host == next.host);
    let line = |run: &[Seat]| format!("{}:{}\n", run[0].host, run.len());
    runs.map(line).collect()
}

/// Cray's launcher numbers the places of a job node by node and core by core:
/// the n-th number in the file is the rank that gets the n-th place.
fn rank_order(seats: &[Seat]) -> String {
    let mut ranks: Vec<usize> = (0..seats.len()).collect();
    ranks.sort_by_key(|&rank| (seats[rank].node, seats[rank].leaf_of_host));
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    numbers.join(",") + "\n"
}
