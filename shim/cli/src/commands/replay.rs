//! `treepie replay`: run the job with a placement.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use treepie_base::{UnknownName, note};
use treepie_launch::choose::{self, Choice};
use treepie_launch::error::{CommandError, Subject};
use treepie_launch::family::Launcher;
use treepie_launch::rank_file::{self, RankFile};
use treepie_launch::ranks;
use treepie_profile::any::Replayable;
use treepie_profile::settings::Apply;
use treepie_topology::formats;
use treepie_topology::networks::Site;

use super::hang::HangChoice;
use super::options::{Printing, RunSettings, absolute_path};
use super::order::ReplayChoice;
use crate::commands::options::require_directory;
use crate::commands::outcome::Outcome;
use crate::commands::profile::{Profiles, after_the_job, report};

/// Run a job with a placement, or with the order of receives of another run
#[derive(Debug, Args)]
#[command(override_usage = "treepie replay [OPTIONS] FILE -- mpirun -np 16 ./app ...")]
pub struct Arguments {
    /// Placement to apply, as written by `treepie map`, or a profile, from which a placement is
    /// computed at the start for the hosts of the job
    #[arg(value_name = "FILE", required_unless_present_any = ["permutation", "set", "order"])]
    pub(crate) placement: Option<PathBuf>,
    /// New rank of each process of the launcher, such as 2,0,1, instead of a file
    #[arg(long, value_name = "RANKS", conflicts_with = "placement")]
    permutation: Option<String>,
    /// Method: permute (other ranks), bind (each process to its core), both, launch (the launcher
    /// starts each rank on its core), or auto (launch if the launcher is certain to support it,
    /// else permute; reports the choice and its reason) [default: the setting `apply`, and without
    /// one permute]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<ReplayMethod>)]
    apply: Option<ReplayMethod>,
    /// Names of the nodes, with --apply launch, if the topology has none
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) hosts: Option<Vec<String>>,
    /// Have the ranks of each host ascend with the launcher's local numbers, by which many programs
    /// choose their GPU [default: if a run-time of GPUs is loaded or *_VISIBLE_DEVICES is set]
    #[arg(long)]
    keep_local_order: bool,
    /// Network of the hosts, for placing a profile or remapping a placement, in the form of
    /// `treepie map --network`
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// Also profile the run, into this file; %n, %j, %p as in `treepie profile`
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also time the calls in that profile, like `treepie profile --times`
    #[arg(long, requires = "output")]
    times: bool,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    order: ReplayChoice,
    #[command(flatten)]
    hang: HangChoice,
    #[command(flatten)]
    pub(crate) settings: RunSettings,
    /// The usual command line of the job
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Method of applying a placement: by the library in the job, or by the launcher.
#[derive(Debug, Clone, Copy)]
enum ReplayMethod {
    Library(Apply),
    Launch,
    Auto,
}

impl FromStr for ReplayMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().to_ascii_lowercase().as_str() {
            "launch" => return Ok(ReplayMethod::Launch),
            "auto" => return Ok(ReplayMethod::Auto),
            _ => {}
        }
        let library = text.parse().map(ReplayMethod::Library);
        library.map_err(|error: UnknownName| format!("{error}, launch, auto"))
    }
}

/// Runs the job; its status is returned.
pub fn run(arguments: &Arguments) -> Outcome {
    let launcher = Launcher::detect(&arguments.command)?;
    let file = match &arguments.placement {
        Some(path) => Some(Replayable::read(path)?),
        None => None,
    };
    let how = match (arguments.apply, &file) {
        (Some(ReplayMethod::Auto), Some(Replayable::Placement(placement))) => {
            let way = choose::way(placement, &launcher, &arguments.command);
            let (how, name, reason) = match way {
                Choice::Launch(reason) => (ReplayMethod::Launch, "launch", reason),
                Choice::Permute(reason) => {
                    (ReplayMethod::Library(Apply::Permute), "permute", reason)
                }
            };
            if !arguments.printing.quiet {
                note!("--apply {name}: {reason}");
            }
            Some(how)
        }
        // A profile is placed in the job, and a permutation has no cores.
        (Some(ReplayMethod::Auto), _) => Some(ReplayMethod::Library(Apply::Permute)),
        (how, _) => how,
    };
    // Arguments that are refused anyway need no trial of the launcher.
    let contradicts = matches!(how, Some(ReplayMethod::Launch))
        && rank_file::contradiction(launcher.family, &arguments.command).is_some();
    if let (Some(path), Some(file), false) = (&arguments.placement, &file, contradicts)
        && let Some(ranks) = ranks::for_job(&launcher, &arguments.command)
    {
        file.require_ranks(path, ranks)?;
    }
    match how {
        Some(ReplayMethod::Launch) => at_launch(arguments, &launcher, file),
        Some(ReplayMethod::Library(apply)) => in_the_job(arguments, Some(apply)),
        _ => in_the_job(arguments, None),
    }
}

