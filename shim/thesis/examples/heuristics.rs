//! LaPIe's study of the orders between clusters on random grids (7.1.4): `scripts/bench
//! heuristics`.

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use serde_json::json;
use treepie_base::list;
use treepie_platform::orders::{Accounting, Order};
use treepie_report::picture::{Axis, Chart, Format, Series, Style, write_drawing};
use treepie_report::table::Table;
use treepie_report::units;
use treepie_thesis::orders::{Results, Study};

/// Compare the orders between clusters on random grids
#[derive(Debug, Parser)]
struct Arguments {
    /// Numbers of clusters
    #[arg(long, value_name = "LIST", default_value = "2-10,15,20,30,40,50")]
    clusters: String,
    /// Random grids for each number
    #[arg(long, value_name = "N", default_value = "10000")]
    iterations: usize,
    /// Start the inner phase of a cluster as soon as it has the message
    #[arg(long)]
    overlap: bool,
    /// Search for the best order, too, for up to this number of clusters
    #[arg(long, value_name = "C", default_value = "0")]
    exhaustive: usize,
    /// Seed of the random numbers
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Draw the means to this file; its ending selects .svg or .png
    #[arg(long, value_name = "OUT")]
    picture: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// The orders of the thesis, and those that it names and did not compare.
const COMPARED: [Order; 12] = [
    Order::Flat,
    Order::Fef,
    Order::Ecef,
    Order::EcefLa,
    Order::EcefLat,
    Order::EcefLatMin,
    Order::BottomUp,
    Order::BottomUpReady,
    Order::BottomUpLa,
    Order::EcefLaMean,
    Order::EcefLaMeanOfAll,
    Order::Fnf,
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let numbers = list::parse(&arguments.clusters)?;
    if numbers.is_empty() || numbers.iter().any(|number| !(1..=1000).contains(number)) {
        let given = &arguments.clusters;
        return Err(format!("--clusters {given}: write numbers from 1 to 1000: 2-10,50").into());
    }
    let accounting = match arguments.overlap {
        true => Accounting::AtArrival,
        false => Accounting::AfterSends,
    };
    let study = |clusters| Study {
        clusters,
        iterations: arguments.iterations,
        accounting,
        seed: arguments.seed,
        exhaustive: clusters <= arguments.exhaustive,
    };
    let run = |clusters| (clusters, study(clusters).run(&COMPARED));
    let results: Vec<(usize, Results)> = numbers.into_iter().map(run).collect();
    if let Some(path) = &arguments.picture {
        write_drawing(&chart(&results), Format::from_path(path)?, path)?;
    }
    if arguments.json {
        let rows = results
            .iter()
            .map(|(clusters, results)| json(*clusters, results));
        println!("{:#}", serde_json::Value::from_iter(rows));
    } else {
        print!("{}", text(&results));
    }
    Ok(())
}

fn text(results: &[(usize, Results)]) -> String {
    let headings = || {
        let names = COMPARED.iter().map(Order::to_string);
        std::iter::once("clusters".to_owned()).chain(names)
    };
    let mut means = Table::new(headings().chain(["optimum".to_owned()]));
    let mut hits = Table::new(headings());
    for (clusters, results) in results {
        let shown = results
            .outcomes
            .iter()
            .map(|outcome| format!("{:.3}", outcome.mean));
        let optimum = results
            .optimum
            .map_or("-".to_owned(), |mean| format!("{mean:.3}"));
        means.row(
            std::iter::once(clusters.to_string())
                .chain(shown)
                .chain([optimum]),
        );
        let shown = results
            .outcomes
            .iter()
            .map(|outcome| units::share(outcome.hits, 1.0));
        hits.row(std::iter::once(clusters.to_string()).chain(shown));
    }
    format!(
        "mean makespan in seconds\n{}\nhow often no other was better\n{}",
        means.text(),
        hits.text()
    )
}

fn json(clusters: usize, results: &Results) -> serde_json::Value {
    let outcomes = COMPARED.iter().zip(&results.outcomes);
    let orders: serde_json::Map<String, serde_json::Value> = outcomes
        .map(|(order, outcome)| {
            let value = json!({ "mean": outcome.mean, "hits": outcome.hits });
            (order.to_string(), value)
        })
        .collect();
    json!({ "clusters": clusters, "optimum": results.optimum, "orders": orders })
}

fn chart(results: &[(usize, Results)]) -> Chart {
    let series = COMPARED.iter().enumerate().map(|(place, order)| Series {
        name: order.to_string(),
        points: results
            .iter()
            .map(|(clusters, results)| (*clusters as f64, results.outcomes[place].mean))
            .collect(),
        // Colours repeat after eight curves.
        style: match place {
            0..8 => Style::Marked,
            _ => Style::Line,
        },
        colour: place,
    });
    Chart {
        title: "Broadcast of 1 MB on random grids".to_owned(),
        across: Axis {
            name: "clusters",
            logarithmic: false,
            mark: units::count,
        },
        upwards: Axis {
            name: "mean makespan",
            logarithmic: false,
            mark: units::seconds,
        },
        series: series.collect(),
    }
}
