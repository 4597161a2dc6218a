//! Settings of a run, from a configuration file and from the environment.
//!
//! Every setting has one name: `mode` in YAML, `TREEPIE_MODE` in the environment, which takes
//! precedence. Values have the same syntax in both. Paths are relative to the directory that the
//! job starts in. A new setting is a row of `table`, with a form of its values if `form` has none.

mod choices;
mod collectives;
mod contradictions;
mod document;
mod error;
mod form;
mod given;
mod output;
mod reference;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod variables;

pub use choices::{
    AfterEnd, Apply, GuardMode, LocalOrder, LogLevel, Mode, OneSided, Pages, Probe, Reorder,
    Started, Stdin, Transport, is_on,
};
pub use collectives::{Collectives, NAMED, OfSizes, Runner};
pub use error::SettingsError;
pub use form::OrderTimeout;
pub use given::Given;
pub use output::{DEFAULT_OUTPUT, expand_output};
pub use reference::reference;
pub use sources::unknown_variables;
pub(crate) use table::of_name;
pub use table::{SETTINGS, Setting, Settings};
pub use variables::{
    CONFIG_VARIABLE, DISABLE_VARIABLE, LIBRARY_VARIABLE, MPI_LIBRARY_VARIABLE, PROBE_VARIABLE,
    RUN_VARIABLE, SITE_VARIABLE, TUNE_VARIABLE, variable_of,
};
