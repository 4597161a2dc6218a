//! The settings of a run, from a configuration file and from the environment.
//!
//! Every setting has one name: `mode` in YAML, `TREEPIE_MODE` in the
//! environment, which wins. Values are written alike in both. Paths are
//! relative to the directory that the job starts in.

mod choices;
mod collectives;
mod document;
mod template;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use choices::{choice, switch};
use treepie_base::error::one_line;
use treepie_base::{FileError, nearest, permutation};

pub use choices::{
    AfterEnd, Apply, GuardMode, LogLevel, Mode, OneSided, Pages, Probe, Reorder, Started, Stdin,
    Transport,
};
pub use collectives::{Collectives, NAMED, Runner, UnknownAlgorithm};
pub use template::{DEFAULT_OUTPUT, expand_output};

/// The settings by name, as they are listed to the user.
pub const NAMES: [&str; 30] = [
    "mode",
    "store",
    "output",
    "times",
    "phase_interval",
    "checkpoint",
    "pages",
    "order",
    "order_patience",
    "order_after_end",
    "order_delays",
    "cut",
    "placement",
    "permutation",
    "apply",
    "stdin",
    "platform",
    "probe",
    "collectives",
    "started",
    "tuning",
    "clusters",
    "network",
    "reproducible",
    "guard",
    "transport",
    "reorder",
    "one_sided",
    "strict",
    "log",
];

/// What the name of every variable of treepie starts with.
pub(crate) const PREFIX: &str = "TREEPIE_";

/// The variable that names the configuration file; it is no setting itself.
pub const CONFIG_VARIABLE: &str = "TREEPIE_CONFIG";

/// The variable that tells the command where the library is (module files set it).
pub const LIBRARY_VARIABLE: &str = "TREEPIE_LIBRARY";

/// The variable that tells the command which program measures platforms.
pub const PROBE_VARIABLE: &str = "TREEPIE_PROBE_PROGRAM";

/// The variable that tells the command which program measures the MPI's algorithms.
pub const TUNE_VARIABLE: &str = "TREEPIE_TUNE_PROGRAM";

/// The variable in which the command gives a run its number, by which it finds what was learnt.
pub const RUN_VARIABLE: &str = "TREEPIE_RUN";

/// The variables of the command. They are no settings, and jobs that inherit them
/// are none the worse.
const OF_COMMAND: [&str; 4] = [
    LIBRARY_VARIABLE,
    PROBE_VARIABLE,
    TUNE_VARIABLE,
    RUN_VARIABLE,
];

/// The variable of a setting: `TREEPIE_MODE` for `mode`.
pub fn variable_of(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The value of a variable is wrong.
    #[error("{variable}: {problem}")]
    Variable {
        /// The variable.
        variable: String,
        /// What was expected and what to write.
        problem: String,
    },
    /// No setting has a variable of this name.
    #[error(
        "{variable}: treepie has no such variable{}; known are {}",
        similar_variable(variable),
        known_variables().join(", ")
    )]
    UnknownVariable {
        /// The variable.
        variable: String,
    },
    /// The configuration file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// Settings that are right one by one and do not go together.
    #[error("{settings}: {problem}")]
    Together {
        /// The settings, as the user wrote them.
        settings: String,
        /// Reason why they do not go together and what to change.
        problem: String,
    },
}

