//! Values that are text, a number or a mapping in a file and another type in memory. If a value is
//! rejected, the error has its field and its line.

use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the text of a value, for `#[serde(with = "convert")]`.
pub fn serialize<S: Serializer>(value: &impl Display, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

/// Reads a value from its text, for `#[serde(with = "convert")]`.
pub fn deserialize<'de, D: Deserializer<'de>, T>(input: D) -> Result<T, D::Error>
where
    T: FromStr,
    T::Err: Display,
{
    text(input, str::parse)
}

/// Reads text, converted by `read`.
pub fn text<'de, D, T, E>(input: D, read: impl FnOnce(&str) -> Result<T, E>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    E: Display,
{
    input.deserialize_str(Text(read))
}

/// Reads a number, converted by `read`.
pub fn number<'de, D, T, E>(input: D, read: impl FnOnce(f64) -> Result<T, E>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    E: Display,
{
    input.deserialize_f64(Number(read))
}

/// Reads `name: value` lines as an `M`, converted by `read`.
pub fn mapping<'de, D, M, T, E>(
    input: D,
    read: impl FnOnce(M) -> Result<T, E>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
    E: Display,
{
    input.deserialize_map(Mapping(read, PhantomData))
}

/// Number as 16 hexadecimal digits, for `#[serde(with = "convert::hexadecimal")]`.
pub mod hexadecimal {
    use serde::{Deserializer, Serializer};

    /// Writes 16 hexadecimal digits.
    pub fn serialize<S: Serializer>(number: &u64, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{number:016x}"))
    }

    /// Reads 16 hexadecimal digits.
    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
        super::text(input, |text| {
            u64::from_str_radix(text, 16)
                .map_err(|_| format!("`{text}` is no number of 16 hexadecimal digits"))
        })
    }
}

struct Text<F>(F);

impl<T, E: Display, F: FnOnce(&str) -> Result<T, E>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("text")
    }

    fn visit_str<R: Error>(self, text: &str) -> Result<T, R> {
        (self.0)(text).map_err(R::custom)
    }
}

struct Number<F>(F);

impl<T, E: Display, F: FnOnce(f64) -> Result<T, E>> Visitor<'_> for Number<F> {
    type Value = T;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_f64<R: Error>(self, number: f64) -> Result<T, R> {
        (self.0)(number).map_err(R::custom)
    }

    fn visit_i64<R: Error>(self, number: i64) -> Result<T, R> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<R: Error>(self, number: u64) -> Result<T, R> {
        self.visit_f64(number as f64)
    }
}

struct Mapping<F, M>(F, PhantomData<M>);

impl<'de, M, T, E, F> Visitor<'de> for Mapping<F, M>
where
    M: Deserialize<'de>,
    E: Display,
    F: FnOnce(M) -> Result<T, E>,
{
    type Value = T;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("`name: value` lines")
    }

    fn visit_map<A: MapAccess<'de>>(self, lines: A) -> Result<T, A::Error> {
        let mapping = M::deserialize(MapAccessDeserializer::new(lines))?;
        (self.0)(mapping).map_err(A::Error::custom)
    }
}
