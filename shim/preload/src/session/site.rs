//! Switches outside of the settings: the one that turns the library off before any other work, and
//! a site's, which turns it on for the programs of a policy.

use std::env;
use std::path::Path;
use std::process;
use std::time::SystemTime;

use treepie_base::{SplitMix64, since_epoch};
use treepie_process::log;
use treepie_profile::settings::{
    CONFIG_VARIABLE, DISABLE_VARIABLE, SETTINGS, SITE_VARIABLE, is_on, variable_of,
};
use treepie_profile::site::{SITE_FILE, SitePolicy};

use super::program;

/// True if the library is turned off.
pub fn is_disabled() -> bool {
    is_switched_on(DISABLE_VARIABLE)
}

/// True if the ranks need an agreement. `TREEPIE_MODE=off`, or neither a mode nor a configuration
/// nor a site's switch, leaves the job alone: no call is added to `MPI_Init`.
pub fn is_asked_for() -> bool {
    if is_disabled() {
        return false;
    }
    match value_of("TREEPIE_MODE") {
        Some(mode) => mode.trim() != "off",
        None => value_of(CONFIG_VARIABLE).is_some() || is_switched_on(SITE_VARIABLE),
    }
}

/// Returns the site's policy, as process 0 reads it; `None` if there is none, or if it cannot be
/// used, which is reported.
pub fn policy() -> Option<SitePolicy> {
    SitePolicy::of_machine().unwrap_or_else(|error| {
        log::warn(&format!("{error}; this site's policy is left out"));
        None
    })
}

/// True if the policy leaves alone a job that has no request of its own.
pub fn leaves_alone(policy: Option<&SitePolicy>, ranks: usize) -> bool {
    if value_of("TREEPIE_MODE").is_some() || value_of(CONFIG_VARIABLE).is_some() {
        return false;
    }
    let Some(policy) = policy else {
        log::info(&format!(
            "{SITE_VARIABLE} is set, and there is no {SITE_FILE}"
        ));
        return true;
    };
    let (file, script) = program::files();
    let mut paths: Vec<&Path> = vec![&file];
    paths.extend(script.as_deref());
    let seed = since_epoch(SystemTime::now()).as_nanos() as u64 ^ u64::from(process::id());
    let verdict = policy.on_job(&paths, ranks, SplitMix64::new(seed).fraction());
    log::info(&format!("{SITE_FILE}: {}: {verdict}", file.display()));
    !verdict.is_taken()
}

/// Warns of variables that are set but have no effect, because the site has locked their settings.
pub fn tell_of_locked(policy: &SitePolicy) {
    let locked = SETTINGS.iter().filter(|setting| policy.locks(setting.name));
    for variable in locked.map(|setting| variable_of(setting.name)) {
        if value_of(&variable).is_some() {
            log::warn(&format!(
                "{variable} does not count: {SITE_FILE} locks this setting"
            ));
        }
    }
}

fn is_switched_on(variable: &str) -> bool {
    value_of(variable).is_some_and(|value| is_on(&value))
}

/// Returns the value of a variable; an empty one counts as not set.
fn value_of(variable: &str) -> Option<String> {
    env::var(variable)
        .ok()
        .filter(|value| !value.trim().is_empty())
}
