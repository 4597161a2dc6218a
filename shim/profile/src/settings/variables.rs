//! Names of variables: those of the settings, and those of the command.

use treepie_base::nearest;

use super::table;

/// Start of the names of all variables of treepie.
pub(super) const PREFIX: &str = "TREEPIE_";

/// The variable that names the configuration file; it is no setting itself.
pub const CONFIG_VARIABLE: &str = "TREEPIE_CONFIG";

/// The variable that switches the library off before it reads anything else; it is no setting, so
/// that no file can take it back.
pub const DISABLE_VARIABLE: &str = "TREEPIE_DISABLE";

/// The variable by which a site switches the library on, for the programs that its policy names.
pub const SITE_VARIABLE: &str = "TREEPIE_SITE";

/// The variable that tells the command where the library is (module files set it).
pub const LIBRARY_VARIABLE: &str = "TREEPIE_LIBRARY";

/// The variable that tells the command which program measures platforms.
pub const PROBE_VARIABLE: &str = "TREEPIE_PROBE_PROGRAM";

/// The variable that tells the command which program measures the MPI's algorithms.
pub const TUNE_VARIABLE: &str = "TREEPIE_TUNE_PROGRAM";

/// The variable that tells the command which MPI library the programs that measure are to open.
pub const MPI_LIBRARY_VARIABLE: &str = "TREEPIE_MPI_LIBRARY";

/// The variable in which the command gives a run its number, by which it finds what was learnt.
pub const RUN_VARIABLE: &str = "TREEPIE_RUN";

/// The variables of the command. They are no settings, and jobs that inherit them
/// are none the worse.
pub(super) const OF_COMMAND: [&str; 5] = [
    LIBRARY_VARIABLE,
    MPI_LIBRARY_VARIABLE,
    PROBE_VARIABLE,
    TUNE_VARIABLE,
    RUN_VARIABLE,
];

/// The variable of a setting: `TREEPIE_MODE` for `mode`.
pub fn variable_of(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// The variable that was most likely meant, compared without the common prefix.
pub(super) fn similar_variable(variable: &str) -> String {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    nearest(name, table::names().chain(["config", "disable", "site"]))
        .map(|setting| format!(", did you mean `{}`?", variable_of(setting)))
        .unwrap_or_default()
}

/// All variables that have a meaning.
pub(super) fn known_variables() -> Vec<String> {
    let settings = table::names().map(variable_of);
    [CONFIG_VARIABLE, DISABLE_VARIABLE, SITE_VARIABLE]
        .map(str::to_owned)
        .into_iter()
        .chain(settings)
        .collect()
}
