//! Which sizes to measure: a few that span the curve, and more where it bends.

use super::super::Sample;

/// Sizes that two neighbours predict this badly are worth a closer look.
const BEND: f64 = 0.15;
/// Where two sizes are this close, the place of a switch is known well enough.
const CLOSE: f64 = 1.25;
/// Sizes in the order in which they are worth measuring: first those that span
/// the curve, so that a short budget still gives a usable one.
pub(super) fn first_sizes(largest: u64) -> Vec<u64> {
    let mut sizes = vec![largest.max(1), 1];
    for bytes in [
        64 << 10,
        4 << 10,
        256 << 10,
        16 << 10,
        1 << 10,
        4 << 20,
        16 << 20,
    ] {
        if bytes < largest {
            sizes.push(bytes);
        }
    }
    sizes.dedup();
    sizes
}

/// The size between two that were measured where the curve bends most: where a
/// handshake begins, or where neighbours predict a size badly. `None` if it is
/// known well enough.
pub(super) fn next_size(samples: &[Sample], latency: f64) -> Option<u64> {
    let apart = |pair: &[Sample]| pair[1].bytes as f64 > CLOSE * pair[0].bytes as f64;
    let middle = |pair: &[Sample]| {
        let (low, high) = (pair[0].bytes as f64, pair[1].bytes as f64);
        // Between sizes far apart the geometric mean, close to each other the
        // arithmetic one, rounded to what hosts like.
        let between = (low * high).sqrt();
        let step = (pair[1].bytes - pair[0].bytes).next_power_of_two() / 8;
        (between / step.max(1) as f64).round() as u64 * step.max(1)
    };
    let waits = |sample: &Sample| sample.handshake > latency / 2.0;
    let switch = samples
        .windows(2)
        .find(|pair| waits(&pair[0]) != waits(&pair[1]) && apart(pair));
    let bend = || {
        samples.windows(3).find_map(|three| {
            let span = (three[2].bytes - three[0].bytes) as f64;
            let place = (three[1].bytes - three[0].bytes) as f64 / span;
            let line = three[0].gap + (three[2].gap - three[0].gap) * place;
            let is_bent = (line - three[1].gap).abs() > BEND * (latency + three[1].gap);
            let wider = match (
                three[1].bytes / three[0].bytes.max(1),
                three[2].bytes / three[1].bytes.max(1),
            ) {
                (left, right) if left > right => &three[..2],
                _ => &three[1..],
            };
            (is_bent && wider[1].bytes > 2 * wider[0].bytes).then_some(wider)
        })
    };
    let pair = switch.or_else(bend)?;
    let size = middle(pair);
    (size > pair[0].bytes && size < pair[1].bytes).then_some(size)
}
