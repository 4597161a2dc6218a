//! What the MPI reads, in a directory: its rules, and a script that sets its variables.

use std::path::{Path, PathBuf};

use treepie_core::collective::native::knobs::Setting;
use treepie_core::files::write_atomically;
use treepie_core::tuning::{MpiTuning, RULES_FILE, Tuning, mpi_tuning};

use crate::error::CommandError;

/// The script.
const SCRIPT: &str = "tuned.sh";

/// What was written for the MPI.
pub struct Written {
    tuning: MpiTuning,
    script: Option<PathBuf>,
}

/// Writes what `tuning` has for the MPI into `directory`, and takes away what an older tuning left
/// there.
///
/// # Errors
/// A directory that cannot be written.
pub fn write(tuning: &Tuning, directory: &Path) -> Result<Written, CommandError> {
    let made = mpi_tuning(tuning, |_| true);
    let (rules, script) = (directory.join(RULES_FILE), directory.join(SCRIPT));
    let mut settings = made.settings.clone();
    match &made.rules {
        Some(text) => {
            write_atomically(&rules, |out| out.write_all(text.as_bytes()))?;
            let path = rules.display().to_string();
            settings.extend(tuning.library.rules_settings(&path));
        }
        None => drop(std::fs::remove_file(&rules)),
    }
    if settings.is_empty() {
        // It may not have been there.
        drop(std::fs::remove_file(&script));
        return Ok(Written {
            tuning: made,
            script: None,
        });
    }
    let text = exports(tuning, &settings);
    write_atomically(&script, |out| out.write_all(text.as_bytes()))?;
    Ok(Written {
        tuning: made,
        script: Some(script),
    })
}

/// A script to be read by a shell. What the user has set wins.
fn exports(tuning: &Tuning, settings: &[Setting]) -> String {
    let mut text = format!(
        "# Algorithms of collectives for {}, measured on {} ranks.\n# Read it before a job: \
         . {SCRIPT}\n",
        tuning.library, tuning.ranks
    );
    for (name, value) in settings {
        let quoted = value.replace('\'', r"'\''");
        text += &format!("[ -n \"${{{name}+x}}\" ] || export {name}='{quoted}'\n");
    }
    text
}

/// How to use what was written.
pub fn told(tuning: &Tuning, written: &Written) -> String {
    let mut text = String::new();
    match &written.script {
        None => text += "The MPI's defaults stay: nothing was written for it.\n",
        Some(script) => {
            text += &format!(
                "Use it: `. {}` before mpirun, or TREEPIE_TUNING={} with the library.\n",
                script.display(),
                script.with_file_name(super::FILE).display()
            );
        }
    }
    if tuning.rows.iter().any(|row| row.plan.is_some()) {
        text += "Plans that won run from the start under the guard, where TREEPIE_TUNING names \
                 the file and TREEPIE_COLLECTIVES is auto.\n";
    }
    let left_out = written
        .tuning
        .left_out
        .iter()
        .map(|place| &tuning.rows[*place]);
    for row in left_out {
        text += &format!(
            "Not told to the MPI: {} of {} bytes, which {} cannot be set for alone.\n",
            row.operation, row.from_bytes, tuning.library
        );
    }
    text
}
