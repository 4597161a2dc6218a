//! Request of the user: settings from the configuration file and the environment, and the files
//! that they name, read by process 0 alone.

use std::env;
use std::path::{Path, PathBuf};

use treepie_base::own_directory::NotOwn;
use treepie_base::{List, Rank, check_writable, is_stream, own_directory, permutation, text};
use treepie_jobstate::order::Log;
use treepie_mpi::native::Native;
use treepie_process::log;
use treepie_profile::experience::Store;
use treepie_profile::partial_profiles::{self, RunDescription};
use treepie_profile::settings::{
    self, CONFIG_VARIABLE, LogLevel, Mode, Reorder, Settings, SettingsError,
};
use treepie_profile::site::SitePolicy;

use super::cluster_network::ClusterNetwork;
use super::decision::{Decision, Pages, Plan, Recording};
use super::draft::{Draft, decided, refuse};
use super::learning::Learning;
use super::replay::ReplayFile;
use super::request_error::RequestError;
use super::run::{describe, given_number, job, producer, run_number};
use super::wanted::{learnt_collectives, learnt_gathering, wanted_collectives, wanted_gathering};
use super::{launched, order, partial, site};

/// Request that process 0 derives from the settings.
pub enum Request {
    /// The decision is final.
    Decided(Decision),
    /// The locations of the processes are needed first.
    Draft(Box<Draft>),
}

impl Request {
    /// Reads the request for a job of `ranks` ranks, with the level of messages and the pages to
    /// keep. Errors are reported here, once; then the job runs as it would without Treepie, or not
    /// at all if `strict` is set.
    pub fn read(native: &Native, ranks: usize) -> Read {
        for unknown in unknown_variables() {
            log::warn(&unknown.to_string());
        }
        let policy = site::policy();
        let settings = match settings(policy.as_ref()) {
            Ok(settings) => settings,
            Err(error) => {
                let refused = refuse(&error, strict_variable());
                return Read::refused(refused);
            }
        };
        log::set_level(settings.log);
        if site::leaves_alone(policy.as_ref(), ranks) {
            return Read::refused(Decision::Plain);
        }
        policy.iter().for_each(site::tell_of_locked);
        let request = match settings.mode {
            Mode::Off => Ok(Request::Decided(Decision::Plain)),
            Mode::Profile => {
                recording(native, &settings, ranks, launched::remarks()).map(|recording| {
                    Request::decided(Plan {
                        recording: Some(recording),
                        ..Plan::default()
                    })
                })
            }
            Mode::Replay => replay(native, &settings, ranks),
            Mode::Auto => auto(native, &settings, ranks),
        };
        let read = request.and_then(|mut request| {
            let (order, logs) = order::read(native, &settings, ranks)?.unzip();
            if let Some(plan) = request.plan_mut() {
                plan.pages = pages(&settings);
                plan.order = order;
            }
            Ok((request, logs.unwrap_or_default()))
        });
        let (request, logs) = read.unwrap_or_else(|error| {
            (
                Request::Decided(refuse(&error, settings.strict)),
                List::new(),
            )
        });
        Read {
            request,
            log: settings.log,
            logs,
        }
    }

    /// Returns the request to carry out this plan.
    fn decided(plan: Plan) -> Request {
        Request::Decided(Decision::Do(Box::new(plan)))
    }

    /// Returns the plan as made so far.
    fn plan_mut(&mut self) -> Option<&mut Plan> {
        match self {
            Request::Decided(Decision::Do(plan)) => Some(plan),
            Request::Decided(Decision::Plain | Decision::Abort) => None,
            Request::Draft(draft) => Some(&mut draft.plan),
        }
    }
}

/// Settings that process 0 has read.
pub struct Read {
    /// Request for the ranks.
    pub request: Request,
    /// Lowest level of messages that are shown.
    pub log: LogLevel,
    /// Logs of an order that is replayed.
    pub logs: List<Rank, Log>,
}

impl Read {
    /// Returns a result that requests no work beyond `decision`.
    fn refused(decision: Decision) -> Read {
        Read {
            request: Request::Decided(decision),
            log: LogLevel::default(),
            logs: List::new(),
        }
    }
}