/// What a run does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What the library does.
    pub mode: Mode,
    /// Where what is learnt is kept: directories with `:` between them, of which the first is the
    /// user's own.
    pub store: Option<String>,
    /// The profile to write: a name with placeholders, see [`expand_output`].
    pub output: Option<String>,
    /// Whether calls are timed.
    pub times: bool,
    /// The length of a phase; none where `MPI_Pcontrol` marks phases.
    pub phase_interval: Option<Duration>,
    /// How often each rank leaves its part of the profile in a file.
    pub checkpoint: Option<Duration>,
    /// Whether each rank keeps a page that says in which call it is.
    pub pages: Pages,
    /// The order of receives: it is recorded there in `mode: profile`, and replayed from there in
    /// `mode: replay`.
    pub order: Option<PathBuf>,
    /// How long a replayed call may wait for what was recorded; none for as long as it takes.
    pub order_patience: OrderPatience,
    /// What is done where a recorded run had ended early.
    pub order_after_end: AfterEnd,
    /// Delays of sends are made of this number.
    pub order_delays: Option<u64>,
    /// Whether the ranks keep pages and may be stopped at a cut.
    pub cut: bool,
    /// The placement or profile to replay.
    pub placement: Option<PathBuf>,
    /// The new rank of every process of the launcher, instead of a placement.
    pub permutation: Option<Vec<usize>>,
    /// Way in which a placement is applied.
    pub apply: Apply,
    /// Whether a process that standard input arrives at keeps the rank of its number.
    pub stdin: Stdin,
    /// The platform file.
    pub platform: Option<PathBuf>,
    /// Whether the platform is measured at start-up.
    pub probe: Probe,
    /// Who runs the collectives.
    pub collectives: Collectives,
    /// Who runs collectives that are started and completed later.
    pub started: Started,
    /// What was measured of the MPI's own algorithms, to be told to it before it starts.
    pub tuning: Option<PathBuf>,
    /// The cluster of every process of the launcher's world, as any numbers, where host names do
    /// not tell and there is no platform file.
    pub clusters: Option<Vec<usize>>,
    /// The network of the hosts: a description such as `torus:8x8x8`, or a file, with the name of
    /// one of its networks behind a colon.
    pub network: Option<String>,
    /// Whether reductions are combined in the order of ranks, so that their bits
    /// do not depend on where ranks run.
    pub reproducible: bool,
    /// Whether plans must be measured to be quicker before they replace collectives, where that is
    /// said; see [`Settings::guard`].
    pub guard: Option<GuardMode>,
    /// Way of the messages between ranks of one host in replaced collectives.
    pub transport: Transport,
    /// Who reorders the ranks of a communicator where the program allows it.
    pub reorder: Reorder,
    /// What becomes of small puts and accumulates to one target.
    pub one_sided: OneSided,
    /// Whether the job ends when a file does not fit.
    pub strict: bool,
    /// The most detailed messages that are printed.
    pub log: LogLevel,
}

