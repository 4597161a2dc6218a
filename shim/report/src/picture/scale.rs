//! Logarithmic mapping of values to colours, with round marks on the bar.

use plotters::style::RGBColor;

use crate::units;

/// Colours from low to high values: dark is high, so that it stands out on white paper; their order
/// is preserved for readers with colour vision deficiencies and in black and white.
const COLOURS: [(u8, u8, u8); 9] = [
    (253, 231, 76),
    (170, 220, 50),
    (94, 201, 98),
    (39, 173, 129),
    (33, 145, 140),
    (44, 114, 142),
    (59, 82, 139),
    (71, 45, 123),
    (48, 1, 60),
];

/// Number of different colours; adjacent cells of the same colour are drawn as one rectangle.
pub(crate) const STEPS: f64 = 96.0;

/// Maximum number of marks on the colour bar.
const MOST_MARKS: i32 = 8;

/// Unit of the values of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes; marks are powers of two.
    Bytes,
    /// Messages; marks are powers of ten.
    Messages,
    /// Bytes per message; marks are powers of two.
    BytesPerMessage,
    /// Unit of a matrix file, unknown; marks are powers of ten.
    Plain,
}

impl Unit {
    /// Title of the colour bar.
    pub fn title(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes sent",
            Unit::Messages => "messages sent",
            Unit::BytesPerMessage => "bytes a message",
            Unit::Plain => "affinity",
        }
    }

    /// Formats a value in this unit, in a few characters.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Bytes | Unit::BytesPerMessage => units::bytes(value),
            Unit::Messages | Unit::Plain => units::count(value),
        }
    }

    /// Formats a mark on the bar, which is a power of the base.
    pub fn mark(self, value: f64) -> String {
        let is_long = self.base() == 10.0 && value >= 1e6;
        if is_long {
            format!("1e{:.0}", value.log10())
        } else {
            self.text(value)
        }
    }

    fn base(self) -> f64 {
        match self {
            Unit::Bytes | Unit::BytesPerMessage => 2.0,
            Unit::Messages | Unit::Plain => 10.0,
        }
    }
}

/// A logarithmic scale between two powers of the unit's base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    base: f64,
    low: i32,
    high: i32,
}

impl Scale {
    /// Creates the scale of the values between `low` and `high`, both above zero.
    pub fn new(unit: Unit, low: f64, high: f64) -> Self {
        let base = unit.base();
        // Powers are exact: 3.0000000000000004 is a 3.
        let low = (low.log(base) + 1e-9).floor() as i32;
        let high = (high.log(base) - 1e-9).ceil() as i32;
        Scale {
            base,
            low,
            high: high.max(low + 1),
        }
    }

    /// Position of a value, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        let exponent = value.log(self.base);
        let place = (exponent - f64::from(self.low)) / f64::from(self.high - self.low);
        place.clamp(0.0, 1.0)
    }

    /// The colour of a value.
    pub fn colour(&self, value: f64) -> RGBColor {
        colour_at(self.place(value))
    }

    /// The marked values on the bar, from the smallest.
    pub fn marks(&self) -> Vec<f64> {
        let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
        let range = self.high - self.low;
        let fits = |step: &i32| range / step < MOST_MARKS;
        let step = steps.into_iter().find(fits).unwrap_or(range);
        let first = self.low.div_euclid(step) * step;
        (0..)
            .map(|mark| first + mark * step)
            .skip_while(|&exponent| exponent < self.low)
            .take_while(|&exponent| exponent <= self.high)
            .map(|exponent| self.base.powi(exponent))
            .collect()
    }
}

/// The colour at a place between 0 and 1 of the bar, one of a few.
pub(crate) fn colour_at(place: f64) -> RGBColor {
    let last = COLOURS.len() - 1;
    let place = (place.clamp(0.0, 1.0) * STEPS).round() / STEPS;
    let position = place * last as f64;
    let below = (position as usize).min(last - 1);
    let part = position - below as f64;
    let mix = |from: u8, to: u8| (f64::from(from) * (1.0 - part) + f64::from(to) * part) as u8;
    let (from, to) = (COLOURS[below], COLOURS[below + 1]);
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_scale_are_powers_around_the_values() {
        let scale = Scale::new(Unit::Bytes, 1000.0, 5000.0);
        assert_eq!(scale.marks(), [512.0, 1024.0, 2048.0, 4096.0, 8192.0]);
        assert_eq!(scale.place(512.0), 0.0);
        assert_eq!(scale.place(8192.0), 1.0);
    }

    #[test]
    fn equal_values_still_have_a_scale() {
        let scale = Scale::new(Unit::Messages, 1000.0, 1000.0);
        assert_eq!(scale.marks(), [1000.0, 10000.0]);
        assert!(scale.place(1000.0).is_finite());
    }

    #[test]
    fn a_wide_range_has_few_marks() {
        let marks = Scale::new(Unit::Bytes, 1.0, 1e15).marks();
        assert!(marks.len() <= 9, "{marks:?}");
        assert_eq!(marks[0], 1.0);
    }

    #[test]
    fn more_is_darker() {
        let brightness = |place| {
            let RGBColor(red, green, blue) = colour_at(place);
            0.3 * f64::from(red) + 0.6 * f64::from(green) + 0.1 * f64::from(blue)
        };
        let places: Vec<f64> = (0..=20).map(|step| f64::from(step) / 20.0).collect();
        assert!(
            places
                .windows(2)
                .all(|pair| brightness(pair[0]) > brightness(pair[1]))
        );
    }
}
