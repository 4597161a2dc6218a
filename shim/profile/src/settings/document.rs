//! The configuration as YAML: `name: value` lines with the names of the settings.

use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{NAMES, Settings};
use treepie_base::nearest::did_you_mean;
use treepie_base::{FileError, Kind, header, yaml};

/// The settings in the text of a configuration file.
pub(super) fn read(path: &Path, text: &str) -> Result<Settings, FileError> {
    header::check(path, text, Some(Kind::Configuration))?;
    yaml::parse::<Document>(path, text).map(|document| document.0)
}

struct Document(Settings);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut lines: A) -> Result<Document, A::Error> {
        let mut settings = Settings::default();
        while let Some(Name(name)) = lines.next_key()? {
            match name {
                None => {
                    lines.next_value::<IgnoredAny>()?;
                }
                Some(name) => lines.next_value_seed(SettingValue {
                    settings: &mut settings,
                    name,
                })?,
            }
        }
        Ok(Document(settings))
    }
}

/// The name in front of a value: a setting, or `None` for the header.
struct Name(Option<&'static str>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a setting")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        if matches!(name, "treepie" | "version") {
            return Ok(Name(None));
        }
        let known = NAMES.into_iter().find(|known| *known == name);
        known.map(|name| Name(Some(name))).ok_or_else(|| {
            let plain = name.strip_prefix("TREEPIE_").unwrap_or(name);
            let suggestion = did_you_mean(plain, NAMES);
            let known = NAMES.join(", ");
            E::custom(format!(
                "no setting is called `{name}`{suggestion}; write one of {known}"
            ))
        })
    }
}

/// Puts the value of one line into the settings. A YAML list is read as its
/// items joined by commas, a mapping as `name=value` items: what the same
/// setting would be in the environment.
struct SettingValue<'a> {
    settings: &'a mut Settings,
    name: &'static str,
}

impl SettingValue<'_> {
    fn set<E: Error>(self, text: &str) -> Result<(), E> {
        self.settings.set(self.name, text).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for SettingValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SettingValue<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a value for {}", self.name)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.set(&value.to_string())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.set(value)
    }

    /// `name:` with nothing behind leaves the default.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut texts = Vec::new();
        while let Some(Scalar(text)) = items.next_element()? {
            texts.push(text);
        }
        self.set(&texts.join(","))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut lines: A) -> Result<(), A::Error> {
        let mut texts = Vec::new();
        while let Some((Scalar(name), Scalar(value))) = lines.next_entry()? {
            texts.push(format!("{name}={value}"));
        }
        self.set(&texts.join(","))
    }
}

/// One word or number inside a list.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a word or a number")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar(value.to_owned()))
    }
}
