//! Sizes to measure: a few that span the curve, and more where it bends.

use crate::link::Sample;

/// Relative error of a size predicted from its neighbours above which more sizes are measured.
const BEND: f64 = 0.15;
/// Ratio of two sizes at which the position of a switch is precise enough.
const CLOSE: f64 = 1.25;
/// Sizes that are measured together, the most useful first: first those that span the curve, so
/// that a short time still gives a usable one. On long paths only those: intermediate ones are
/// measured where the curve bends. `also` has additional sizes, such as those around a switch that
/// another link of the job has.
pub(super) fn initial_sizes(largest: u64, also: &[u64], is_long: bool) -> Vec<Vec<u64>> {
    let largest = largest.max(1);
    let mut seen = Vec::new();
    let mut batch = |sizes: &[u64]| {
        let mut fresh = Vec::new();
        for &bytes in sizes {
            if (1..=largest).contains(&bytes) && !seen.contains(&bytes) {
                seen.push(bytes);
                fresh.push(bytes);
            }
        }
        fresh
    };
    let between: &[u64] = if is_long {
        &[]
    } else {
        &[16 << 10, 256 << 10, 1 << 10]
    };
    let mut batches = vec![
        batch(&[largest, 1]),
        batch(&[&[64 << 10, 4 << 10], also].concat()),
        batch(&[between, &[4 << 20, 16 << 20]].concat()),
    ];
    batches.retain(|sizes| !sizes.is_empty());
    batches
}

/// The size between two measured ones where the curve bends most: where a handshake begins, or
/// where the neighbours predict a size badly. `None` if the curve is precise enough.
pub(super) fn next_size(samples: &[Sample], latency: f64) -> Option<u64> {
    let apart = |pair: &[Sample]| pair[1].bytes as f64 > CLOSE * pair[0].bytes as f64;
    let middle = |pair: &[Sample]| {
        let (low, high) = (pair[0].bytes as f64, pair[1].bytes as f64);
        // Between sizes far apart the geometric mean, between close ones the arithmetic mean,
        // rounded to typical sizes.
        let between = (low * high).sqrt();
        let step = (pair[1].bytes - pair[0].bytes).next_power_of_two() / 8;
        (between / step.max(1) as f64).round() as u64 * step.max(1)
    };
    let waits = |sample: &Sample| sample.handshake > latency / 2.0 + sample.confidence;
    let switch = samples
        .windows(2)
        .find(|pair| waits(&pair[0]) != waits(&pair[1]) && apart(pair));
    let bend = || {
        samples.windows(3).find_map(|three| {
            let span = (three[2].bytes - three[0].bytes) as f64;
            let place = (three[1].bytes - three[0].bytes) as f64 / span;
            let line = three[0].gap + (three[2].gap - three[0].gap) * place;
            // A difference within the noise is not a bend.
            let noise: f64 = three.iter().map(|sample| sample.confidence).sum();
            let bend = BEND * (latency + three[1].gap) + noise;
            let is_bent = (line - three[1].gap).abs() > bend;
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
