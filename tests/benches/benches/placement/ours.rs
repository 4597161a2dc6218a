//! Treepie's placements.

use treepie_placement::{Effort, Options, Strategy, place};

use crate::clock;
use crate::suite::Instance;
use crate::table::Measured;

/// The compared efforts.
pub fn efforts(ranks: usize, strong: bool) -> Vec<Effort> {
    match (strong, ranks > 50_000) {
        (true, _) => Effort::ALL.to_vec(),
        (false, true) => vec![Effort::Fast],
        (false, false) => vec![Effort::Fast, Effort::Normal],
    }
}

/// The result of `--strategy best` for an instance.
pub fn measure(instance: &Instance, effort: Effort) -> Result<Measured, String> {
    let options = Options {
        effort,
        ..Options::default()
    };
    let (matrix, topology) = (&instance.matrix, &instance.topology);
    let placed = || place(Strategy::Best, matrix, topology, &options);
    // A kernel may count in steps of some milliseconds.
    let times = (4096 / instance.ranks).clamp(1, 16);
    let start = clock::of_this_thread()?;
    for _ in 1..times {
        placed().map_err(|error| error.to_string())?;
    }
    let outcome = placed().map_err(|error| error.to_string())?;
    let seconds = (clock::of_this_thread()? - start) / times as f64;
    Ok(Measured {
        cost: instance.cost(&outcome.placement.leaf_of_rank)?,
        seconds,
        note: outcome.strategy.to_string(),
    })
}
