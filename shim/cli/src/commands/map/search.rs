//! Placement within a time budget.

use std::time::{Duration, Instant};

use treepie_placement::{Effort, Options, Outcome, PlacementError};

/// Places once, and then, as long as another attempt fits into the budget, again with the greatest
/// effort and other seeds. The cheapest result is kept, so that a budget can only improve it.
///
/// # Errors
/// See `place`.
pub fn within(
    budget: Option<Duration>,
    options: &Options,
    place: impl Fn(&Options) -> Result<Outcome, PlacementError>,
) -> Result<Outcome, PlacementError> {
    let start = Instant::now();
    let mut best = place(options)?;
    let Some(budget) = budget else {
        return Ok(best);
    };
    let mut longest = Duration::ZERO;
    let mut attempt = 0;
    // The first attempt with more effort may take long: its time cannot be predicted.
    while start.elapsed() + longest < budget {
        let more = Options {
            effort: Effort::Strong,
            seed: options.seed.wrapping_add(attempt),
            ..*options
        };
        let began = Instant::now();
        let found = place(&more)?;
        longest = longest.max(began.elapsed());
        if found.cost < best.cost {
            best = found;
        }
        attempt += 1;
    }
    Ok(best)
}
