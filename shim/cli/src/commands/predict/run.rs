//! Requested predictions, and exports of plans.

use std::process::ExitCode;

use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::operation::Unit;
use treepie_collective::{Composition, Operation, Uniform};
use treepie_launch::error::CommandError;
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_report::input::collective::{CallForm, Collective};
use treepie_report::input::{neighbours, sizes};
use treepie_report::words::pluralize;

use super::plans::ChosenPlan;
use super::{checkpoints, choices, measured, pieces};
use crate::commands::outcome::Outcome;
use crate::commands::predict::answer::{json_of, text};
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
    if arguments.checkpoints.is_given() {
        let (options, files) = (&arguments.checkpoints, &arguments.output);
        let printing = arguments.printing;
        return checkpoints::run(&arguments.file, &platform, options, files, printing);
    }
    if let Some(pieces) = arguments.pieces {
        return pieces::run(&platform, pieces, arguments);
    }
    if arguments.choices {
        return choices::run(&platform, arguments);
    }
    let Some(collective) = arguments.collective else {
        return measured::run(&platform, arguments);
    };
    let operation = collective.operation;
    refuse_many(&platform, operation)?;
    let mut predictor = predictor_of(collective, arguments, &platform)?;
    let named = named(&predictor, arguments)?;
    if let Some(plan) = &named {
        predictor = predictor.for_plan(plan);
    }
    let all = predictions(&predictor, named.as_ref(), arguments.segment)?;
    let plan = ChosenPlan::new(collective, &predictor, named, &all);
    for out in &arguments.output {
        let plan = plan.as_ref().ok_or_else(|| {
            CommandError::usage(format!(
                "-o {}: there is no plan for {operation}; name one with --algorithm",
                out.display()
            ))
        })?;
        plan.write(out)?;
    }
    // A single plan is shown in more detail.
    let detail = plan
        .filter(|_| arguments.algorithm.is_some() && all.iter().all(|one| one.simulated.is_some()));
    let detail = detail.map(|plan| plan.simulated()).transpose()?;
    let asked = (&platform, arguments);
    let json = || json_of(&predictor, &all, asked, detail.as_ref());
    let words = || text(&predictor, &all, asked, detail.as_ref());
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
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
    if let Some(path) = &arguments.block_sizes {
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
