//! Two values in one mapping.
//!
//! serde's `flatten` neither rejects unknown fields nor keeps the lines of errors. Here the fields
//! of one value are taken out of the mapping while the other is read from it.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Value whose fields are read one by one.
pub trait SideFields: Default {
    /// Names of the fields.
    const NAMES: &'static [&'static str];

    /// Reads the value of the field `name`, one of the [`NAMES`](SideFields::NAMES).
    ///
    /// # Errors
    /// A value that is invalid for this field.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, lines: &mut A) -> Result<(), A::Error>;
}

/// Value, and another one whose fields are in the same mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Joined<T, S> {
    /// Value that rejects unknown fields.
    #[serde(flatten)]
    pub body: T,
    /// Value beside it.
    #[serde(flatten)]
    pub side: S,
}

impl<'de, T: Deserialize<'de>, S: SideFields> Deserialize<'de> for Joined<T, S> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(JoinedVisitor(PhantomData))
    }
}

struct JoinedVisitor<T, S>(PhantomData<(T, S)>);

impl<'de, T: Deserialize<'de>, S: SideFields> Visitor<'de> for JoinedVisitor<T, S> {
    type Value = Joined<T, S>;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, lines: A) -> Result<Joined<T, S>, A::Error> {
        let mut side = S::default();
        let body_lines = BodyLines {
            lines,
            side: &mut side,
        };
        let body = T::deserialize(MapAccessDeserializer::new(body_lines))?;
        Ok(Joined { body, side })
    }
}

/// Lines of a mapping except those of the side value, which are read on the way.
struct BodyLines<'a, A, S> {
    lines: A,
    side: &'a mut S,
}

impl<'de, A: MapAccess<'de>, S: SideFields> MapAccess<'de> for BodyLines<'_, A, S> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            let name = Name {
                of_side: S::NAMES,
                of_body: &mut seed,
            };
            match self.lines.next_key_seed(name)? {
                None => return Ok(None),
                Some(Field::Side(name)) => self.side.read(name, &mut self.lines)?,
                Some(Field::Body(name)) => return Ok(Some(name)),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.lines.next_value_seed(seed)
    }
}

/// Name before a value, with the value that it belongs to.
enum Field<K> {
    Side(&'static str),
    Body(K),
}

struct Name<'a, K> {
    of_side: &'static [&'static str],
    of_body: &'a mut Option<K>,
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<'_, K> {
    type Value = Field<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Name<'_, K> {
    type Value = Field<K::Value>;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        if let Some(name) = self.of_side.iter().find(|known| **known == name) {
            return Ok(Field::Side(name));
        }
        match self.of_body.take() {
            Some(seed) => seed.deserialize(name.into_deserializer()).map(Field::Body),
            None => Err(E::custom("two names follow each other")),
        }
    }
}
