//! Segmentation of a message (thesis 6.2.2, item 41): the best segment size.

/// A segment size and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segmented {
    /// Bytes of a segment; the last one may be shorter.
    pub segment: u64,
    /// Seconds.
    pub seconds: f64,
}

/// Number of segments of `segment` bytes of a message of `bytes`: at least one.
pub fn segments(bytes: u64, segment: u64) -> u64 {
    bytes.div_ceil(segment.max(1)).max(1)
}

/// The segment size with the least `cost`: the message is cut into 1, 2, 4, ... parts, and a hill
/// climb (Kielmann 2001) with decreasing steps starts from the best of these. Sizes are multiples
/// of `granularity`, the size of a datatype.
pub(crate) fn best_segment(bytes: u64, granularity: u64, cost: impl Fn(u64) -> f64) -> Segmented {
    let granularity = granularity.max(1);
    let multiple = |size: u64| {
        let whole = size.div_ceil(granularity).saturating_mul(granularity);
        whole.max(granularity)
    };
    let try_size = |segment: u64| Segmented {
        segment,
        seconds: cost(segment),
    };
    let mut best = try_size(multiple(bytes));
    let mut part = bytes;
    while part > granularity {
        part = part.div_ceil(2);
        best = better(best, try_size(multiple(part)));
    }
    let mut step = best.segment / 4;
    while step >= granularity {
        let around = [
            best.segment.saturating_sub(step),
            best.segment.saturating_add(step).min(bytes),
        ];
        let tried = around
            .map(|size| try_size(multiple(size)))
            .into_iter()
            .fold(best, better);
        if tried == best {
            step /= 2;
        }
        best = tried;
    }
    best
}

/// The faster of two; of equal ones the first.
fn better(one: Segmented, other: Segmented) -> Segmented {
    match other.seconds < one.seconds {
        true => other,
        false => one,
    }
}
