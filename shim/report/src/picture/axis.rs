//! Axes: the range of values, their positions, and the marks.

/// One axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// Its name.
    pub name: &'static str,
    /// True if equal steps are equal factors; values up to 0 are then left out.
    pub logarithmic: bool,
    /// Formats a mark as text.
    pub mark: fn(f64) -> String,
}

/// The values of an axis.
pub(super) struct Scale {
    /// Factor between marks, if equal steps are equal factors.
    factor: Option<f64>,
    low: f64,
    high: f64,
}

impl Scale {
    /// Creates a scale; plain axes begin at 0 or below.
    pub(super) fn new(axis: Axis, values: impl Iterator<Item = f64>) -> Scale {
        let shown = values.filter(|&value| !axis.logarithmic || value > 0.0);
        let (low, high) = ends(shown).unwrap_or((1.0, 10.0));
        if !axis.logarithmic {
            let high = if high > 0.0 { high * 1.05 } else { 1.0 };
            return Scale {
                factor: None,
                low: low.min(0.0),
                high,
            };
        }
        Scale {
            factor: Some(if axis.name.contains("bytes") {
                16.0
            } else {
                10.0
            }),
            low: low / 1.3,
            high: high * 1.3,
        }
    }

    /// Creates a plain scale that begins and ends close to the values, to show small differences.
    pub(super) fn close_to(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = ends(values).unwrap_or((0.0, 1.0));
        let margin = if high > low {
            0.05 * (high - low)
        } else {
            0.01 * low.abs().max(1e-6)
        };
        Scale {
            factor: None,
            low: low - margin,
            high: high + margin,
        }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Position from 0 at the low end to 1 at the high one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let stretch = |value: f64| match self.factor {
            Some(_) => value.ln(),
            None => value,
        };
        let (low, high) = (stretch(self.low), stretch(self.high));
        (stretch(value) - low) / (high - low)
    }

    /// Marks: powers of ten, or of 16 for bytes; plain axes have about five.
    pub(super) fn marks(&self) -> Vec<f64> {
        if let Some(factor) = self.factor {
            let first = (self.low.ln() / factor.ln()).ceil() as i32;
            let last = (self.high.ln() / factor.ln()).floor() as i32;
            return (first..=last).map(|power| factor.powi(power)).collect();
        }
        let step = self.step();
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }

    /// Distance of the marks of a plain axis.
    pub(super) fn step(&self) -> f64 {
        let rough = (self.high - self.low) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        round
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough)
    }
}

/// The least and the largest value; `None` if there are no values.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_close_axis_are_round_numbers_inside_it() {
        let scale = Scale::close_to([1.0231, 1.0574].into_iter());
        let marks: Vec<String> = scale
            .marks()
            .iter()
            .map(|mark| format!("{mark:.2}"))
            .collect();
        assert_eq!(marks, ["1.03", "1.04", "1.05"]);
        assert!(scale.place(1.0231) > 0.0 && scale.place(1.0574) < 1.0);
        let below = Scale::close_to([-0.31, 0.12].into_iter());
        let marks: Vec<String> = below
            .marks()
            .iter()
            .map(|mark| format!("{mark:.1}"))
            .collect();
        assert_eq!(marks, ["-0.3", "-0.2", "-0.1", "0.0", "0.1"]);
    }

    #[test]
    fn one_value_is_in_the_middle_of_its_axis() {
        for value in [2.0, 0.0, -3.0] {
            let scale = Scale::close_to([value].into_iter());
            assert!((scale.place(value) - 0.5).abs() < 1e-6, "{value}");
            assert!(!scale.marks().is_empty());
        }
    }
}
