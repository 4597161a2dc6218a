//! `treepie predict`: the time of a collective on a platform: every algorithm's and the MPI's own,
//! and the plan that `TREEPIE_COLLECTIVES=auto` chooses. Or of a job with checkpoints, or of pieces
//! that lie apart.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use treepie_choice::Progress;
use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::network::Computing;
use treepie_collective::read::simulate::SimulationError;
use treepie_collective::{Algorithm, Operation, Uniform};
use treepie_native::Family;
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;

use super::checkpoints::CheckpointOptions;
use super::{Outcome, checkpoints, measured, pieces, plans};
use crate::output;
use treepie_launch::error::CommandError;
use treepie_report::input::choice::size;
use treepie_report::input::collective::{CallForm, Collective};
use treepie_report::input::{neighbours, sizes};
use treepie_report::table::Table;
use treepie_report::units;
use treepie_report::words::pluralize;

/// Predict the time of a collective, for every algorithm and the MPI's own, of pieces that lie
/// apart, or of a job with checkpoints
#[derive(Debug, Args)]
pub struct Arguments {
    /// Platform, as `treepie probe` writes it
    #[arg(value_name = "PLATFORM")]
    file: PathBuf,
    /// Collective: bcast, scatter, gather, reduce, allreduce, allgather, alltoall, barrier,
    /// scan, ...; as it is called: iallreduce (non-blocking), allreduce-init (persistent)
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Collective>, required_unless_present_any = ["measured", "checkpoints", "pieces"])]
    collective: Option<Collective>,
    /// Of neighbor-allgather and its like: neighbours of each rank, torus:4x4 or mesh:2x8 for a
    /// Cartesian topology, or a matrix or profile, in which who sends has an edge to who receives
    #[arg(
        long,
        visible_alias = "neighbors",
        value_name = "GRID|FILE",
        requires = "collective"
    )]
    neighbours: Option<String>,
    /// Of non-blocking and persistent ones: called, where the MPI calls Treepie in whatever it
    /// waits (Open MPI; MPICH from 4.3 on), or own [default: as --native]
    #[arg(long, value_name = "WHO", value_parser = str::parse::<Progress>, requires = "collective")]
    progress: Option<Progress>,
    /// Instead of a collective: so many pieces of --bytes that lie apart, from one rank to another,
    /// as messages, by a datatype, packed, and by puts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["collective", "measured"])]
    pieces: Option<u64>,
    /// Bytes of the message, of one rank's block, or of a piece: 64, 16K, 1M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    pub(super) bytes: u64,
    /// Of gatherv, scatterv, alltoallv and alltoallw: bytes of each block instead, by a matrix or
    /// profile whose entries are bytes from one rank to another; of gatherv its column of the root,
    /// of scatterv its row
    #[arg(
        long,
        value_name = "FILE",
        requires = "collective",
        conflicts_with = "bytes"
    )]
    sizes: Option<PathBuf>,
    /// Rank of the root
    #[arg(long, value_name = "RANK", default_value = "0")]
    root: usize,
    /// Number of ranks, if not those of the platform: clusters are made larger or smaller alike
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// Bytes of the largest message, instead of the best size
    #[arg(long, visible_alias = "largest", value_name = "SIZE", value_parser = size)]
    segment: Option<u64>,
    /// Compare the predictions with the times in this file instead: lines of
    /// collective,algorithm,bytes,segment,seconds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collective", "bytes", "segment"])]
    pub(super) measured: Option<PathBuf>,
    /// Draw the comparison of --measured, or run times with --checkpoints, as its ending says: .svg
    /// or .png
    #[arg(long, value_name = "OUT", conflicts_with = "collective")]
    picture: Option<PathBuf>,
    /// Nanoseconds that a reduction takes for each byte
    #[arg(long, value_name = "NS", default_value = "0.25")]
    compute: f64,
    /// The MPI whose own collectives are modelled: open-mpi, mpich
    #[arg(long, value_name = "FAMILY", default_value = "open-mpi")]
    native: Family,
    /// One algorithm instead of all
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
    /// Write the plans of the chosen algorithm, or of --algorithm: OUT.goal for LogGOPSim, OUT.ti
    /// (and beside it a file for each rank, the platform and the hosts) for SimGrid's smpirun
    /// -replay, OUT.json as bars in time
    #[arg(long, value_name = "OUT", conflicts_with = "measured")]
    export: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    checkpoints: CheckpointOptions,
}

impl Arguments {
    /// Predicts a call.
    pub fn predictor(&self, platform: &Platform, call: Uniform) -> Result<Predictor, CommandError> {
        let computing = Computing {
            per_byte: self.compute * 1e-9,
        };
        Predictor::new(platform, call, self.native, computing).ok_or_else(|| {
            let file = self.file.display();
            CommandError::failed(format!("{file}: has no ranks; probe it again"))
        })
    }

    /// Who goes on with plans of what is started: what the usual MPIs of the family do.
    fn progress(&self) -> Progress {
        self.progress.unwrap_or(match self.native {
            Family::OpenMpi => Progress::Called,
            Family::Mpich => Progress::Own,
        })
    }