impl Settings {
    /// The settings of a configuration file, given as its name and text, and of
    /// variables, which win. `variable` answers the value of one, if it is set.
    /// A variable with an empty value counts as not set.
    ///
    /// # Errors
    /// A file or value that is wrong, or settings that do not go together.
    pub fn from_sources(
        yaml: Option<(&Path, &str)>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Settings, SettingsError> {
        let mut settings = match yaml {
            Some((path, text)) => Settings::from_text(path, text)?,
            None => Settings::default(),
        };
        let value_of = |name: &str| variable(&variable_of(name)).filter(|value| !value.is_empty());
        // A variable says what to replay instead of what the file says.
        match (value_of("placement"), value_of("permutation")) {
            (Some(_), None) => settings.permutation = None,
            (None, Some(_)) => settings.placement = None,
            _ => {}
        }
        for name in NAMES {
            if let Some(value) = value_of(name) {
                settings
                    .set(name, &value)
                    .map_err(|problem| SettingsError::Variable {
                        variable: variable_of(name),
                        problem: one_line(&problem),
                    })?;
            }
        }
        settings.check_together()?;
        Ok(settings)
    }

    /// The settings that the text of a configuration file holds, one by one:
    /// whether they go together is known when the variables are.
    ///
    /// # Errors
    /// Text that is no configuration, an unknown setting, a wrong value.
    pub fn from_text(path: &Path, text: &str) -> Result<Settings, FileError> {
        document::read(path, text)
    }

    /// The settings that differ from the defaults, as variables and values: what
    /// a launcher has to hand to its processes.
    pub fn to_variables(&self) -> Vec<(String, String)> {
        let usual = Settings::default();
        NAMES
            .into_iter()
            .filter_map(|name| {
                let value = self.text_of(name)?;
                let differs = usual.text_of(name).as_ref() != Some(&value);
                differs.then(|| (variable_of(name), value))
            })
            .collect()
    }

    /// Whether plans must be measured to be quicker before they replace collectives: so it is
    /// where a job learns, unless a setting says otherwise.
    pub fn guard(&self) -> GuardMode {
        self.guard.unwrap_or(match self.mode {
            Mode::Auto => GuardMode::On,
            Mode::Off | Mode::Profile | Mode::Replay => GuardMode::Off,
        })
    }

    /// Where the profile goes, placeholders included.
    pub fn output_template(&self) -> &str {
        self.output.as_deref().unwrap_or(DEFAULT_OUTPUT)
    }

    /// Sets one setting from its text.
    fn set(&mut self, name: &'static str, text: &str) -> Result<(), String> {
        match name {
            "mode" => self.mode = choice(text)?,
            "store" => self.store = Some(store(text)?),
            "output" => {
                path(text)?;
                template::check(text)?;
                self.output = Some(text.to_owned());
            }
            "times" => self.times = switch(text)?,
            "phase_interval" => self.phase_interval = seconds(text)?,
            "checkpoint" => self.checkpoint = seconds(text)?,
            "pages" => self.pages = text.parse()?,
            "order" => self.order = Some(path(text)?),
            "order_patience" => self.order_patience = OrderPatience(seconds(text)?),
            "order_after_end" => self.order_after_end = choice(text)?,
            "order_delays" => self.order_delays = Some(number(text)?),
            "cut" => self.cut = switch(text)?,
            "placement" => self.placement = Some(path(text)?),
            "permutation" => {
                let new_rank = permutation::parse(text).map_err(|error| error.to_string())?;
                self.permutation = Some(new_rank);
            }
            "apply" => self.apply = choice(text)?,
            "stdin" => self.stdin = choice(text)?,
            "platform" => self.platform = Some(path(text)?),
            "probe" => self.probe = choice(text)?,
            "collectives" => self.collectives = text.parse()?,
            "started" => self.started = choice(text)?,
            "tuning" => self.tuning = Some(path(text)?),
            "clusters" => {
                let numbers = treepie_base::list::parse(text).map_err(|error| error.to_string())?;
                self.clusters = Some(numbers);
            }
            "network" => {
                path(text)?;
                self.network = Some(text.trim().to_owned());
            }
            "reproducible" => self.reproducible = switch(text)?,
            "guard" => self.guard = Some(choice(text)?),
            "transport" => self.transport = choice(text)?,
            "reorder" => self.reorder = choice(text)?,
            "one_sided" => self.one_sided = choice(text)?,
            "strict" => self.strict = switch(text)?,
            "log" => self.log = choice(text)?,
            _ => return Err("this is no setting".into()),
        }
        Ok(())
    }

    /// The text of one setting, as [`Settings::set`] reads it.
    fn text_of(&self, name: &str) -> Option<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        match name {
            "mode" => Some(self.mode.to_string()),
            "store" => self.store.clone(),
            "output" => self.output.clone(),
            "times" => Some(self.times.to_string()),
            "phase_interval" => self
                .phase_interval
                .map(|time| time.as_secs_f64().to_string()),
            "pages" => Some(self.pages.to_string()),
            "checkpoint" => self.checkpoint.map(|time| time.as_secs_f64().to_string()),
            "order" => path(&self.order),
            "order_patience" => {
                let seconds = self.order_patience.0.map_or(0.0, |time| time.as_secs_f64());
                Some(seconds.to_string())
            }
            "order_after_end" => Some(self.order_after_end.to_string()),
            "order_delays" => self.order_delays.map(|seed| seed.to_string()),
            "cut" => Some(self.cut.to_string()),
            "placement" => path(&self.placement),
            "permutation" => self.permutation.as_deref().map(treepie_base::list::to_text),
            "apply" => Some(self.apply.to_string()),
            "stdin" => Some(self.stdin.to_string()),
            "platform" => path(&self.platform),
            "probe" => Some(self.probe.to_string()),
            "collectives" => Some(self.collectives.to_string()),
            "started" => Some(self.started.to_string()),
            "tuning" => path(&self.tuning),
            "clusters" => self.clusters.as_deref().map(treepie_base::list::to_text),
            "network" => self.network.clone(),
            "reproducible" => Some(self.reproducible.to_string()),
            "guard" => self.guard.map(|mode| mode.to_string()),
            "transport" => Some(self.transport.to_string()),
            "reorder" => Some(self.reorder.to_string()),
            "one_sided" => Some(self.one_sided.to_string()),
            "strict" => Some(self.strict.to_string()),
            "log" => Some(self.log.to_string()),
            _ => None,
        }
    }

