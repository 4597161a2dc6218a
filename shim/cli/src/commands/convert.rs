//! `treepie convert`: a profile or a matrix in another format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use treepie_base::write_atomically;
use treepie_launch::error::CommandError;
use treepie_native::knobs::{Component, Maker};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{Selection, mpi_tuning};
use treepie_placement::file::PlacementFile;
use treepie_report::exchange::{ExchangeFormat, Extras};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::traffic::{Input, parts_in};
use treepie_report::summary::Summary;
use treepie_report::words::pluralize;
use treepie_topology::rank_files::{self, Form, LauncherSlot, slots};
use treepie_traffic::formats::Format;

use crate::commands::options::Printing;
use crate::commands::outcome::Outcome;

/// Write a profile, a matrix or a placement in another format
#[derive(Debug, Args)]
#[command(after_help = "\
Endings of a matrix: .mtx (MatrixMarket), .txt or .mat (all numbers, row sends to column), .csv,
.graph (METIS, KaHIP), .grf (Scotch); .prof (Open MPI's monitoring, all ranks of NAME.RANK.prof) is
read only. X.parts/, which the ranks of a job leave that ended abnormally, becomes a profile, .yaml.
Of a placement, for a launcher: .rankfile (Open MPI), .hostfile (Hydra), MPICH_RANK_ORDER (Cray), or
any name with --to. Of a tuning, for its MPI: .rules (Open MPI 4 and 5), .json (Open MPI 6; MPICH's
collective selection, as its library has it where it was measured), .env (variables).
Of a profile, for other tools: .table.csv and .parquet (a row for each pair of ranks, layer and
phase), .calls.csv and .calls.parquet (calls by rank and class), .graphml and .gexf (ranks with
their hosts and cores), .trace.json (Perfetto), .prom (OpenMetrics).")]
pub struct Arguments {
    /// Profile, directory of partial profiles, matrix, placement, or tuning
    input: PathBuf,
    /// File to write, in the form of its ending
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Form of a placement: open-mpi, open-mpi-physical, hydra, slurm, flux, parastation, pbs,
    /// cray, pjm
    #[arg(long, value_name = "FORM", value_parser = str::parse::<Form>)]
    to: Option<Form>,
    /// Placement whose hosts and cores a graph of ranks shows, too
    #[arg(long, value_name = "FILE")]
    placement: Option<PathBuf>,
    /// Names of the nodes of a placement on a bare shape
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) hosts: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) choice: MatrixChoice,
}

/// Reports the written file.
fn report(arguments: &Arguments, ranks: usize, text: &str) -> Outcome {
    let json = || json!({ "output": arguments.output, "ranks": ranks });
    arguments.printing.answer(json, || text.to_owned())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the input and writes the output.
pub fn run(arguments: &Arguments) -> Outcome {
    let (output, choice) = (&arguments.output, &arguments.choice);
    if let Some(form) = ExchangeFormat::from_path(output) {
        return exchange(arguments, form);
    }
    if arguments.placement.is_some() {
        return Err(CommandError::usage(format!(
            "--placement: {} is no graph of ranks, which would show it; end the output in .graphml \
             or .gexf",
            output.display()
        )));
    }
    if let Some(form) = TuningForm::from_path(output) {
        return tuning(arguments, form);
    }
    if let Some(form) = arguments.to.or_else(|| Form::from_path(output)) {
        return rank_file(arguments, form);
    }
    let is_profile = output
        .extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml");
    if is_profile {
        return profile(arguments);
    }
    let writable = |format: &Format| *format != Format::Monitoring;
    let format = Format::from_path(output).filter(writable).ok_or_else(|| {
        CommandError::usage(format!(
            "{}: no format has this ending that can be written; use one of {}, or .yaml for a profile",
            output.display(),
            Format::ENDINGS.join(", ")
        ))
    })?;
    let input = Input::read(&arguments.input, choice)?;
    let matrix = input.matrix(choice)?;
    write_atomically(output, |out: &mut dyn Write| -> io::Result<()> {
        format.write(&matrix, out)
    })?;
    let text = format!(
        "{}: written, {} and {}\n",
        output.display(),
        pluralize(matrix.order(), "rank"),
        pluralize(matrix.non_zeros(), "entry")
    );
    report(arguments, matrix.order(), &text)
}

/// Forms of a tuning for MPIs.
#[derive(Debug, Clone, Copy)]
enum TuningForm {
    Rules,
    Json,
    Variables,
}

impl TuningForm {
    fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rules" => Some(TuningForm::Rules),
            "json" => Some(TuningForm::Json),
            "env" => Some(TuningForm::Variables),
            _ => None,
        }
    }
}