/// Returns the request of a replay, as far as the settings and the files determine it.
fn replay(native: &Native, settings: &Settings, ranks: usize) -> Result<Request, RequestError> {
    let mut notes = launched::remarks();
    let mut plan = Plan {
        collectives: wanted_collectives(settings)?,
        gathers: wanted_gathering(settings),
        strict: settings.strict,
        ..Plan::default()
    };
    let mut file = None;
    if let Some(path) = &settings.placement {
        file = Some(ReplayFile::read(path, settings, ranks)?);
    } else if let Some(new_rank) = &settings.permutation {
        permutation::check_for(new_rank, ranks)?;
        notes.push("replayed with TREEPIE_PERMUTATION".to_owned());
    }
    let reorders = settings.reorder == Reorder::Graph;
    let goes_by_network = file.is_some() || reorders;
    let permutation = settings.permutation.clone();
    let permutation = permutation.filter(|_| file.is_none());
    let looks = goes_by_network || permutation.is_some();
    let network = match goes_by_network {
        true => ClusterNetwork::read(settings)?,
        false => ClusterNetwork::Nothing,
    };
    // A replay is profiled as well if an output is named.
    if settings.output.is_some() {
        plan.recording = Some(recording(native, settings, ranks, notes)?);
    }
    Ok(match looks {
        true => Request::Draft(Box::new(Draft {
            plan,
            file,
            permutation,
            stdin: settings.stdin,
            local_order: settings.local_order,
            reorders,
            network,
            learning: None,
        })),
        false => Request::Decided(decided(plan)),
    })
}

/// Returns the request of a run that learns from earlier ones.
fn auto(native: &Native, settings: &Settings, ranks: usize) -> Result<Request, RequestError> {
    let variable = |name: &str| env::var(name).ok();
    let Some(store) = settings.store.clone().or_else(|| Store::usual(variable)) else {
        log::info("store: neither TREEPIE_STORE nor HOME says where it is; nothing is learnt");
        return Ok(Request::Decided(Decision::Plain));
    };
    let Some(learning) = Learning::open(native, store, ranks, producer(), given_number()) else {
        return Ok(Request::Decided(Decision::Plain));
    };
    let recording = Recording {
        times: true,
        run: RunDescription {
            command: Vec::new(),
            ..describe(native, ranks, Vec::new())
        },
        for_store: true,
        ..Recording::default()
    };
    Ok(Request::Draft(Box::new(Draft {
        plan: Plan {
            collectives: learnt_collectives(settings)?,
            gathers: learnt_gathering(settings),
            recording: Some(recording),
            learns: true,
            ..Plan::default()
        },
        file: None,
        permutation: None,
        stdin: settings.stdin,
        local_order: settings.local_order,
        reorders: settings.reorder == Reorder::Graph,
        network: ClusterNetwork::read(settings)?,
        learning: Some(Box::new(learning)),
    })))
}

/// Returns the counting of traffic, and the file of its profile.
fn recording(
    native: &Native,
    settings: &Settings,
    ranks: usize,
    notes: Vec<String>,
) -> Result<Recording, RequestError> {
    let output = PathBuf::from(settings::expand_output(
        settings.output_template(),
        &job(),
        std::process::id(),
        ranks,
    ));
    check_writable(&output)?;
    let parts = !is_stream(&output) && can_have_parts(&output);
    Ok(Recording {
        output: output.display().to_string(),
        times: settings.times,
        interval: settings.phase_interval,
        save_every: settings.save_every,
        run: describe(native, ranks, notes),
        for_store: false,
        parts,
    })
}

/// True if ranks may leave partial profiles beside an output: not in a directory of another owner,
/// which is reported. Those of earlier runs are removed, since they would be taken for ones of this
/// run.
fn can_have_parts(output: &Path) -> bool {
    let directory = partial_profiles::directory_of(output);
    if matches!(own_directory::check(&directory), Err(NotOwn::Strange)) {
        log::warn(&partial::refusal(&directory, "ranks have"));
        return false;
    }
    partial_profiles::remove_directory(&directory);
    true
}

/// Returns the pages that are kept.
fn pages(settings: &Settings) -> Option<Pages> {
    let stops = settings.cut;
    let directory = match &settings.pages {
        settings::Pages::Off if !stops => return None,
        settings::Pages::Off | settings::Pages::Memory => None,
        // Ranks may have changed their directory.
        settings::Pages::Directory(path) => std::path::absolute(path).ok(),
    };
    Some(Pages {
        directory,
        run: run_number(),
        given: given_number().unwrap_or(0),
        stops,
    })
}

/// Reads the settings of this process.
pub(super) fn settings(site: Option<&SitePolicy>) -> Result<Settings, RequestError> {
    let variable = |name: &str| env::var(name).ok();
    let Some(path) = variable(CONFIG_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(Settings::from_sources(site, None, variable)?);
    };
    let path = Path::new(&path);
    let text = text::read(path)?;
    Ok(Settings::from_sources(site, Some((path, &text)), variable)?)
}

fn unknown_variables() -> Vec<SettingsError> {
    let names: Vec<String> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    settings::unknown_variables(names.iter().map(String::as_str))
}

/// True if a variable requests `strict`, in case the settings cannot be read.
fn strict_variable() -> bool {
    env::var(settings::variable_of("strict")).is_ok_and(|value| settings::is_on(&value))
}