    /// Refuses settings that contradict each other or request nothing.
    fn check_together(&self) -> Result<(), SettingsError> {
        let together = |settings: &str, problem: &str| {
            Err(SettingsError::Together {
                settings: settings.into(),
                problem: problem.into(),
            })
        };
        if self.placement.is_some() && self.permutation.is_some() {
            return together(
                "placement and permutation",
                "both say which rank goes where; keep one of them",
            );
        }
        if self.mode == Mode::Auto
            && (self.placement.is_some() || self.permutation.is_some() || self.output.is_some())
        {
            return together(
                "mode: auto, and placement, permutation or output",
                "it finds placements itself, and keeps profiles in its store; take these settings                  away, or use mode: replay or profile",
            );
        }
        if self.order_delays.is_some() && self.order.is_none() {
            return together(
                "order_delays",
                "delays are for runs whose order is recorded or replayed; set order (TREEPIE_ORDER)",
            );
        }
        if self.mode == Mode::Auto && self.order.is_some() {
            return together(
                "mode: auto and order",
                "an order is recorded with mode: profile and replayed with mode: replay",
            );
        }
        if self.mode != Mode::Replay {
            return Ok(());
        }
        if self.permutation.is_some() && self.apply != Apply::Permute {
            return together(
                &format!("permutation and apply: {}", self.apply),
                "a bare permutation names no cores to bind to; give a placement, or apply: permute",
            );
        }
        // Pages are kept in any mode, and may be all that is wanted.
        let nothing = self.placement.is_none()
            && self.permutation.is_none()
            && self.order.is_none()
            && self.pages == Pages::Off
            && !self.cut;
        let calls_stay = self.collectives.all_native()
            && self.collectives.native_algorithms.is_empty()
            && self.reorder == Reorder::Native
            && self.one_sided == OneSided::Native;
        if nothing && calls_stay {
            return together(
                "mode: replay",
                "there is nothing to replay; set placement (TREEPIE_PLACEMENT), permutation \
                 (TREEPIE_PERMUTATION), order (TREEPIE_ORDER), collectives (TREEPIE_COLLECTIVES), \
                 reorder (TREEPIE_REORDER) or one_sided (TREEPIE_ONE_SIDED)",
            );
        }
        Ok(())
    }
}

/// The variables among `names` that start like ours and mean nothing: most
/// likely typing errors, which would otherwise go unnoticed.
pub fn unknown_variables<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<SettingsError> {
    let known = known_variables();
    names
        .into_iter()
        .filter(|name| name.starts_with(PREFIX) && !OF_COMMAND.contains(name))
        .filter(|name| !known.iter().any(|known| known == name))
        .map(|name| SettingsError::UnknownVariable {
            variable: one_line(name),
        })
        .collect()
}

/// The variable that was most likely meant, compared without the common prefix.
fn similar_variable(variable: &str) -> String {
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    nearest(name, NAMES.into_iter().chain(["config"]))
        .map(|setting| format!(", did you mean `{}`?", variable_of(setting)))
        .unwrap_or_default()
}

/// All variables that have a meaning.
fn known_variables() -> Vec<String> {
    let settings = NAMES.into_iter().map(variable_of);
    std::iter::once(CONFIG_VARIABLE.to_owned())
        .chain(settings)
        .collect()
}

/// The directories of a store.
fn store(text: &str) -> Result<String, String> {
    match text.split(':').all(|path| path.starts_with('/')) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is no list of directories; write whole paths with `:` between them, your own \
             first"
        )),
    }
}

/// The name of a file: anything but nothing.
fn path(text: &str) -> Result<PathBuf, String> {
    match text.trim() {
        "" => Err("is empty; write the name of a file".into()),
        _ => Ok(PathBuf::from(text)),
    }
}

/// How long a replayed call may wait for what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderPatience(pub Option<Duration>);

impl Default for OrderPatience {
    /// A minute.
    fn default() -> Self {
        OrderPatience(Some(Duration::from_secs(60)))
    }
}

/// A number from 0 on.
fn number(text: &str) -> Result<u64, String> {
    let number = text.trim().parse();
    number.map_err(|_| format!("`{text}` is no number; write one from 0 on"))
}

/// A time in seconds; none for 0 or `off`.
fn seconds(text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim();
    if text == "off" || text == "false" {
        return Ok(None);
    }
    // Shorter times would be spent on the counting of them.
    let shortest = Duration::from_millis(10);
    let time = text
        .parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok());
    match time {
        Some(time) if time.is_zero() => Ok(None),
        Some(time) if time >= shortest => Ok(Some(time)),
        _ => Err(format!(
            "`{text}` is no time; write seconds, at least {}, or 0 for none",
            shortest.as_secs_f64()
        )),
    }
}
