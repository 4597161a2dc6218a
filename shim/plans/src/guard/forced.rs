//! Algorithm of the MPI that is selected for a call.
//!
//! Open MPI's component `tuned` reads its variables when a communicator is created, and keeps them
//! for its life: an algorithm has a duplicate of the communicator, created while the variable is
//! set. An info key keeps `han` from the duplicate, if that would run its collectives. MPICH reads
//! its variables in each call: they are set around it. In both cases the variables are reset
//! immediately, since they belong to the application as well.

use std::sync::Arc;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use treepie_mpi::native::{Controls, Native, OwnComm, OwnInfo, Variable};
use treepie_mpi::{Comm, c_int};
use treepie_native::knobs::{Knob, Library, Maker, OWN_CHOICE, WITHOUT_HAN};

use super::exchange::AgreedMinimum;
use crate::clock::now;

/// Maximum number of algorithms that are prepared on one communicator: each needs a communicator
/// under Open MPI.
const MOST_READY: usize = 8;

static CONTROLS: OnceCell<Option<Controls>> = OnceCell::new();

/// Looks for the MPI's control variables, unless that was done before; true if there are any.
pub fn start_controls(native: &Native) -> bool {
    CONTROLS.get_or_init(|| Controls::start(native)).is_some()
}

fn controls() -> Option<&'static Controls> {
    CONTROLS.get()?.as_ref()
}

/// Ends the use of control variables, since MPI is about to end.
pub fn end_controls() {
    if let Some(controls) = controls() {
        controls.end();
    }
}

/// Algorithm that is prepared on a communicator.
pub enum Forced {
    /// Duplicate that runs it.
    Duplicate(OwnComm),
    /// Variables that are set around a call.
    Variables(Vec<Setting>),
}

/// Variable, its value, and its usual value.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    variable: Variable,
    value: c_int,
    usual: c_int,
}

impl Setting {
    fn is_usual(&self, controls: &Controls) -> bool {
        controls.read(self.variable) == Some(self.usual)
    }
}

/// Sets all of them; if one cannot be set, resets those before it and returns false.
fn set(controls: &Controls, settings: &[Setting]) -> bool {
    for (place, one) in settings.iter().enumerate() {
        let is_set = controls.write(one.variable, one.value).is_ok();
        if !is_set || controls.read(one.variable) != Some(one.value) {
            set_back(controls, &settings[..=place]);
            return false;
        }
    }
    true
}

fn set_back(controls: &Controls, settings: &[Setting]) {
    for one in settings {
        let _ = controls.write(one.variable, one.usual);
    }
}

/// Returns the settings for an algorithm; `None` if this process cannot set them, or if somebody
/// has chosen an algorithm.
fn settings(library: Library, knob: &Knob) -> Option<Vec<Setting>> {
    let controls = controls()?;
    let has_rules = |name| !controls.is_empty(name);
    if library.rules_control().is_some_and(has_rules) {
        return None;
    }
    let chosen = library.controls(knob)?;
    let setting = |(name, value): (String, c_int)| {
        let variable = controls.find(&name)?;
        let usual = controls.read(variable)?;
        Some(Setting {
            variable,
            value,
            usual,
        })
    };
    let all = library.enabling_control().into_iter().chain(chosen);
    let mut all: Vec<Setting> = all.map(setting).collect::<Option<_>>()?;
    if all.last()?.usual != OWN_CHOICE {
        return None;
    }
    all.retain(|one| one.value != one.usual);
    let can_be_set = set(controls, &all);
    set_back(controls, &all);
    can_be_set.then_some(all)
}

impl Forced {
    /// Begins a call on `comm`, and returns the communicator to call it on. `None` if the
    /// application has set the variables meanwhile, which a correct program does on all ranks.
    pub fn begin(&self, comm: Comm) -> Option<Comm> {
        match self {
            Forced::Duplicate(duplicate) => Some(duplicate.handle()),
            Forced::Variables(settings) => {
                let controls = controls()?;
                let are_usual = settings.iter().all(|one| one.is_usual(controls));
                (are_usual && set(controls, settings)).then_some(comm)
            }
        }
    }

