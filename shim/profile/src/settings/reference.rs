//! Reference of the settings.

use super::table::{SETTINGS, Setting, Settings};
use super::variables::variable_of;

/// Returns a Markdown table of all settings: variable, meaning, values and default.
pub fn reference() -> String {
    let usual = Settings::default();
    let mut text = "| variable | meaning | values | default |\n|---|---|---|---|\n".to_owned();
    for setting in SETTINGS {
        text += &format!(
            "| `{}` | {} | {} | {} |\n",
            variable_of(setting.name),
            setting.doc.trim(),
            (setting.values)(),
            default_of(setting, &usual)
        );
    }
    text
}

fn default_of(setting: &Setting, usual: &Settings) -> String {
    let value = (setting.print)(usual).map(|value| format!("`{value}`"));
    value.unwrap_or_else(|| setting.unset.to_owned())
}
