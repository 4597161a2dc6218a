//! Settings as YAML: `name: value` lines.

use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::given::Given;
use super::table::{self, Setting};
use treepie_base::{FileError, Kind, header, yaml};

/// Reads the settings in the text of a configuration file.
pub(super) fn read(path: &Path, text: &str) -> Result<Given, FileError> {
    header::check(path, text, Some(Kind::Configuration))?;
    yaml::parse(path, text)
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(SettingsVisitor)
    }
}

struct SettingsVisitor;

impl<'de> Visitor<'de> for SettingsVisitor {
    type Value = Given;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut lines: A) -> Result<Given, A::Error> {
        let mut given = Given::default();
        while let Some(setting) = lines.next_key_seed(FromText(named))? {
            match setting {
                None => {
                    lines.next_value::<IgnoredAny>()?;
                }
                Some(setting) => {
                    lines.next_value_seed(FromText(|text: &str| given.add(setting, text)))?;
                }
            }
        }
        Ok(given)
    }
}

/// Returns the setting of a name; `None` for the header.
fn named(name: &str) -> Result<Option<&'static Setting>, String> {
    match name {
        "treepie" | "version" => Ok(None),
        name => table::of_name(name).map(Some),
    }
}

/// Seed that makes a value from the same text as in the environment. A YAML list is read as its
/// items joined by commas, a mapping as `name=value` items; a null keeps the default. Errors while
/// the text is read get its line in messages.
struct FromText<F>(F);

impl<'de, T: Default, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for FromText<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<T, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de, T: Default, F: FnOnce(&str) -> Result<T, String>> Visitor<'de> for FromText<F> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        (self.0)(value).map_err(E::custom)
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element::<String>()? {
            texts.push(text);
        }
        self.visit_str(&texts.join(","))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut lines: A) -> Result<T, A::Error> {
        let mut texts = Vec::new();
        while let Some((name, value)) = lines.next_entry::<String, String>()? {
            texts.push(format!("{name}={value}"));
        }
        self.visit_str(&texts.join(","))
    }
}