/// The launcher puts the ranks on their cores; the library only counts, if requested.
fn at_launch(arguments: &Arguments, launcher: &Launcher, file: Option<Replayable>) -> Outcome {
    let (Some(path), Some(file)) = (&arguments.placement, file) else {
        return Err(CommandError::usage(
            "--apply launch: a bare permutation names no cores; give a placement",
        ));
    };
    let in_the_job = ["reorder", "guard", "collectives", "one_sided"];
    let in_the_job = in_the_job.iter().filter_map(|name| {
        let value = arguments.settings.value(name)?;
        let is_off = matches!(value, "native" | "off");
        (!is_off).then(|| format!("--set {name}={value}"))
    });
    let order = arguments.order.is_given().then(|| "--order".to_owned());
    if let Some(option) = in_the_job.chain(order).next() {
        return Err(CommandError::usage(format!(
            "{option}: is done by the library in the job, where with --apply launch it does \
             nothing; use --apply permute, bind or both"
        )));
    }
    let Replayable::Placement(placement) = file else {
        return Err(CommandError::usage(format!(
            "{}: is a profile, and the launcher needs a placement; make one with `treepie map`, or \
             leave out --apply launch to have it placed at the start of the job",
            path.display()
        )));
    };
    let hosts = arguments.hosts.as_deref();
    if hosts.is_none()
        && let Some(host) = choose::unreachable(&placement, launcher)
    {
        return Err(CommandError::usage(format!(
            "{}: host {host} is not known here; name the hosts that the job has with --hosts, or \
             leave out --apply launch to have the placement carried over to them",
            path.display()
        )));
    }
    if hosts.is_none()
        && let Some(host) = choose::outside(&placement)
    {
        return Err(CommandError::usage(format!(
            "{}: is for host {host}, which this allocation has not; name its hosts with --hosts, or \
             leave out --apply launch to have the placement carried over to them",
            path.display()
        )));
    }
    let rank_file = RankFile::new(&placement, launcher, &arguments.command, hosts)
        .map_err(|error| error.about(Subject::Apply))?;
    let mut own: Vec<(&str, OsString)> = Vec::new();
    match rank_file.library_binds {
        Some(why) => {
            if !arguments.printing.quiet {
                note!(
                    "{} {why}: it starts each rank on its host, and the library binds it to its core",
                    launcher.family
                );
            }
            own.extend([
                ("TREEPIE_MODE", "replay".into()),
                ("TREEPIE_PLACEMENT", absolute_path(path)?.into()),
                ("TREEPIE_PERMUTATION", OsString::new()),
                ("TREEPIE_APPLY", "bind".into()),
            ]);
        }
        None => {
            let mode = match arguments.output {
                Some(_) => "profile",
                None => "off",
            };
            own.push(("TREEPIE_MODE", mode.into()));
        }
    }
    launched(arguments, own, Some(&rank_file))
}

fn in_the_job(arguments: &Arguments, apply: Option<Apply>) -> Outcome {
    let mut own = vec![("TREEPIE_MODE", OsString::from("replay"))];
    if arguments.hosts.is_some() {
        return Err(CommandError::usage(
            "--hosts: names nodes for the launcher; use it with --apply launch",
        ));
    }
    if let Some(file) = &arguments.placement {
        own.push(("TREEPIE_PLACEMENT", absolute_path(file)?.into()));
        own.push(("TREEPIE_PERMUTATION", OsString::new()));
    }
    if let Some(permutation) = &arguments.permutation {
        own.push(("TREEPIE_PERMUTATION", permutation.into()));
        own.push(("TREEPIE_PLACEMENT", OsString::new()));
    }
    if let Some(network) = &arguments.network {
        own.push(("TREEPIE_NETWORK", network_for_job(network)?));
    }
    if arguments.keep_local_order {
        own.push(("TREEPIE_LOCAL_ORDER", "keep".into()));
    }
    if let Some(apply) = apply {
        own.push(("TREEPIE_APPLY", apply.to_string().into()));
    }
    launched(arguments, own, None)
}

/// A network in a form that ranks can find, which may start in another directory.
fn network_for_job(text: &str) -> Result<OsString, CommandError> {
    // Errors in it are reported before the job starts.
    formats::named(text)?;
    if Site::is_described(text) {
        return Ok(text.into());
    }
    let (path, name) = formats::split(text);
    let mut found = absolute_path(path)?.into_os_string();
    if let Some(name) = name {
        found.push(":");
        found.push(name);
    }
    Ok(found)
}

/// Starts the job, waits, and reports on its profile.
fn launched(
    arguments: &Arguments,
    mut own: Vec<(&'static str, OsString)>,
    rank_file: Option<&RankFile>,
) -> Outcome {
    let output = arguments.output.as_deref().map(absolute_path).transpose()?;
    if let Some(output) = &output {
        require_directory(output, "--output")?;
        own.push(("TREEPIE_OUTPUT", output.into()));
    }
    if arguments.times {
        own.push(("TREEPIE_TIMES", "true".into()));
    }
    let ranks = || {
        let launcher = Launcher::detect(&arguments.command).ok()?;
        ranks::for_job(&launcher, &arguments.command)
    };
    own.extend(arguments.order.variables(ranks)?);
    let watched = arguments.hang.watched();
    own.extend(watched.variables());
    let variables = arguments.settings.variables(own)?;
    let mut invocation = treepie_launch::prepare(&arguments.command, &variables)?;
    if let Some(rank_file) = rank_file {
        rank_file.apply(&mut invocation);
    }
    let profiles = output.as_deref().map(Profiles::before);
    let status = watched.run(&invocation)?;
    if let Some(profiles) = profiles {
        let (written, merged) = profiles.after();
        let reported = merged.and_then(|()| report(&written, arguments.printing));
        after_the_job(reported, status)?;
        if written.is_empty() && status == 0 {
            return Err(CommandError::failed(format!(
                "{}: the replayed run left no profile; look at what the library said, or try --log info",
                watch_name(&output)
            )));
        }
    }
    Ok(ExitCode::from(status))
}

fn watch_name(output: &Option<PathBuf>) -> String {
    output
        .as_deref()
        .map(|path| path.display().to_string())
        .unwrap_or_default()
}
