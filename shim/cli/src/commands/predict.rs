//! `treepie predict`: the time of every algorithm for a collective on a platform.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use treepie_core::collective::Operation;
use treepie_core::collective::Uniform;
use treepie_core::collective::read::models::{Computing, Form};
use treepie_core::collective::read::predict::{Collective, Prediction, Question, predict};
use treepie_core::files::platform::PlatformFile;

use super::options::size;
use super::{Outcome, measured, plans};
use crate::error::CommandError;
use crate::output;
use crate::report::table::Table;
use crate::report::units;
use crate::report::words::pluralize;

/// Predict the time of a collective, for every algorithm
#[derive(Debug, Args)]
pub struct Arguments {
    /// Platform, as `treepie probe` writes it
    #[arg(value_name = "PLATFORM")]
    file: PathBuf,
    /// Collective: bcast, scatter, gather, reduce, allreduce, allgather,
    /// alltoall, barrier; with --plans all others as well
    #[arg(long, value_name = "NAME", value_parser = plans::operation, required_unless_present = "measured")]
    collective: Option<Operation>,
    /// Bytes of the message, or of one rank's block: 64, 16K, 1M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    bytes: u64,
    /// Rank of the root
    #[arg(long, value_name = "RANK", default_value = "0")]
    root: usize,
    /// Number of ranks, if not those of the platform
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,
    /// Reading of the models: corrected, thesis
    #[arg(long, value_name = "FORM", default_value = "corrected", value_parser = str::parse::<Form>)]
    form: Form,
    /// Bytes of a datatype, which segments are multiples of
    #[arg(long, value_name = "BYTES", default_value = "1")]
    granularity: u64,
    /// Bytes of a segment, for algorithms that cut, instead of the best size
    #[arg(long, value_name = "SIZE", value_parser = size)]
    segment: Option<u64>,
    /// Compare the predictions with the times in this file instead: lines of
    /// collective,algorithm,bytes,segment,seconds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collective", "bytes", "segment"])]
    measured: Option<PathBuf>,
    /// Draw the comparison, by its ending: .svg or .png
    #[arg(long, value_name = "OUT", requires = "measured")]
    picture: Option<PathBuf>,
    /// Nanoseconds that a reduction takes for each byte
    #[arg(long, value_name = "NS", default_value = "0.25")]
    compute: f64,
    #[command(flatten)]
    plans: plans::PlanOptions,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Predicts and prints.
pub fn run(arguments: &Arguments) -> Outcome {
    let file = PlatformFile::read(&arguments.file)?;
    let platform = &file.platform;
    let ranks = arguments.ranks.unwrap_or(platform.ranks());
    if ranks == 0 || arguments.root >= platform.ranks() {
        return Err(CommandError::usage(format!(
            "--root {} --ranks {ranks}: the platform has the ranks 0 to {}; name one of them",
            arguments.root,
            platform.ranks() - 1
        )));
    }
    if !(arguments.compute.is_finite() && arguments.compute >= 0.0) {
        return Err(CommandError::usage(format!(
            "--compute {}: a number from 0 was expected",
            arguments.compute
        )));
    }
    if let (true, Some(operation)) = (arguments.plans.plans, arguments.collective) {
        let call = Uniform {
            operation,
            bytes: arguments.bytes,
            root: if operation.has_root() {
                arguments.root
            } else {
                0
            },
        };
        let (file, plans) = (&arguments.file, &arguments.plans);
        return plans::run(file, platform, call, plans, arguments.json);
    }
    let question = Question {
        root: arguments.root,
        ranks: arguments.ranks,
        form: arguments.form,
        granularity: arguments.granularity.max(1),
        segment: arguments.segment,
        computing: Computing {
            per_byte: arguments.compute * 1e-9,
        },
        // With --measured, the file names a collective for each line.
        ..Question::new(collective(arguments.collective)?, arguments.bytes)
    };
    if let Some(file) = &arguments.measured {
        let picture = arguments.picture.as_deref();
        return measured::run(platform, &question, file, picture, arguments.json);
    }
    let predictions = predict(platform, &question);
    if arguments.json {
        let strategies: Vec<_> = predictions.iter().map(prediction_json).collect();
        output::print_json(&json!({
            "collective": question.collective.to_string(),
            "bytes": arguments.bytes,
            "ranks": ranks,
            "root": arguments.root,
            "form": arguments.form.to_string(),
            "best": predictions.first().map(|best| &best.strategy),
            "algorithms": strategies,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: {} of {} among {} in {}\n\n",
        arguments.file.display(),
        question.collective,
        units::bytes(arguments.bytes as f64),
        pluralize(ranks, "rank"),
        pluralize(platform.clusters().len(), "cluster"),
    );
    text += &table(&predictions).text();
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The collective of the models with this name.
fn collective(operation: Option<Operation>) -> Result<Collective, CommandError> {
    let Some(operation) = operation else {
        return Ok(Collective::Bcast);
    };
    operation
        .to_string()
        .parse()
        .map_err(|error| CommandError::usage(format!("--collective: {error}; or ask for --plans")))
}

fn table(predictions: &[Prediction]) -> Table {
    let mut table = Table::new(["  algorithm", "time", "over the best", "segment", "inside"]);
    let least = predictions.first().map_or(0.0, |best| best.seconds);
    for (place, prediction) in predictions.iter().enumerate() {
        let mark = if place == 0 { "* " } else { "  " };
        table.row([
            format!("{mark}{}", prediction.strategy),
            units::seconds(prediction.seconds),
            match least > 0.0 {
                true => format!("{:.2}", prediction.seconds / least),
                false => "-".to_owned(),
            },
            prediction
                .segment
                .map_or("-".to_owned(), |bytes| units::bytes(bytes as f64)),
            prediction.inside.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table
}

fn prediction_json(prediction: &Prediction) -> serde_json::Value {
    json!({
        "algorithm": prediction.strategy,
        "seconds": prediction.seconds,
        "segment": prediction.segment,
        "inside": prediction.inside,
    })
}
