//! What the user asks for: settings from the configuration file and the
//! environment, and the files that they name, read by process 0 alone.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thiserror::Error;
use treepie_core::affinity::MatrixError;
use treepie_core::collective::Operation;
use treepie_core::collective::Strategy;
use treepie_core::files::configuration::{
    self, CONFIG_VARIABLE, LogLevel, Mode, Probe, Reorder, Runner, Settings, SettingsError,
};
use treepie_core::files::parts::{self, RunDescription};
use treepie_core::files::permutation::{self, PermutationError};
use treepie_core::files::platform::PlatformFile;
use treepie_core::files::profile::{MpiDescription, Profile};
use treepie_core::files::{FileError, check_writable, date, read_text};
use treepie_core::placement::allocation::AllocationError;
use treepie_core::placement::binding::Process;
use treepie_core::topology::Machine;

use super::above::Above;
use super::agreement::{Decision, Recording};
use super::launched;
use super::replay::{Replay, narrow};
use crate::binding::Target;
use crate::collectives::Wanted;
use crate::log;
use crate::mpi::abi::Family;
use crate::mpi::native::Native;
use crate::platform::{File, Known};
use crate::reorder::Places;

/// Why what the user asked for is not done.
#[derive(Debug, Error)]
pub enum RequestError {
    /// Wrong settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A file that cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A permutation that is none for this job.
    #[error("TREEPIE_PERMUTATION: {0}")]
    Permutation(#[from] PermutationError),
    /// A profile with numbers that cannot be.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A placement that does not hold where the job runs.
    #[error(
        "{path}: {error}; replay its profile instead, which is placed where the job runs, or map it \
         again for these hosts"
    )]
    Allocation {
        /// The file.
        path: String,
        /// Why.
        error: AllocationError,
    },
    /// Clusters that are not those of the job.
    #[error("{name}: {error}")]
    Clusters {
        /// The platform file or the setting.
        name: String,
        /// Why.
        error: AllocationError,
    },
    /// A collective has no such strategy.
    #[error("collectives: {operation} has no strategy `{name}`; known are host, auto, {known}")]
    Strategy {
        /// The collective.
        operation: Operation,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl RequestError {
    /// The file at `path` does not hold for this job.
    pub fn allocation(path: &Path, error: AllocationError) -> Self {
        RequestError::Allocation {
            path: path.display().to_string(),
            error,
        }
    }
}

/// A request that process 0 has read.
pub struct Request {
    /// The profile to write, if one is asked for.
    output: Option<PathBuf>,
    /// A placement or profile that waits for where the processes are.
    replay: Option<Replay>,
    /// Whether communicators are reordered.
    reorders: bool,
    /// The clusters that ranks are placed by.
    above: Above,
    /// Where processes are bound, if they are.
    pub binding: Option<Target>,
    strict: bool,
}

impl Request {
    /// Reads the request for a job of `ranks` ranks, and decides. What is wrong
    /// is said here, once; then the job runs as it would without Treepie, or not
    /// at all where `strict` is set.
    pub fn read(native: &Native, ranks: usize) -> (Option<Request>, Decision) {
        for unknown in unknown_variables() {
            log::warn(&unknown.to_string());
        }
        let settings = match settings() {
            Ok(settings) => settings,
            Err(error) => return refuse(&error, strict_variable(), LogLevel::default()),
        };
        log::set_level(settings.log);
        match decide(native, &settings, ranks) {
            Ok((request, decision)) => (Some(request), decision),
            Err(error) => refuse(&error, settings.strict, settings.log),
        }
    }

    /// Whether the hardware of these processes' hosts has to be known.
    pub fn needs_machines(&self, processes: &[Process]) -> bool {
        let replay = self.replay.as_ref();
        self.reorders || replay.is_some_and(|replay| replay.needs_machines(processes))
    }

    /// Completes the decision, now that it is known where the processes are. What does
    /// not fit is said, and undoes all that was asked for.
    pub fn settle(
        &mut self,
        decision: Decision,
        processes: &[Process],
        machines: &HashMap<String, Machine>,
    ) -> Decision {
        let level = decision.log;
        self.settled(decision, processes, machines)
            .unwrap_or_else(|error| {
                let (_, plain) = refuse(&error, self.strict, level);
                self.output = None;
                plain
            })
    }

    fn settled(
        &mut self,
        mut decision: Decision,
        processes: &[Process],
        machines: &HashMap<String, Machine>,
    ) -> Result<Decision, RequestError> {
        let file = self
            .replay
            .as_ref()
            .map_or(Path::new("reorder"), Replay::path);
        let allocation = self
            .above
            .allocation(file, processes, machines, self.strict)?;
        if let Some(replay) = self.replay.take() {
            let settled = replay.settle(&allocation, &self.above)?;
            decision.permutation = settled.new_rank;
            decision.binds = settled.binding.is_some();
            self.binding = settled.binding;
            if let Some(recording) = &mut decision.recording {
                let note = format!("replayed with {}", settled.source);
                recording.run.notes.push(note);
            }
        }
        if self.reorders {
            decision.places = Some(Places::of(&allocation)?);
        }
        Ok(decision)
    }

    /// Writes the profile; what goes wrong is said, and nothing is half written.
    /// Parts that were left meanwhile are not needed any more.
    pub fn write_profile(&self, profile: &Profile) -> bool {
        let Some(output) = &self.output else {
            return false;
        };
        match profile.write(output) {
            Ok(()) => {
                log::info(&format!("the profile is in {}", output.display()));
                parts::remove_directory(&parts::directory_of(output));
                true
            }
            Err(error) => {
                log::error(&error.to_string());
                false
            }
        }
    }
}

fn refuse(error: &RequestError, strict: bool, level: LogLevel) -> (Option<Request>, Decision) {
    let outcome = match strict {
        true => "the job is ended, because strict is set",
        false => "the job runs as it would without treepie",
    };
    log::error(&format!("{error}; {outcome}"));
    let decision = Decision {
        abort: strict,
        log: level,
        ..Decision::default()
    };
    (None, decision)
}

fn decide(
    native: &Native,
    settings: &Settings,
    ranks: usize,
) -> Result<(Request, Decision), RequestError> {
    let mut decision = Decision {
        log: settings.log,
        strict: settings.strict,
        ..Decision::default()
    };
    let mut request = Request {
        output: None,
        replay: None,
        reorders: false,
        above: Above::Nothing,
        binding: None,
        strict: settings.strict,
    };
    let mut notes = launched::remarks();
    if settings.mode == Mode::Off {
        return Ok((request, decision));
    }
    if settings.mode == Mode::Replay {
        decision.collectives = wanted_collectives(settings)?;
    }
    if settings.mode == Mode::Replay {
        if let Some(path) = &settings.placement {
            request.replay = Some(Replay::read(path, settings, ranks)?);
        } else if let Some(new_rank) = &settings.permutation {
            permutation::check_for(new_rank, ranks)?;
            decision.permutation = Some(narrow(new_rank));
            notes.push("replayed with TREEPIE_PERMUTATION".to_owned());
        }
        request.reorders = settings.reorder == Reorder::Graph;
        decision.looks = request.replay.is_some() || request.reorders;
        if decision.looks {
            request.above = Above::read(settings)?;
        }
    }
    // A replay is profiled as well where a profile is named.
    if settings.mode == Mode::Profile || settings.output.is_some() {
        let output = PathBuf::from(configuration::expand_output(
            settings.output_template(),
            &job(),
            std::process::id(),
            ranks,
        ));
        check_writable(&output)?;
        // They would be taken for parts of this run.
        parts::remove_directory(&parts::directory_of(&output));
        decision.recording = Some(Recording {
            output: output.display().to_string(),
            times: settings.times,
            window: settings.window,
            checkpoint: settings.checkpoint,
            run: describe(native, ranks, notes),
        });
        request.output = Some(output);
    }
    Ok((request, decision))
}

/// What is known of the run now.
fn describe(native: &Native, ranks: usize, notes: Vec<String>) -> RunDescription {
    RunDescription {
        run: run_number(),
        ranks,
        producer: producer(),
        date: date(now()),
        mpi: MpiDescription {
            family: match native.abi.family {
                Family::OpenMpi => "open-mpi",
                Family::Mpich => "mpich",
                Family::Standard => "standard-abi",
            }
            .to_owned(),
            library: native.library_version(),
            standard: native.standard_version(),
        },
        command: command(),
        notes,
    }
}

/// A number that other runs do not have: from the time and the process.
fn run_number() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = time.map_or(0, |time| time.as_nanos() as u64);
    let process = u64::from(std::process::id());
    (nanoseconds ^ process.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Which collectives are replaced, and what is known of the platform.
fn wanted_collectives(settings: &Settings) -> Result<Option<Wanted>, RequestError> {
    let probe = settings.probe == Probe::Auto;
    if settings.collectives.all_host() {
        if probe {
            log::warn(
                "probe: nothing needs the platform, since all collectives are the MPI's own; set \
                 collectives, or measure it with `treepie probe`",
            );
        }
        return Ok(None);
    }
    for (operation, runner) in &settings.collectives.listed {
        if let Runner::Strategy(name) = runner
            && Strategy::find(*operation, name).is_none()
        {
            let known: Vec<&str> = Strategy::of(*operation).map(|s| s.name).collect();
            return Err(RequestError::Strategy {
                operation: *operation,
                name: name.clone(),
                known: known.join(", "),
            });
        }
    }
    let file = match &settings.platform {
        // Measured, and kept there.
        Some(path) if probe && !path.exists() => {
            check_writable(path)?;
            Some((path, None))
        }
        Some(path) => {
            let text = read_text(path)?;
            // Read here as well, so that what is wrong is said before all others
            // wait for it.
            PlatformFile::from_text(path, &text)?;
            Some((path, Some(text)))
        }
        None => None,
    };
    let platform = Known {
        file: file.map(|(path, text)| File {
            name: path.display().to_string(),
            text,
        }),
        probe,
    };
    let clusters = settings.clusters.as_ref();
    Ok(Some(Wanted {
        collectives: settings.collectives.to_string(),
        reproducible: settings.reproducible,
        clusters: clusters.map(|numbers| numbers.iter().map(|&n| n as u32).collect()),
        platform,
    }))
}

fn settings() -> Result<Settings, RequestError> {
    let variable = |name: &str| env::var(name).ok();
    let Some(path) = variable(CONFIG_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(Settings::from_sources(None, variable)?);
    };
    let path = Path::new(&path);
    let text = read_text(path)?;
    Ok(Settings::from_sources(Some((path, &text)), variable)?)
}

fn unknown_variables() -> Vec<SettingsError> {
    let names: Vec<String> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    configuration::unknown_variables(names.iter().map(String::as_str))
}

/// Whether `strict` is asked for by a variable, for when settings can't be read.
fn strict_variable() -> bool {
    env::var("TREEPIE_STRICT").is_ok_and(|value| ["true", "yes", "on", "1"].contains(&value.trim()))
}

/// Who writes files: this program and its version.
fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}

/// The job's name at its scheduler, or this process's number.
fn job() -> String {
    [
        "SLURM_JOB_ID",
        "PBS_JOBID",
        "LSB_JOBID",
        "PJM_JOBID",
        "JOB_ID",
    ]
    .iter()
    .find_map(|name| env::var(name).ok())
    .filter(|job| !job.is_empty() && !job.contains('/'))
    .unwrap_or_else(|| std::process::id().to_string())
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The command line of this process.
fn command() -> Vec<String> {
    env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}
