//! Medians and their precision. Medians, because one stray pause of the machine must not change a
//! parameter.

/// A median with the bounds of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether half the interval is at most this part of the median.
    pub fn is_within(&self, part: f64) -> bool {
        self.half_width() <= part * self.median.abs()
    }
}

/// The median and its interval by order statistics: no assumption about how
/// measured times are distributed. Six values or fewer cannot give 95 %; their
/// whole range is the interval.
///
/// `None` for no values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let last = count.checked_sub(1)?;
    let median = (sorted[last / 2] + sorted[count / 2]) / 2.0;
    // Ranks of the bounds: n/2 -+ 1.96 sqrt(n)/2, by the normal approximation
    // of the binomial distribution.
    let reach = 1.96 * (count as f64).sqrt() / 2.0;
    let low = (count as f64 / 2.0 - reach).floor().max(0.0) as usize;
    let high = (count as f64 / 2.0 + reach).ceil() as usize;
    Some(Estimate {
        median,
        low: sorted[low.min(last)],
        high: sorted[high.min(last)],
    })
}

/// The median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    estimate(values).map(|estimate| estimate.median)
}