    /// The call in words.
    fn called(&self, predictor: &Predictor) -> String {
        let operation = predictor.call.operation;
        self.collective
            .map_or(operation.to_string(), |one| one.to_string())
    }

    /// The root of an operation that has one.
    pub fn root(&self, operation: Operation, platform: &Platform) -> usize {
        let same_cluster = || {
            let cluster = platform.cluster_of_rank().get(self.root).copied();
            cluster.unwrap_or(0)
        };
        match operation.has_root() {
            true if self.root < platform.ranks() => self.root,
            true => platform
                .ranks_of(same_cluster())
                .first()
                .copied()
                .unwrap_or(0),
            false => 0,
        }
    }
}

/// Predicts and prints, and exports if that is asked.
pub fn run(arguments: &Arguments) -> Outcome {
    let file = PlatformFile::read(&arguments.file)?;
    let ranks = arguments.ranks.unwrap_or(file.platform.ranks());
    if ranks == 0 || arguments.root >= file.platform.ranks() {
        return Err(CommandError::usage(format!(
            "--root {} --ranks {ranks}: the platform has the ranks 0 to {}; name one of them",
            arguments.root,
            file.platform.ranks() - 1
        )));
    }
    if !(arguments.compute.is_finite() && arguments.compute >= 0.0) {
        return Err(CommandError::usage(format!(
            "--compute {}: a number from 0 was expected",
            arguments.compute
        )));
    }
    let platform = match arguments.ranks {
        Some(ranks) if ranks != file.platform.ranks() => file.platform.scaled(ranks),
        _ => file.platform,
    };
    let picture = arguments.picture.as_deref();
    if arguments.checkpoints.is_given() {
        let (options, json) = (&arguments.checkpoints, arguments.json);
        return checkpoints::run(&arguments.file, &platform, options, picture, json);
    }
    if let Some(pieces) = arguments.pieces {
        return pieces::run(&platform, pieces, arguments);
    }
    let Some(collective) = arguments.collective else {
        return measured::run(&platform, arguments, picture);
    };
    let operation = collective.operation;
    let predictor = predictor_of(collective, arguments, &platform)?;
    let all = predictions(&predictor, arguments)?;
    if let Some(out) = &arguments.export {
        let chosen = predictor.chosen();
        let named =
            |algorithm: &'static Algorithm| chosen.is_some_and(|c| c.name == algorithm.name);
        let plans = all.iter().filter_map(|p| Some((p.algorithm?, p.segment)));
        let exported = plans.clone().find(|&(algorithm, _)| named(algorithm));
        let (algorithm, segment) = exported.or(plans.clone().next()).ok_or_else(|| {
            CommandError::usage(format!(
                "--export: there is no plan for {operation}; name one with --algorithm"
            ))
        })?;
        plans::export(&predictor, algorithm, segment, out)?;
    }
    match arguments.json {
        true => print_json(&predictor, &all, arguments),
        false => print(&predictor, &all, arguments),
    }
}

/// Predicts a collective in the form of its call, among the neighbours of each rank where it is one
/// of them.
fn predictor_of(
    collective: Collective,
    arguments: &Arguments,
    platform: &Platform,
) -> Result<Predictor, CommandError> {
    let operation = collective.operation;
    let call = Uniform {
        operation,
        bytes: arguments.bytes,
        root: arguments.root(operation, platform),
    };
    let mut predictor = arguments.predictor(platform, call)?;
    match (&arguments.neighbours, operation.is_among_neighbours()) {
        (Some(text), true) => {
            let all = neighbours::read(text, platform.ranks())?;
            predictor = predictor.with_neighbourhoods(all);
        }
        (None, true) => {
            return Err(CommandError::usage(format!(
                "--collective {collective}: depends on the neighbours of each rank; name them: \
                 --neighbours torus:4x4, mesh:2x8 or a matrix"
            )));
        }
        (Some(text), false) => {
            return Err(CommandError::usage(format!(
                "--neighbours {text}: {collective} is of all ranks alike; leave it out, or take \
                 one such as neighbor-alltoall"
            )));
        }
        (None, false) => (),
    }
    if let Some(path) = &arguments.sizes {
        predictor = predictor.with_sizes(sizes::read(path, &call, platform.ranks())?);
    }
    Ok(match collective.form {
        CallForm::Blocking => predictor,
        CallForm::NonBlocking => predictor.started(arguments.progress()),
        CallForm::Persistent => predictor.persistent(arguments.progress()),
    })
}

/// What the simulator refuses.
pub fn failed(error: SimulationError) -> CommandError {
    CommandError::failed(error.to_string())
}

