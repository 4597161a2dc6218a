//! One configuration of the job.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::process::Stdio;

use treepie_profile::Profile;

use crate::commands::options::{RunSettings, absolute_path};
use treepie_launch::error::CommandError;
use treepie_launch::input::Input;
use treepie_launch::{self, job};
use treepie_report::proof::Run;
use treepie_report::words::file_name;

/// One configuration of the job.
pub struct Arm {
    /// Its name in the answer.
    pub name: String,
    /// Settings that the user names.
    pub set: Vec<(String, String)>,
    settings: Vec<(&'static str, OsString)>,
}

/// Time and output of one run of the job.
pub struct Done {
    /// Its times.
    pub run: Run,
    /// Its profile.
    pub profile: Profile,
    /// Hash of its standard output.
    pub printed: u64,
    /// Lines of the library on standard error: operations that it could not do.
    pub said: Vec<String>,
}

/// Settings that would change the plain run.
const TAKEN_BACK: [&str; 4] = [
    "TREEPIE_PLACEMENT",
    "TREEPIE_PERMUTATION",
    "TREEPIE_COLLECTIVES",
    "TREEPIE_REORDER",
];

impl Arm {
    /// The job without changes. Its calls are timed, which costs both arms the same.
    pub fn plain() -> Arm {
        let mut arm = Arm {
            name: "plain".to_owned(),
            set: Vec::new(),
            settings: vec![
                ("TREEPIE_MODE", "profile".into()),
                ("TREEPIE_TIMES", "true".into()),
            ],
        };
        for setting in TAKEN_BACK {
            arm.set(setting, "");
        }
        arm
    }

    /// The job with a placement or profile, or only with further settings.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn replay(file: Option<&Path>) -> Result<Arm, CommandError> {
        let mut arm = Arm::plain();
        arm.name = "replay".to_owned();
        arm.set("TREEPIE_MODE", "replay");
        arm.settings.retain(|(name, _)| *name != "TREEPIE_REORDER");
        if let Some(file) = file {
            arm.name = file_name(file);
            arm.set_path("TREEPIE_PLACEMENT", file)?;
        }
        Ok(arm)
    }

    /// Changes a setting.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, value.into()));
    }

    /// Changes a setting to a path.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn set_path(&mut self, name: &'static str, file: &Path) -> Result<(), CommandError> {
        if !file.is_file() {
            let file = file.display();
            return Err(CommandError::failed(format!(
                "{file}: there is no such file; give one that `treepie map`, `profile` or `probe` wrote"
            )));
        }
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, absolute_path(file)?.into()));
        Ok(())
    }

    /// Runs the job once, in the files of `desk`, with the given standard input.
    ///
    /// # Errors
    /// The job cannot be started at all. A job that fails is `Ok(Err(reason))`.
    pub fn run(
        &self,
        command: &[OsString],
        settings: &RunSettings,
        desk: &Path,
        input: &Input,
    ) -> Result<Result<Done, String>, CommandError> {
        let [profile, printed, errors] =
            ["profile.yaml", "printed", "errors"].map(|n| desk.join(n));
        // The profile of an earlier run must not be taken for this one's.
        let _ = std::fs::remove_file(&profile);
        let mut own = self.settings.clone();
        own.push(("TREEPIE_OUTPUT", profile.clone().into()));
        let settings = RunSettings {
            set: self.set.clone(),
            ..settings.clone()
        };
        let invocation = treepie_launch::prepare(command, &settings.variables(own)?)?;
        let input = input.again(Stdio::null())?;
        let status = job::run_into(&invocation, input, create(&printed)?, create(&errors)?)?;
        let said = std::fs::read_to_string(&errors).unwrap_or_default();
        if status != 0 {
            return Ok(Err(format!("exit status {status}{}", last_line(&said))));
        }
        let Ok(profile) = Profile::read(&profile) else {
            let why = "it left no profile: it never reached MPI_Init and MPI_Finalize";
            return Ok(Err(format!("{why}{}", last_line(&said))));
        };
        let Some(run) = Run::from_profile(&profile, None) else {
            return Ok(Err("its profile has no times".to_owned()));
        };
        let printed = hash_of(&printed)?;
        Ok(Ok(Done {
            run,
            profile,
            printed,
            said: lines_of_the_library(&said),
        }))
    }
}

fn lines_of_the_library(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("treepie: "));
    lines.map(str::to_owned).collect()
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or(String::new(), |line| format!(": {line}"))
}

fn create(path: &Path) -> Result<File, CommandError> {
    File::create(path).map_err(|error| not_usable(path, &error))
}

fn not_usable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::failed(format!(
        "{}: {error}; TMPDIR names another directory for temporary files",
        path.display()
    ))
}

fn hash_of(path: &Path) -> Result<u64, CommandError> {
    let text = std::fs::read(path).map_err(|error| not_usable(path, &error))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&text);
    Ok(hasher.finish())
}
