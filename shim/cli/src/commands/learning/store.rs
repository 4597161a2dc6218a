//! Store of results, and its applications.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use treepie_guard::learning::Experience;
use treepie_launch::error::CommandError;
use treepie_profile::experience::{Key, Store};
use treepie_profile::settings::variable_of;
use treepie_report::experience::{Summary, now};

use crate::commands::options::absolute_path;

/// Selection of the store.
#[derive(Debug, Args)]
pub struct StoreChoice {
    /// Directory of the store [default: the setting `store`, and without one
    /// ~/.local/state/treepie]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

impl StoreChoice {
    /// The setting with the location of the store.
    ///
    /// # Errors
    /// There is no such setting.
    pub fn setting(&self) -> Result<String, CommandError> {
        if let Some(path) = &self.store {
            return Ok(absolute_path(path)?.display().to_string());
        }
        let variable = |name: &str| std::env::var(name).ok();
        let set = variable(&variable_of("store")).filter(|text| !text.is_empty());
        set.or_else(|| Store::usual(variable)).ok_or_else(|| {
            CommandError::usage(
                "no store: HOME is not set; name a directory with --store or TREEPIE_STORE",
            )
        })
    }

    /// Opens the store.
    ///
    /// # Errors
    /// See [`StoreChoice::setting`].
    pub fn store(&self) -> Result<Store, CommandError> {
        Ok(opened(&self.setting()?))
    }
}

/// Opens the store of a setting, for this user.
pub fn opened(setting: &str) -> Store {
    Store::new(setting, rustix::process::geteuid().as_raw())
}

/// Summary of an application.
pub(super) struct Application {
    pub(crate) key: Key,
    pub(crate) summary: Summary,
    pub(crate) experience: Experience,
}

/// The applications in a store that match `name`: the name of their program, or the beginning of
/// their key; all if `None`.
pub(super) fn applications(store: &Store, name: Option<&str>) -> Vec<Application> {
    let known = store.applications().into_iter().map(|key| {
        let known = store.read(key, SystemTime::now());
        Application {
            key,
            summary: Summary::new(
                key,
                &known.application,
                &known.experience,
                &known.guards,
                now(),
            ),
            experience: known.experience,
        }
    });
    let is_meant = |learnt: &Application| {
        let Summary { program, key, .. } = &learnt.summary;
        name.is_none_or(|name| program == name || name.len() > 3 && key.starts_with(name))
    };
    known
        .filter(|learnt| learnt.summary.runs > 0)
        .filter(is_meant)
        .collect()
}

/// Message that the store is empty, or has no such application.
pub(super) fn nothing_of(store: &Path, name: Option<&str>) -> String {
    let store = store.display();
    match name {
        Some(name) => format!(
            "{store}: nothing was learnt of `{name}`; `treepie history` lists what it was learnt of"
        ),
        None => format!("{store}: nothing was learnt yet; `treepie run -- mpirun ...` begins"),
    }
}
