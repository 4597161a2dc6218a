//! Requested predictions, and exports of plans.

use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::operation::Unit;
use treepie_collective::{Algorithm, Composition, Operation, Uniform};
use treepie_launch::error::CommandError;
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_report::input::collective::{CallForm, Collective};
use treepie_report::input::{neighbours, sizes};
use treepie_report::words::pluralize;

use super::{checkpoints, choices, measured, pieces, plans};
use crate::commands::outcome::Outcome;
use crate::commands::predict::answer::{print, print_json};
use crate::commands::predict::arguments::{Arguments, failed};

/// Predicts and prints, and exports if requested.
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
    if arguments.choices {
        return choices::run(&platform, arguments);
    }
    let Some(collective) = arguments.collective else {
        return measured::run(&platform, arguments, picture);
    };
    let operation = collective.operation;
    refuse_many(&platform, operation)?;
    let mut predictor = predictor_of(collective, arguments, &platform)?;
    let named = named(&predictor, arguments)?;
    if let Some(plan) = &named {
        predictor = predictor.for_plan(plan);
    }
    let all = predictions(&predictor, named.as_ref(), arguments.segment)?;
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
    if arguments.json {
        print_json(&predictor, &all, (&platform, arguments))
    } else {
        print(&predictor, &all, (&platform, arguments))
    }
}

/// Maximum number of ranks whose messages are simulated, if each rank has a message for each other,
/// and if not.
const MOST_RANKS_OF_BLOCKS: usize = 4 << 10;
const MOST_RANKS: usize = 16 << 10;

fn refuse_many(platform: &Platform, operation: Operation) -> Result<(), CommandError> {
    let most = match operation.unit() {
        Unit::Message | Unit::Nothing => MOST_RANKS,
        _ => MOST_RANKS_OF_BLOCKS,
    };
    let ranks = platform.ranks();
    if ranks <= most {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "{operation} among {ranks} ranks: messages of at most {most} are followed; make clusters \
         smaller with --ranks {most}"
    )))
}

/// Predicts a collective in the form of its call, among the neighbours of each rank if it is a
/// neighbourhood collective.
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

/// The plan requested by `--algorithm`.
fn named(
    predictor: &Predictor,
    arguments: &Arguments,
) -> Result<Option<Composition>, CommandError> {
    let Some(text) = &arguments.algorithm else {
        return Ok(None);
    };
    let wrong = |problem: String| CommandError::usage(format!("--algorithm {text}: {problem}"));
    let plan = Composition::parse(predictor.call.operation, text);
    let plan = plan.map_err(|error| wrong(error.to_string()))?;
    if !predictor.allows(plan.algorithm) {
        return Err(wrong(
            "its messages wait for others, and nobody goes on with them where the MPI does not \
             call; leave it out, or set --progress called"
                .to_owned(),
        ));
    }
    let levels = predictor.clusters.closer().len() + 1;
    if plan.shapes.len() > levels {
        return Err(wrong(format!(
            "names trees of {}, and clusters have {} here; name at most {levels}",
            pluralize(plan.shapes.len(), "level"),
            pluralize(levels, "level"),
        )));
    }
    Ok(Some(plan))
}

/// The requested plan, or all algorithms and the native collective, the fastest first.
fn predictions(
    predictor: &Predictor,
    named: Option<&Composition>,
    segment: Option<u64>,
) -> Result<Vec<Prediction>, CommandError> {
    match named {
        Some(plan) => {
            let found = predictor.of(plan.algorithm, segment.or(plan.segment));
            Ok(vec![found.map_err(failed)?])
        }
        None => predictor.all(segment).map_err(failed),
    }
}
