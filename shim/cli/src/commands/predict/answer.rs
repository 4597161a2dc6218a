//! Predictions of a collective, as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};
use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::Algorithm;
use treepie_platform::Platform;
use treepie_report::input::collective::Collective;
use treepie_report::input::plan::Simulated;
use treepie_report::table::Table;
use treepie_report::words::pluralize;
use treepie_report::{plan, units};

use crate::commands::predict::arguments::Arguments;
use crate::commands::predict::memory::moved;

pub(crate) fn is_chosen(predictor: &Predictor, prediction: &Prediction) -> bool {
    let name = |algorithm: &'static Algorithm| algorithm.name;
    let is_chosen = prediction.algorithm.map(name) == predictor.chosen().map(name);
    is_chosen && !predictor.is_named()
}

/// The answer for programs, with all steps of `detail`.
pub(crate) fn json_of(
    predictor: &Predictor,
    all: &[Prediction],
    (platform, arguments): (&Platform, &Arguments),
    detail: Option<&Simulated>,
) -> Value {
    let call = &predictor.call;
    let unused = platform.unused_contention();
    let unused = unused.iter().map(|(cluster, fitted, ranks)| {
        json!({ "cluster": cluster.name, "fitted_ranks": fitted, "ranks": ranks })
    });
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
            "inside": prediction.inside,
            "moved": moved(predictor, prediction).map(|moved| json!({
                "read": moved.read,
                "written": moved.written,
                "handed": moved.handed,
            })),
        })
    });
    let native = all.iter().find(|prediction| prediction.algorithm.is_none());
    let is_started = arguments.collective.is_some_and(Collective::is_started);
    json!({
        "collective": arguments.called(predictor),
        "neighbours": arguments.neighbours,
        "sizes": arguments.block_sizes,
        "progress": is_started.then(|| arguments.progress().to_string()),
        "bytes": call.bytes,
        "ranks": predictor.clusters.ranks(),
        "clusters": predictor.clusters.count(),
        "root": call.root,
        "bound": predictor.bound(),
        "native": {
            "family": arguments.mpi.to_string(),
            "seconds": native.and_then(Prediction::seconds),
            "simulated": native.and_then(|native| native.simulated),
            "estimated": native.and_then(|native| native.estimated),
        },
        "best": all.first().map(name),
        "chosen": predictor.chosen().map_or("native", |known| known.name),
        "reason": predictor.reason(),
        "contention_left_out": unused.collect::<Vec<_>>(),
        "algorithms": algorithms.collect::<Vec<_>>(),
        "plan": detail.map(plan::json),
    })
}

/// The answer in words.
pub(crate) fn text(
    predictor: &Predictor,
    all: &[Prediction],
    (platform, arguments): (&Platform, &Arguments),
    detail: Option<&Simulated>,
) -> String {
    let call = &predictor.call;
    let root = match (call.operation.has_root(), &arguments.neighbours) {
        (true, _) => format!(", root {}", call.root),
        (false, Some(neighbours)) => format!(", neighbours {neighbours}"),
        (false, None) => String::new(),
    };
    let mean = if arguments.block_sizes.is_some() {
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
    text += &detail.map_or(String::new(), plan::facts);
    text += "  memory: read and written by the ranks of a host, the most of any\n";
    for (cluster, fitted, ranks) in platform.unused_contention() {
        text += &format!(
            "  left out: contention of {}, fitted to {fitted} ranks and not to {ranks}; measure it \
             among these with `treepie probe --exchange`\n",
            cluster.name
        );
    }
    text
}

pub(crate) fn table(predictor: &Predictor, all: &[Prediction], arguments: &Arguments) -> Table {
    let headings = vec![
        "  algorithm",
        "time",
        "over the best",
        "segment",
        "estimate",
        "memory",
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
            Some(algorithm) => match &prediction.inside {
                Some(inside) => format!("{} over {inside}", algorithm.name),
                None => algorithm.name.to_owned(),
            },
            None => format!("the MPI's own ({})", arguments.mpi),
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
            match moved(predictor, prediction) {
                Some(moved) => units::bytes(moved.once() as f64),
                None => "-".to_owned(),
            },
        ];
        table.row(row);
    }
    table
}
