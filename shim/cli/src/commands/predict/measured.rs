//! `treepie predict --measured FILE`: predictions beside measured times, as a table and as curves
//! (figures 6.13 and 6.28 of the thesis).

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use treepie_base::statistics::median;
use treepie_choice::measured::{self, Measured};
use treepie_collective::{Algorithm, Uniform};
use treepie_launch::error::CommandError;
use treepie_platform::Platform;
use treepie_report::picture::{Axis, Chart, Format, Series, Style, write_drawing};
use treepie_report::table::Table;
use treepie_report::units;

use crate::commands::outcome::Outcome;
use crate::commands::predict::arguments::{Arguments, failed};

/// A measured time and its prediction.
struct Pair {
    measured: Measured,
    predicted: f64,
}

impl Pair {
    fn error(&self) -> f64 {
        self.predicted / self.measured.seconds - 1.0
    }

    fn name(&self) -> String {
        format!("{} {}", self.measured.collective, self.measured.algorithm)
    }
}

/// Compares the times in the file of `arguments` with predictions.
pub fn run(platform: &Platform, arguments: &Arguments) -> Outcome {
    let file = arguments.measured.as_deref().unwrap_or(Path::new(""));
    let pairs = measured::read(file)?
        .into_iter()
        .map(|measured| pair(platform, arguments, file, measured))
        .collect::<Result<Vec<Pair>, CommandError>>()?;
    for path in &arguments.output {
        write_drawing(&chart(&pairs), Format::from_path(path)?, path)?;
    }
    let errors: Vec<f64> = pairs.iter().map(|pair| pair.error().abs()).collect();
    let middle = median(&errors).unwrap_or(0.0);
    let json = || {
        let rows = pairs.iter().map(|pair| {
            json!({
                "collective": pair.measured.collective.to_string(),
                "algorithm": pair.measured.algorithm,
                "bytes": pair.measured.bytes,
                "segment": pair.measured.segment,
                "measured": pair.measured.seconds,
                "predicted": pair.predicted,
                "error": pair.error(),
            })
        });
        let rows: Vec<_> = rows.collect();
        json!({ "median_error": middle, "times": rows })
    };
    let words = || {
        let table = table(&pairs).text();
        format!("{table}\n  median error {:.1} %\n", 100.0 * middle)
    };
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

fn pair(
    platform: &Platform,
    arguments: &Arguments,
    file: &Path,
    measured: Measured,
) -> Result<Pair, CommandError> {
    let operation = measured.collective;
    let refused = |problem: String| CommandError::failed(format!("{}: {problem}", file.display()));
    let algorithm = Algorithm::find(operation, &measured.algorithm).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::of(operation).map(|known| known.name).collect();
        let (wanted, names) = (&measured.algorithm, names.join(", "));
        refused(format!(
            "{operation} has no algorithm {wanted} here; name one of {names}"
        ))
    })?;
    let call = Uniform {
        operation,
        bytes: measured.bytes,
        root: arguments.root(operation, platform),
    };
    let predictor = arguments.predictor(platform, call)?;
    let segment = measured.segment.unwrap_or(measured.bytes);
    let prediction = predictor.of(algorithm, Some(segment)).map_err(failed)?;
    let predicted = prediction.seconds().ok_or_else(|| {
        let name = algorithm.name;
        refused(format!(
            "{operation} by {name} has too many messages to predict; leave it out"
        ))
    })?;
    Ok(Pair {
        predicted,
        measured,
    })
}

fn table(pairs: &[Pair]) -> Table {
    let mut table = Table::new([
        "algorithm",
        "bytes",
        "segment",
        "measured",
        "predicted",
        "error",
    ]);
    for pair in pairs {
        let segment = pair.measured.segment;
        table.row([
            pair.name(),
            units::bytes(pair.measured.bytes as f64),
            segment.map_or("-".to_owned(), |bytes| units::bytes(bytes as f64)),
            units::seconds(pair.measured.seconds),
            units::seconds(pair.predicted),
            units::change(pair.measured.seconds, pair.predicted),
        ]);
    }
    table
}

/// Predictions as lines, measured times as points of the same colour.
fn chart(pairs: &[Pair]) -> Chart {
    let mut names: Vec<String> = Vec::new();
    for pair in pairs {
        if !names.contains(&pair.name()) {
            names.push(pair.name());
        }
    }
    let series = names.iter().enumerate().flat_map(|(colour, name)| {
        let of = |time: fn(&Pair) -> f64, shown: &str, style| Series {
            name: shown.to_owned(),
            points: pairs
                .iter()
                .filter(|pair| pair.name() == *name)
                .map(|pair| (pair.measured.bytes as f64, time(pair)))
                .collect(),
            style,
            colour,
        };
        [
            of(|pair| pair.predicted, name, Style::Line),
            of(|pair| pair.measured.seconds, "measured", Style::Points),
        ]
    });
    Chart {
        title: "Predicted and measured times".to_owned(),
        across: Axis {
            name: "bytes of the message, or of one rank's block",
            logarithmic: true,
            mark: units::bytes,
        },
        upwards: Axis {
            name: "time",
            logarithmic: true,
            mark: units::seconds,
        },
        series: series.collect(),
    }
}
