//! Algorithms of collectives by name, for tests that force each of them in rotation.

use std::fmt::Write as _;

use treepie_choice;
use treepie_collective::Algorithm;
use treepie_collective::Operation;

use crate::{Library, Mpi};

/// Replays only these collectives, with ranks in these clusters.
pub fn replaced(collectives: &str, clusters: &str) -> Library {
    Library::Set(vec![
        ("TREEPIE_MODE", "replay".into()),
        ("TREEPIE_COLLECTIVES", collectives.into()),
        ("TREEPIE_CLUSTERS", clusters.into()),
    ])
}

/// Replays them with non-blocking and persistent collectives left to the MPI.
pub fn only_blocking(collectives: &str, clusters: &str) -> Library {
    with(replaced(collectives, clusters), "TREEPIE_STARTED", "native")
}

/// Replays chosen plans under a guard.
pub fn guarded(clusters: &str) -> Library {
    with(replaced("auto", clusters), "TREEPIE_GUARD", "on")
}

/// Adds a setting.
pub fn with(library: Library, name: &'static str, value: &str) -> Library {
    let Library::Set(mut variables) = library else {
        unreachable!("it sets variables");
    };
    variables.push((name, value.into()));
    Library::Set(variables)
}

/// For each operation the algorithm in which no message waits for another, in the form of the
/// setting `collectives`.
pub fn direct() -> String {
    let each = Operation::every().filter_map(|operation| {
        let direct = treepie_choice::direct(operation)?;
        Some(format!("{operation}={}", direct.name))
    });
    each.collect::<Vec<_>>().join(",")
}

/// Number of rounds after which every algorithm of every operation has been used.
pub fn rounds() -> usize {
    let each = Operation::every().map(|operation| Algorithm::of(operation).count());
    each.max().unwrap_or(0)
}

/// The rounds of a test under this MPI: all of them in the nightly run. Otherwise each of two MPIs
/// takes every other one, since algorithms run alike under both.
pub fn rounds_under(mpi: Mpi) -> impl Iterator<Item = usize> {
    let first = usize::from(mpi == Mpi::Mpich);
    let (first, step) = match cfg!(feature = "all-mpis") {
        true => (0, 1),
        false => (first, 2),
    };
    (first..rounds()).step_by(step)
}

/// For each operation its algorithm number `round`, cyclically.
fn taken(round: usize) -> impl Iterator<Item = (Operation, &'static Algorithm)> {
    taken_of(round, |_| true)
}

/// For each operation number `round` of the algorithms that `serve`.
fn taken_of(
    round: usize,
    serve: impl Fn(&Algorithm) -> bool,
) -> impl Iterator<Item = (Operation, &'static Algorithm)> {
    Operation::every().map(move |operation| {
        let all: Vec<_> = Algorithm::of(operation).filter(|one| serve(one)).collect();
        (operation, all[round % all.len()])
    })
}

/// Shapes of trees inside clusters requested by a round, for algorithms that use any: none in every
/// other round.
fn shapes_of_round(round: usize) -> &'static str {
    const SHAPES: [&str; 5] = [
        "@chain",
        "@octopus-1/flat",
        "@binary",
        "@lambda-2",
        "@quadrinomial",
    ];
    match round % 2 {
        0 => "",
        _ => SHAPES[round / 2 % SHAPES.len()],
    }
}

/// The algorithms of a round, in the form of the setting `collectives`.
pub fn of_round(round: usize) -> String {
    listed(taken(round), shapes_of_round(round))
}

/// The algorithms of a round among those that support this number of ranks: for operations that the
/// MPI's own collectives cannot do.
pub fn of_round_among(round: usize, ranks: usize) -> String {
    let taken = taken_of(round, |strategy| strategy.allows(ranks));
    listed(taken, shapes_of_round(round))
}

fn listed(
    taken: impl Iterator<Item = (Operation, &'static Algorithm)>,
    shapes: &'static str,
) -> String {
    let mut list = String::new();
    for (operation, strategy) in taken {
        let comma = if list.is_empty() { "" } else { "," };
        let shapes = if strategy.has_trees_inside {
            shapes
        } else {
            ""
        };
        let _ = write!(list, "{comma}{operation}={}{shapes}", strategy.name);
    }
    list
}

/// A number of ranks from 2 to 8 that all algorithms of a round support; it differs between rounds.
///
/// # Panics
/// Panics if there is none.
pub fn ranks_of_round(round: usize) -> usize {
    let serves = |ranks: &usize| {
        let requirements = taken(round).flat_map(|(_, strategy)| strategy.requires);
        requirements
            .into_iter()
            .all(|required| required.allows(*ranks))
    };
    let mut numbers = (0..7).map(|next| 2 + (round + next) % 7);
    numbers.find(serves).expect("two ranks are served by all")
}