/// Writes a tuning in the form of its MPI.
fn tuning(arguments: &Arguments, form: TuningForm) -> Outcome {
    let (input, output) = (&arguments.input, &arguments.output);
    let options = ["--metric", "--layer", "--model", "--phase"];
    let kind = "an MPI's tuning, which has no traffic";
    arguments.choice.require_none(output, kind, &options)?;
    let file = TuningFile::read(input)?;
    let library = file.library_file.as_deref();
    let own = match form {
        TuningForm::Json => library.and_then(Selection::of_library),
        TuningForm::Rules | TuningForm::Variables => None,
    };
    let made = mpi_tuning(&file.body, own.as_ref(), |_| true);
    let mpi = file.library;
    let has_none = |what: &str| {
        let place = input.display();
        CommandError::usage(format!("{place}: there are no {what} for {mpi} in it"))
    };
    let files: Vec<(PathBuf, String)> = match form {
        TuningForm::Json if mpi.maker == Maker::Mpich && own.is_none() => {
            return Err(no_selection(input, library));
        }
        TuningForm::Json if mpi.maker != Maker::Mpich && !mpi.rules_are_json() => {
            return Err(has_none("rules in JSON"));
        }
        TuningForm::Rules if made.rules.is_empty() || mpi.rules_are_json() => {
            return Err(has_none("rules of Open MPI in lines"));
        }
        TuningForm::Json if made.rules.is_empty() => return Err(has_none("algorithms")),
        TuningForm::Rules | TuningForm::Json => {
            let rules = made.rules.into_iter();
            rules
                .map(|(component, text)| (of_component(output, component), text))
                .collect()
        }
        TuningForm::Variables if made.settings.is_empty() => return Err(has_none("variables")),
        TuningForm::Variables => {
            let lines = made.settings.iter();
            let lines = lines.map(|(name, value)| format!("{name}={value}\n"));
            vec![(output.clone(), lines.collect())]
        }
    };
    let mut text = String::new();
    for (path, written) in files {
        write_atomically(&path, |out| out.write_all(written.as_bytes()))?;
        text += &format!("{}: written for {}\n", path.display(), file.library);
    }
    report(arguments, file.ranks, &text)
}

/// Reason why there is no collective selection.
fn no_selection(input: &Path, library: Option<&Path>) -> CommandError {
    let place = input.display();
    CommandError::usage(match library {
        Some(path) => format!(
            "{place}: library_file: {}: cannot be read, or has no collective selection of \
             MPICH's; write the place of that MPI's library",
            path.display()
        ),
        None => format!(
            "{place}: has no library_file, whose collective selection would be copied; write \
             there the place of MPICH's library, such as /usr/lib/libmpi.so.12"
        ),
    })
}

/// The file of a component's rules: those of HAN are separate from those of `tuned`, which another
/// component reads, and compositions are separate from algorithms.
fn of_component(output: &Path, component: Component) -> PathBuf {
    let beside = |ending: &str| {
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        output.with_file_name(format!("{stem}-{ending}"))
    };
    match component {
        Component::Tuned | Component::Algorithms => output.to_owned(),
        Component::Han => beside("han.rules"),
        Component::Compositions => beside("ch4.json"),
    }
}

/// Writes a profile for other tools.
fn exchange(arguments: &Arguments, form: ExchangeFormat) -> Outcome {
    let (input, output, choice) = (&arguments.input, &arguments.output, &arguments.choice);
    let Input::Profile(profile) = Input::read(input, choice)? else {
        return Err(CommandError::usage(format!(
            "{}: is a bare matrix, and {} has hosts and layers; give a profile",
            input.display(),
            output.display()
        )));
    };
    let mut extras = Extras::default();
    match &arguments.placement {
        Some(path) if form.is_graph() => {
            let placement = PlacementFile::read(path)?;
            if placement.ranks != profile.ranks {
                return Err(CommandError::usage(format!(
                    "--placement: {} places {}, and {} has {}",
                    path.display(),
                    pluralize(placement.ranks, "rank"),
                    input.display(),
                    profile.ranks
                )));
            }
            let hosts = arguments.hosts.as_deref();
            let placed = slots(&placement.topology, &placement.assignment, hosts)
                .map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))?;
            let place = |slot: &LauncherSlot| {
                let core = slot.os_index.unwrap_or(slot.leaf_of_host);
                (slot.host.clone(), core.to_string())
            };
            extras.placed = placed.iter().map(place).collect();
        }
        Some(_) => {
            return Err(CommandError::usage(
                "--placement: is shown in graphs of ranks alone, .graphml and .gexf",
            ));
        }
        None => {}
    }
    let bytes = form.to_bytes(input, &profile, choice, &extras)?;
    write_atomically(output, |out| out.write_all(&bytes))?;
    let text = format!(
        "{}: written, {} and {} bytes\n",
        output.display(),
        pluralize(profile.ranks, "rank"),
        bytes.len()
    );
    report(arguments, profile.ranks, &text)
}

/// Writes a placement in the form of a launcher.
fn rank_file(arguments: &Arguments, form: Form) -> Outcome {
    let (input, output) = (&arguments.input, &arguments.output);
    let options = ["--metric", "--layer", "--model", "--phase"];
    arguments
        .choice
        .require_none(output, "a launcher's file, which has no traffic", &options)?;
    let placement = PlacementFile::read(input)?;
    let hosts = arguments.hosts.as_deref();
    let slots = slots(&placement.topology, &placement.assignment, hosts)
        .map_err(|error| CommandError::usage(format!("{}: {error}", input.display())))?;
    let text = rank_files::write(form, &slots);
    write_atomically(output, |out: &mut dyn Write| -> io::Result<()> {
        out.write_all(text.as_bytes())
    })?;
    let text = format!(
        "{}: written, {} for {form}\n",
        output.display(),
        pluralize(placement.ranks, "rank")
    );
    report(arguments, placement.ranks, &text)
}

/// Writes the partial profiles of a job as one profile. They are not removed.
fn profile(arguments: &Arguments) -> Outcome {
    let (input, output) = (&arguments.input, &arguments.output);
    if !input.is_dir() {
        return Err(CommandError::usage(format!(
            "{}: only a directory of partial profiles, which a job without an orderly end leaves, becomes a \
             profile; give X.parts, or end {} as a matrix",
            input.display(),
            output.display()
        )));
    }
    let options = ["--metric", "--layer", "--model", "--phase"];
    let kind = "a profile, which has all of it";
    arguments.choice.require_none(output, kind, &options)?;
    let profile = parts_in(input)?;
    profile.write(output)?;
    let text = Summary::new(output, &profile, None).short_text();
    report(arguments, profile.ranks, &text)
}
