//! Order statistics of measurements.

/// Values in ascending order; at least one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the values; `None` if there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Sorted(sorted))
    }

    pub(crate) fn least(&self) -> f64 {
        self.0[0]
    }

    /// Median; for an even number, the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let count = self.0.len();
        (self.0[(count - 1) / 2] + self.0[count / 2]) / 2.0
    }

    /// Width of the middle half.
    pub(crate) fn half_in(&self) -> f64 {
        let count = self.0.len();
        self.0[(3 * count - 1) / 4] - self.0[(count - 1) / 4]
    }
}

/// The median of the quotients of values measured in the same rounds.
pub(crate) fn median_quotient(values: &[f64], others: &[f64]) -> Option<f64> {
    let pairs = values.iter().zip(others);
    let quotients: Vec<f64> = pairs.map(|(value, other)| value / other).collect();
    Sorted::of(&quotients).map(|sorted| sorted.median())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_halves_of_few_values() {
        let of = |values: &[f64]| {
            let sorted = Sorted::of(values).expect("there are some");
            (sorted.least(), sorted.median(), sorted.half_in())
        };
        assert_eq!(of(&[3.0]), (3.0, 3.0, 0.0));
        assert_eq!(of(&[4.0, 1.0]), (1.0, 2.5, 3.0));
        assert_eq!(of(&[5.0, 1.0, 2.0, 9.0]), (1.0, 3.5, 4.0));
        assert_eq!(of(&[8.0, 1.0, 7.0, 2.0, 3.0]), (1.0, 3.0, 5.0));
        assert_eq!(Sorted::of(&[]), None);
    }

    #[test]
    fn quotients_are_taken_round_by_round() {
        assert_eq!(
            median_quotient(&[2.0, 6.0, 9.0], &[1.0, 2.0, 9.0]),
            Some(2.0)
        );
    }
}
