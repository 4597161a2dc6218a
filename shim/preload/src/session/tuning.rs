//! `TREEPIE_TUNING`: before the native MPI starts, its own variables are set to its fastest
//! algorithms, or to those that the user has named (`bcast=native:chain`). With the guard, the
//! variables that allow a change of algorithms at run time are set as well.
//!
//! No message can be exchanged before MPI runs, so each process decides from the file and from its
//! environment; the user's own variables take precedence. When MPI runs, the processes compare
//! their values: if these differ, a collective could hang, and the job ends before the application
//! starts.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use treepie_collective::Operation;
use treepie_mpi::elf;
use treepie_mpi::native::{Native, NativeError};
use treepie_mpi::share::{Group, Members, gather_bytes};
use treepie_native::knobs::{Library, Maker, Setting};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{Selection, Tuning, mpi_tuning};
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_process::machine::unnamed_file;
use treepie_profile::settings::GuardMode;

use super::launched::launcher_says_first;
use super::{request, site};

/// Variables that this process has set for its MPI, until that has started.
#[derive(Default)]
pub struct AppliedTuning {
    /// Variables to be unset, so that other programs do not inherit them.
    variables: Vec<String>,
    /// Files of rules, which no other process sees.
    rules: Vec<File>,
    /// Hash of all algorithms that were set; `None` if none could be set.
    hash: Option<u64>,
}

/// Sets the MPI's variables, once in a process and only on request.
pub fn tell() -> Option<AppliedTuning> {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_named = is_set("TREEPIE_TUNING");
    let is_auto = env::var("TREEPIE_MODE").is_ok_and(|mode| mode.trim() == "auto");
    let others = ["TREEPIE_GUARD", "TREEPIE_CONFIG", "TREEPIE_COLLECTIVES"];
    let may_be_asked_for = is_named || is_auto || others.into_iter().any(is_set);
    if !may_be_asked_for || site::is_disabled() || IS_TOLD.swap(true, Ordering::Relaxed) {
        return None;
    }
    let mut told = None;
    guarded("reading the tuning", || told = read(is_named));
    told
}

/// Reads the variables to set; `None` if no tuning is named, or if Treepie is off.
fn read(is_named: bool) -> Option<AppliedTuning> {
    if env::var("TREEPIE_MODE").is_ok_and(|mode| mode.trim() == "off") {
        return None;
    }
    let settings = match request::settings(None) {
        Ok(settings) => settings,
        // The reader of the job's settings reports the error.
        Err(_) => return is_named.then(AppliedTuning::nothing),
    };
    let is_guarded = settings.guard() != GuardMode::Off;
    let named = settings.collectives.native_algorithms;
    // Variables that a tuning sets would look like the user's.
    let chosen = chosen(&named);
    let mut told = match settings.tuning {
        Some(path) => {
            let file = TuningFile::read(&path).map_err(|error| error.to_string());
            let told = file.and_then(|file| AppliedTuning::new(&file.body, &named));
            told.unwrap_or_else(|problem| {
                say(&format!("tuning: {problem}; the MPI's defaults stay"));
                AppliedTuning::nothing()
            })
        }
        None if named.is_empty() => return is_guarded.then(AppliedTuning::for_guard),
        None => AppliedTuning::nothing(),
    };
    told.add(chosen);
    if is_guarded {
        told.prepare();
    }
    Some(told)
}

