//! Treepie's placements.

use treepie_core::placement::{Effort, Options, Strategy, place};

use crate::clock;
use crate::suite::Instance;
use crate::table::Measured;

/// The efforts that are compared.
pub fn efforts(ranks: usize, strong: bool) -> Vec<Effort> {
    match (strong, ranks > 50_000) {
        (true, _) => Effort::ALL.to_vec(),
        (false, true) => vec![Effort::Fast],
        (false, false) => vec![Effort::Fast, Effort::Normal],
    }
}

/// What `--strategy best` makes of an instance.
pub fn measure(instance: &Instance, effort: Effort) -> Result<Measured, String> {
    let options = Options {
        effort,
        ..Options::default()
    };
    let start = clock::of_this_thread()?;
    let outcome = place(
        Strategy::Best,
        &instance.matrix,
        &instance.topology,
        &options,
    );
    let outcome = outcome.map_err(|error| error.to_string())?;
    let seconds = clock::of_this_thread()? - start;
    Ok(Measured {
        cost: instance.cost(&outcome.placement.leaf_of_rank)?,
        seconds,
        note: outcome.strategy.to_string(),
    })
}
