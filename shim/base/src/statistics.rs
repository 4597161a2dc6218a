//! Medians and their precision. Medians, because one stray pause of the machine must not change a
//! parameter.

/// A median with the bounds of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Median of the values.
    pub median: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// Returns half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// True if half the interval is at most this fraction of the median.
    pub fn is_within(&self, part: f64) -> bool {
        self.half_width() <= part * self.median.abs()
    }
}

/// Returns the median and its interval by order statistics: no assumption about the distribution of
/// measured times. Six values or fewer cannot give 95 %; their whole range is the interval.
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

/// Returns the median; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    estimate(values).map(|estimate| estimate.median)
}

/// Returns the mean; `None` for no values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values = values.into_iter();
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Returns the line `y = slope x + intercept` with the least squared errors: ordinary least
/// squares. `None` for fewer than two different `x`.
pub fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    if points.len() < 2 || spread <= 0.0 {
        return None;
    }
    let common: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    let slope = common / spread;
    Some((slope, mean_y - slope * mean_x))
}
