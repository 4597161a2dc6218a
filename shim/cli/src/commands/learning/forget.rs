//! `treepie forget`: removes the stored results of an application.

use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use serde_json::json;
use treepie_launch::error::CommandError;
use treepie_report::experience::PlatformSummary;

use crate::commands::learning::store::{StoreChoice, applications, nothing_of};
use crate::commands::options::Printing;
use crate::commands::outcome::Outcome;

/// Forget everything learnt about an application
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the program, or the beginning of its key as listed by `treepie history`
    #[arg(value_name = "APP", required_unless_present = "all")]
    application: Option<String>,
    /// Forget all applications, and the measured platforms
    #[arg(long, conflicts_with = "application")]
    all: bool,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    store: StoreChoice,
}

/// Removes their directories.
pub fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.store.store()?;
    let name = arguments.application.as_deref();
    let found = applications(&store, name);
    let platforms = if arguments.all {
        store.platforms(SystemTime::now())
    } else {
        Vec::new()
    };
    if found.is_empty() && platforms.is_empty() {
        return Err(CommandError::failed(nothing_of(store.path(), name)));
    }
    let mut forgotten = Vec::new();
    for learnt in found {
        store.forget(learnt.key)?;
        forgotten.push(learnt.summary.title());
    }
    for kept in platforms {
        store.forget(kept.key)?;
        forgotten.push(PlatformSummary::new(&kept).title());
    }
    // Results of guards are also stored for all applications together, without their names.
    for key in store.guards_of_all(SystemTime::now()) {
        store.forget(key)?;
    }
    let lines = || {
        forgotten
            .iter()
            .map(|title| format!("{title}: forgotten\n"))
    };
    let printing = arguments.printing;
    printing.answer(|| json!({ "forgotten": forgotten }), || lines().collect())?;
    Ok(ExitCode::SUCCESS)
}