    /// Ends a call on `comm` that returned `code`; returns the code for the application.
    pub fn ended(&self, native: &Native, comm: Comm, code: c_int) -> c_int {
        match self {
            Forced::Duplicate(_) => native.returned(comm, code),
            Forced::Variables(settings) => {
                if let Some(controls) = controls() {
                    set_back(controls, settings);
                }
                code
            }
        }
    }
}

/// Algorithms that were prepared on a communicator, or could not be, in the same order on all
/// ranks.
#[derive(Default)]
pub struct Ready(Mutex<Vec<(Knob, Option<Arc<Forced>>)>>);

impl Ready {
    /// Returns the algorithm, if its preparation was attempted before: `Some(None)` if it failed.
    pub fn get(&self, knob: &Knob) -> Option<Option<Arc<Forced>>> {
        let all = self.0.lock();
        let found = all.iter().find(|(one, _)| one == knob);
        match found {
            Some((_, forced)) => Some(forced.clone()),
            None if all.len() >= MOST_READY => Some(None),
            None => None,
        }
    }

    /// Prepares an algorithm, on all ranks or on none; returns it with the nanoseconds that this
    /// took on the slowest. `is_behind_han`: HAN would otherwise run the collectives. Collective on
    /// `private`, a private communicator.
    ///
    /// # Errors
    /// MPI's code.
    pub fn make(
        &self,
        native: &Native,
        private: Comm,
        (library, knob, is_behind_han): (Library, Knob, bool),
    ) -> Result<(Option<Arc<Forced>>, u64), c_int> {
        let start = now();
        let mine = settings(library, &knob);
        let [key, value] = WITHOUT_HAN;
        let info = is_behind_han.then(|| native.info(key, value).ok());
        let is_ready = mine.is_some() && !matches!(info, Some(None));
        let (are_all, mut cost) = agree(native, private, is_ready, start)?;
        let settings = mine.filter(|_| are_all);
        let forced = match settings {
            Some(settings) if library.maker == Maker::OpenMpi => {
                let start = now();
                let info = info.flatten();
                let duplicate = duplicate(native, (private, info.as_ref()), &settings);
                let (are_all, took) = agree(native, private, duplicate.is_some(), start)?;
                cost += took;
                duplicate.filter(|_| are_all).map(Forced::Duplicate)
            }
            settings => settings.map(Forced::Variables),
        };
        let forced = forced.map(Arc::new);
        self.0.lock().push((knob, forced.clone()));
        Ok((forced, cost))
    }
}

/// Returns a communicator with the processes of `private`, and this info, created while the
/// variables are set. Its errors are returned, as those of `private` are. Collective.
fn duplicate(
    native: &Native,
    (private, info): (Comm, Option<&OwnInfo>),
    settings: &[Setting],
) -> Option<OwnComm> {
    let is_set = controls().is_some_and(|controls| set(controls, settings));
    // A process that failed still takes part, since others would wait for it.
    let made = match info {
        Some(info) => native.duplicate_with(private, info).ok(),
        None => native.split(private, 0).ok(),
    };
    if let Some(controls) = controls() {
        set_back(controls, settings);
    }
    let returns = |made: &OwnComm| native.return_errors(made.handle()).is_ok();
    made.filter(|made| is_set && returns(made))
}

/// Returns whether all ranks of `comm` are ready, and the longest time in nanoseconds since `start`
/// over all ranks. Collective.
fn agree(native: &Native, comm: Comm, is_ready: bool, start: u64) -> Result<(bool, u64), c_int> {
    let took = i64::try_from(now().saturating_sub(start)).unwrap_or(i64::MAX);
    let mine = vec![i64::from(is_ready), -took];
    let (least, _) = AgreedMinimum::begin(native, comm, mine)?.wait(native)?;
    Ok((least[0] == 1, least[1].unsigned_abs()))
}
