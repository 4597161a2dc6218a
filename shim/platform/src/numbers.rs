//! Numbers in files: in microseconds, with the significant digits only.

/// Microseconds per second. Dividing by it is exact to the last digit, while multiplying by a
/// millionth is not.
pub(crate) const MICROSECONDS: f64 = 1e6;

/// Rounds a number to six significant digits: more are noise of the measurement.
pub(crate) fn rounded(value: f64) -> f64 {
    with_digits(value, 6)
}

/// Rounds a number to `digits` significant digits.
pub(crate) fn with_digits(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// For `#[serde(with = "numbers::micros")]`: seconds as microseconds.
pub(crate) mod micros {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::MICROSECONDS;

    pub(crate) fn serialize<S: Serializer>(seconds: &f64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(seconds * MICROSECONDS)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
        Ok(f64::deserialize(input)? / MICROSECONDS)
    }
}

/// For `#[serde(serialize_with = "numbers::write_rounded")]`: six digits.
pub(crate) fn write_rounded<S: serde::Serializer>(number: &f64, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_f64(rounded(*number))
}
