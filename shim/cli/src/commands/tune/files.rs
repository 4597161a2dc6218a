//! Directory of files for the MPI: its rules, and a script that sets its variables.

use std::path::{Path, PathBuf};

use treepie_base::write_atomically;
use treepie_launch::error::CommandError;
use treepie_native::knobs::{Component, Setting};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{MpiTuning, RULES_FILES, Selection, Tuning, mpi_tuning, rules_file};

/// The tuning in its directory.
pub(super) const FILE: &str = "tuning.yaml";

/// The script.
const SCRIPT: &str = "tuned.sh";

/// Files written for the MPI.
pub struct Written {
    tuning: MpiTuning,
    script: Option<PathBuf>,
}

/// Writes the files of `tuning` for the MPI into `directory`, and removes those of an older tuning.
///
/// # Errors
/// The directory cannot be written.
pub fn write(file: &TuningFile, directory: &Path) -> Result<Written, CommandError> {
    let tuning = &file.body;
    let own = file.library_file.as_deref().and_then(Selection::of_library);
    let made = mpi_tuning(tuning, own.as_ref(), |_| true);
    let script = directory.join(SCRIPT);
    let mut settings = made.settings.clone();
    let file_of = |component: Component| rules_file(tuning.library, component);
    let written = |name: &str| made.rules.iter().any(|(of, _)| file_of(*of) == name);
    for name in RULES_FILES.into_iter().filter(|name| !written(name)) {
        // It may not have existed.
        drop(std::fs::remove_file(directory.join(name)));
    }
    for (component, text) in &made.rules {
        let path = directory.join(file_of(*component));
        write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
        let path = path.display().to_string();
        settings.extend(tuning.library.rules_settings(*component, &path));
    }
    if settings.is_empty() {
        // It may not have existed.
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

/// A script for a shell. Variables set by the user take precedence.
fn exports(tuning: &Tuning, settings: &[Setting]) -> String {
    let mut text = format!(
        "# Algorithms of collectives for {}, measured on {} ranks.\n# Read it before a job: \
         . {SCRIPT}\n",
        tuning.library, tuning.ranks
    );
    for (name, value) in settings {
        let value = in_quotes(value);
        text += &format!("[ -n \"${{{name}+x}}\" ] || export {name}={value}\n");
    }
    text
}

/// Quotes a word for a shell.
fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Text for a shell, with quotes only if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%".contains(letter);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        in_quotes(word)
    }
}

/// Instructions for the use of these files.
pub fn told(tuning: &Tuning, written: &Written) -> String {
    let mut text = String::new();
    match &written.script {
        None => text += "The MPI's defaults stay: nothing was written for it.\n",
        Some(script) => {
            text += &format!(
                "Use it: `. {}` before mpirun, or TREEPIE_TUNING={} with the library.\n",
                quoted(&script.display().to_string()),
                quoted(&script.with_file_name(FILE).display().to_string())
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Open MPI's variables in the environment of a shell after the script.
    fn told(directory: &Path, set: &[(&str, &str)]) -> Vec<String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", ". ./tuned.sh && env | grep ^OMPI_MCA_ | sort"]);
        shell.current_dir(directory).env_clear().envs(set.to_vec());
        shell.env("PATH", "/usr/bin:/bin");
        let output = shell.output().expect("a shell");
        let lines = String::from_utf8(output.stdout).expect("text");
        lines.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_script_names_the_files_of_rules_and_leaves_what_the_user_has_set() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let directory = directory.path().join("it's");
        std::fs::create_dir(&directory).expect("a directory");
        let text = "treepie: tuning\nversion: 1\nmpi: open-mpi 5.0.11\nranks: 4\nhosts: 2\n\
                    rows:\n- {operation: bcast, ranks: 4, from_bytes: 8, algorithm: chain, \
                    us: 1, native_us: 2}\n";
        let path = directory.join("tuning.yaml");
        std::fs::write(&path, text).expect("a file");
        let mut file = TuningFile::read(&path).expect("a tuning");
        write(&file, &directory).expect("files");
        let place = |name: &str| directory.join(name).display().to_string();
        let expected = [
            format!(
                "OMPI_MCA_coll_han_dynamic_rules_filename={}",
                place("openmpi-han.rules")
            ),
            "OMPI_MCA_coll_han_use_dynamic_file_rules=1".to_owned(),
            format!(
                "OMPI_MCA_coll_tuned_dynamic_rules_filename={}",
                place("openmpi.rules")
            ),
            "OMPI_MCA_coll_tuned_use_dynamic_rules=1".to_owned(),
        ];
        assert_eq!(told(&directory, &[]), expected);
        let own = ("OMPI_MCA_coll_han_use_dynamic_file_rules", "0");
        assert!(told(&directory, &[own]).contains(&format!("{}={}", own.0, own.1)));
        // Files of an older tuning are removed.
        file.rows[0].algorithm = None;
        assert!(write(&file, &directory).expect("files").script.is_none());
        let left = RULES_FILES.map(|name| directory.join(name).exists());
        assert!(!left.contains(&true) && !directory.join(SCRIPT).exists());
    }
}
