//! Settings that a file gives, before the other sources are known.

use std::fmt;

use serde::{Serialize, Serializer};

use super::table::{Setting, Settings};

/// Settings and their texts, in the order of a file. Each text is valid for its setting.
#[derive(Clone, Default)]
pub struct Given(Vec<(&'static Setting, String)>);

impl Given {
    /// Adds a setting.
    ///
    /// # Errors
    /// A text that is invalid for it.
    pub(super) fn add(&mut self, setting: &'static Setting, text: &str) -> Result<(), String> {
        (setting.set)(&mut Settings::default(), text)?;
        self.0.push((setting, text.to_owned()));
        Ok(())
    }

    /// Returns names and texts of the settings.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let given = self.0.iter();
        given.map(|(setting, text)| (setting.name, text.as_str()))
    }

    /// Sets those whose names `counts` accepts.
    pub(super) fn apply(&self, settings: &mut Settings, counts: impl Fn(&str) -> bool) {
        for (setting, text) in self.0.iter().filter(|(setting, _)| counts(setting.name)) {
            let is_set = (setting.set)(settings, text);
            debug_assert_eq!(is_set, Ok(()), "`add` has tried it");
        }
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        self.texts().eq(other.texts())
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.texts())
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.texts()).finish()
    }
}
