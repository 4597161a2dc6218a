//! Names of variables: those of the settings, and those of the command.

use treepie_base::nearest;

use super::table;

/// Prefix of the names of all variables of treepie.
pub(super) const PREFIX: &str = "TREEPIE_";

/// Variable that names the configuration file; it is not a setting itself.
pub const CONFIG_VARIABLE: &str = "TREEPIE_CONFIG";

/// Variable that switches the library off before it reads anything else; it is not a setting, so
/// that no file can override it.
pub const DISABLE_VARIABLE: &str = "TREEPIE_DISABLE";

/// Variable by which a site switches the library on, for the programs that its policy names.
pub const SITE_VARIABLE: &str = "TREEPIE_SITE";

/// Variable that gives the command the path of the library (module files set it).
pub const LIBRARY_VARIABLE: &str = "TREEPIE_LIBRARY";

/// Variable that gives the command the program that measures platforms.
pub const PROBE_VARIABLE: &str = "TREEPIE_PROBE_PROGRAM";

/// Variable that gives the command the program that measures the MPI's algorithms.
pub const TUNE_VARIABLE: &str = "TREEPIE_TUNE_PROGRAM";

/// Variable that gives the command the MPI library that measuring programs are to open.
pub const MPI_LIBRARY_VARIABLE: &str = "TREEPIE_MPI_LIBRARY";

/// Variable in which the command gives a run its number, by which it finds the run's results.
pub const RUN_VARIABLE: &str = "TREEPIE_RUN";

/// Variables of the command. They are not settings, and jobs may inherit them without an effect.
pub(super) const OF_COMMAND: [&str; 5] = [
    LIBRARY_VARIABLE,
    MPI_LIBRARY_VARIABLE,
    PROBE_VARIABLE,
    TUNE_VARIABLE,
    RUN_VARIABLE,
];

/// Returns the variable of a setting: `TREEPIE_MODE` for `mode`.
pub fn variable_of(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// Returns the variable that was most likely meant, compared without the common prefix.
pub(super) fn similar_variable(variable: &str) -> String {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    nearest(name, table::names().chain(["config", "disable", "site"]))
        .map(|setting| format!(", did you mean `{}`?", variable_of(setting)))
        .unwrap_or_default()
}

/// Returns all variables that have a meaning.
pub(super) fn known_variables() -> Vec<String> {
    let settings = table::names().map(variable_of);
    [CONFIG_VARIABLE, DISABLE_VARIABLE, SITE_VARIABLE]
        .map(str::to_owned)
        .into_iter()
        .chain(settings)
        .collect()
}