fn is_in_environment(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// Returns the MPI of this process, if its algorithms are known.
fn known_library() -> Result<Library, String> {
    let native = Native::load().map_err(|error| error.to_string())?;
    Library::from_version_text(&native.library_version()).map_err(|error| error.to_string())
}

/// Returns the variables that select the algorithms that the user names.
fn chosen(named: &[(Operation, String)]) -> Vec<Setting> {
    let mut settings = Vec::new();
    if named.is_empty() {
        return settings;
    }
    let library = match known_library() {
        Ok(library) => library,
        Err(problem) => {
            say(&format!("collectives: {problem}; its defaults stay"));
            return settings;
        }
    };
    for (operation, name) in named {
        let own = library.decided_by_user(*operation, is_in_environment);
        match (own, library.knob(*operation, name)) {
            (Some(own), _) => say(&format!(
                "collectives: {own} is set, and wins over {operation}=native:{name}"
            )),
            (None, Ok(knob)) => settings.extend(library.settings(&knob)),
            (None, Err(problem)) => say(&format!("collectives: {problem}; its default stays")),
        }
    }
    settings
}

/// Logs a warning, on one process.
fn say(text: &str) {
    if launcher_says_first() {
        log::warn(text);
    }
}

impl AppliedTuning {
    /// Returns a value without algorithms, for comparison with processes that may have set some.
    fn nothing() -> AppliedTuning {
        AppliedTuning {
            hash: Some(0),
            ..AppliedTuning::default()
        }
    }

    /// Returns only the variables that the guard needs. Processes may differ in them: they select
    /// no algorithm, and the processes agree on each candidate when it is tried.
    fn for_guard() -> AppliedTuning {
        let mut told = AppliedTuning::default();
        told.prepare();
        told
    }

    /// Allows algorithms to be changed while the MPI runs: through the environment, if that is the
    /// only way, but not if the user has set a related variable, which has no effect yet and would
    /// get one.
    fn prepare(&mut self) {
        let Ok(library) = known_library() else {
            return;
        };
        let is_of_user =
            |name: OsString| name.to_string_lossy().starts_with("OMPI_MCA_coll_tuned_");
        if !env::vars_os().any(|(name, _)| is_of_user(name)) {
            self.set(library.prerequisites());
        }
    }

    /// Adds these settings.
    fn add(&mut self, settings: Vec<Setting>) {
        let mut hasher = DefaultHasher::new();
        (self.hash, &settings).hash(&mut hasher);
        self.hash = Some(hasher.finish());
        self.set(settings);
    }

    /// Returns the measured algorithms of the operations for which the user has not `named` any.
    fn new(tuning: &Tuning, named: &[(Operation, String)]) -> Result<AppliedTuning, String> {
        let library = known_library()?;
        if !library.is_like(tuning.library) {
            let measured = tuning.library;
            return Err(format!(
                "it was measured with {measured}, and this is {library}; measure again with \
                 `treepie tune`"
            ));
        }
        let mut decided: Vec<String> = Vec::new();
        for row in tuning.gains() {
            let name = library.decided_by_user(row.operation, is_in_environment);
            decided.extend(name.filter(|name| !decided.contains(name)));
        }
        if !decided.is_empty() {
            let names = decided.join(", ");
            say(&format!(
                "tuning: {names} is set, and wins over what was measured"
            ));
        }
        let own = match library.maker {
            Maker::Mpich if tuning.gains().next().is_some() => elf::in_objects(selection_of),
            Maker::Mpich | Maker::OpenMpi | Maker::IntelMpi => None,
        };
        let made = mpi_tuning(tuning, own.as_ref(), |operation| {
            let is_named = named.iter().any(|(of, _)| *of == operation);
            !is_named
                && library
                    .decided_by_user(operation, is_in_environment)
                    .is_none()
        });
        let mut told = AppliedTuning::default();
        let mut hasher = DefaultHasher::new();
        (&made.rules, &made.settings).hash(&mut hasher);
        told.hash = Some(hasher.finish());
        let mut settings = made.settings;
        for (component, text) in &made.rules {
            let file = in_memory(text).map_err(|error| format!("rules: {error}"))?;
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            settings.extend(library.rules_settings(*component, &path));
            told.rules.push(file);
        }
        told.set(settings);
        Ok(told)
    }

    fn set(&mut self, settings: Vec<Setting>) {
        for (name, value) in settings {
            if env::var_os(&name).is_none() {
                // SAFETY: sound if no other thread reads the environment meanwhile, which a
                // preloaded library cannot know. MPIs set variables in MPI_Init as well: a program
                // whose threads read them then is at risk without the library, too
                // (docs/reference/limits.md).
                unsafe { env::set_var(&name, value) };
                self.variables.push(name);
            }
        }
    }

    /// Unsets the variables after the MPI has started, and ends the job if processes have set
    /// different values. Collective, if `has_started`.
    pub fn started(self, has_started: bool) {
        for name in &self.variables {
            // SAFETY: as in `set`.
            unsafe { env::remove_var(name) };
        }
        let Some(hash) = self.hash.filter(|_| has_started) else {
            return;
        };
        guarded("comparing tunings", || {
            if let Err(error) = compare(hash) {
                log::error(&format!("tuning: {error}"));
            }
        });
    }
}

/// Ends the job if processes have set different values. Collective, by messages between pairs of
/// processes: they use no algorithm that was set.
fn compare(hash: u64) -> Result<(), NativeError> {
    let native = Native::load()?;
    let world = Members::new(native, native.world)?;
    let mut own = (world.rank() as u64).to_le_bytes().to_vec();
    own.extend(hash.to_le_bytes());
    let all = gather_bytes(&world, own)?;
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |sum, b| sum << 8 | u64::from(*b))
    };
    let differs = |entry: &&[u8]| number(&entry[8..]) != hash;
    if let Some(entry) = all.chunks_exact(16).find(differs) {
        log::error(&format!(
            "tuning: rank {} has another tuning than rank 0: its file or its variables differ; \
             the job is ended, because collectives would hang",
            number(&entry[..8])
        ));
        // Hydra discards output that it has not yet forwarded when the process aborts.
        std::thread::sleep(std::time::Duration::from_millis(200));
        native.abort(2);
    }
    Ok(())
}

/// Returns MPICH's collective selection, if this object is its library.
fn selection_of(object: &libc::dl_phdr_info) -> Option<Selection> {
    let path = Path::new(OsStr::from_bytes(elf::path(object)));
    let name = path.file_name()?.to_string_lossy();
    name.starts_with("libmpi")
        .then(|| Selection::of_library(path))?
}

/// Returns a file with this text that has no name.
fn in_memory(text: &str) -> io::Result<File> {
    let mut file = File::from(unnamed_file(c"treepie-rules")?);
    file.write_all(text.as_bytes())?;
    Ok(file)
}