/// The algorithms that are asked for and the native collective, the quickest first.
fn predictions(
    predictor: &Predictor,
    arguments: &Arguments,
) -> Result<Vec<Prediction>, CommandError> {
    let operation = predictor.call.operation;
    if let Some(name) = &arguments.algorithm {
        let algorithm = Algorithm::find(operation, name).ok_or_else(|| {
            let known: Vec<&str> = Algorithm::of(operation).map(|known| known.name).collect();
            CommandError::usage(format!(
                "--algorithm {name}: there is none for {operation}; write one of {}",
                known.join(", ")
            ))
        })?;
        if !predictor.allows(algorithm) {
            return Err(CommandError::usage(format!(
                "--algorithm {name}: its messages wait for others, and nobody goes on with them \
                 where the MPI does not call; leave it out, or set --progress called"
            )));
        }
        let found = predictor.of(algorithm, arguments.segment).map_err(failed)?;
        return Ok(vec![found]);
    }
    predictor.all(arguments.segment).map_err(failed)
}

fn is_chosen(predictor: &Predictor, prediction: &Prediction) -> bool {
    let name = |algorithm: &'static Algorithm| algorithm.name;
    prediction.algorithm.map(name) == predictor.chosen().map(name)
}

fn print_json(predictor: &Predictor, all: &[Prediction], arguments: &Arguments) -> Outcome {
    let call = &predictor.call;
    let name = |prediction: &Prediction| prediction.algorithm.map_or("native", |known| known.name);
    let algorithms = all
        .iter()
        .filter(|prediction| prediction.algorithm.is_some());
    let algorithms = algorithms.map(|prediction| {
        json!({
            "algorithm": name(prediction),
            "seconds": prediction.seconds(),
            "simulated": prediction.simulated,
            "estimated": prediction.estimated,
            "segment": prediction.segment,
        })
    });
    let native = all.iter().find(|prediction| prediction.algorithm.is_none());
    let is_started = arguments.collective.is_some_and(Collective::is_started);
    output::print_json(&json!({
        "collective": arguments.called(predictor),
        "neighbours": arguments.neighbours,
        "sizes": arguments.sizes,
        "progress": is_started.then(|| arguments.progress().to_string()),
        "bytes": call.bytes,
        "ranks": predictor.clusters.ranks(),
        "clusters": predictor.clusters.count(),
        "root": call.root,
        "bound": predictor.bound(),
        "native": {
            "family": arguments.native.to_string(),
            "seconds": native.and_then(Prediction::seconds),
            "simulated": native.and_then(|native| native.simulated),
            "estimated": native.and_then(|native| native.estimated),
        },
        "best": all.first().map(name),
        "chosen": predictor.chosen().map_or("native", |known| known.name),
        "reason": predictor.reason(),
        "algorithms": algorithms.collect::<Vec<_>>(),
    }))?;
    Ok(ExitCode::SUCCESS)
}

fn print(predictor: &Predictor, all: &[Prediction], arguments: &Arguments) -> Outcome {
    let call = &predictor.call;
    let root = match (call.operation.has_root(), &arguments.neighbours) {
        (true, _) => format!(", root {}", call.root),
        (false, Some(neighbours)) => format!(", neighbours {neighbours}"),
        (false, None) => String::new(),
    };
    let mean = if arguments.sizes.is_some() {
        " on average"
    } else {
        ""
    };
    let mut text = format!(
        "{}: {} of {}{mean} among {} in {}{root}\nat least {}\n\n",
        Path::display(&arguments.file),
        arguments.called(predictor),
        units::bytes(call.bytes as f64),
        pluralize(predictor.clusters.ranks(), "rank"),
        pluralize(predictor.clusters.count(), "cluster"),
        units::seconds(predictor.bound()),
    );
    text += &table(predictor, all, arguments).text();
    text += &format!(
        "\n  * chosen by TREEPIE_COLLECTIVES=auto: {}\n",
        predictor.reason()
    );
    if all
        .iter()
        .any(|p| p.simulated.is_none() && p.estimated.is_some())
    {
        text += "  ~ estimated: not simulated, message by message\n";
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(predictor: &Predictor, all: &[Prediction], arguments: &Arguments) -> Table {
    let headings = vec![
        "  algorithm",
        "time",
        "over the best",
        "segment",
        "estimate",
    ];
    let mut table = Table::new(headings);
    let best = all.first().and_then(Prediction::seconds).unwrap_or(0.0);
    let shown = |seconds: Option<f64>| seconds.map_or("-".to_owned(), units::seconds);
    for prediction in all {
        let mark = if is_chosen(predictor, prediction) {
            "* "
        } else {
            "  "
        };
        let name = match prediction.algorithm {
            Some(algorithm) => algorithm.name.to_owned(),
            None => format!("the MPI's own ({})", arguments.native),
        };
        let estimated = if prediction.simulated.is_none() {
            "~"
        } else {
            ""
        };
        let seconds = prediction.seconds();
        let row = vec![
            format!("{mark}{name}"),
            seconds.map_or("-".to_owned(), |s| {
                format!("{estimated}{}", units::seconds(s))
            }),
            match seconds.filter(|_| best > 0.0) {
                Some(seconds) => format!("{:.2}", seconds / best),
                None => "-".to_owned(),
            },
            match prediction.segment {
                0 => "-".to_owned(),
                segment => units::bytes(segment as f64),
            },
            shown(prediction.estimated),
        ];
        table.row(row);
    }
    table
}
