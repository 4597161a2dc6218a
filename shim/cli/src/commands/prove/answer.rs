//! The verdict as text, as JSON and as a picture.

use serde_json::{Value, json};
use treepie_core::platform::statistics::median;
use treepie_core::proof::{Pairs, Verdict};

use super::Arguments;
use super::series::{Printed, Series};
use crate::error::CommandError;
use crate::output;
use crate::picture::{Axis, Chart, Format, Series as Curve, Style, write_drawing};
use crate::report::table::Table;
use crate::report::units;
use crate::report::words::pluralize;

/// Prints the answer, and draws it.
///
/// # Errors
/// A picture or an output that can't be written.
pub fn give(arguments: &Arguments, series: &Series) -> Result<(), CommandError> {
    if let Some(path) = &arguments.picture {
        write_drawing(&chart(series), Format::from_path(path)?, path)?;
    }
    match arguments.json {
        true => output::print_json(&as_json(series)),
        false => output::print(&text(series)),
    }
}

/// `gain of 18.2 % (at least 16.9 %, at most 19.4 %)`
fn verdict(series: &Series) -> String {
    let (low, high) = series.whole.interval();
    let gain = series.whole.gain().unwrap_or(0.0);
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let difference = percent(series.limits.difference);
    match series.verdict() {
        Verdict::Gain => format!(
            "gain of {} (at least {}, at most {})",
            percent(gain),
            percent(low),
            percent(high)
        ),
        Verdict::Worse if series.whole.count() == 0 || high >= 0.0 => {
            "worse: it fails where the other does not".to_owned()
        }
        Verdict::Worse => format!(
            "worse by {} (at least {}, at most {})",
            percent(-gain),
            percent(-high),
            percent(-low)
        ),
        Verdict::None => format!("no difference above {difference}"),
        Verdict::NotProven if low.is_finite() && high < 1.0 => format!(
            "not proven: between {} and {}; more --runs narrow it",
            signed(low),
            signed(high)
        ),
        Verdict::NotProven => "not proven: too few runs; give more --runs or --time".to_owned(),
    }
}

/// A change as a user counts it: a gain is a shorter time.
fn signed(gain: f64) -> String {
    match gain >= 0.0 {
        true => format!("a gain of {:.1} %", 100.0 * gain),
        false => format!("a loss of {:.1} %", -100.0 * gain),
    }
}

fn text(series: &Series) -> String {
    let mut table = Table::new(["median seconds", "from MPI_Init to MPI_Finalize", "in MPI"]);
    for (way, arm) in series.arms.iter().enumerate() {
        let of = |pick: fn(&super::arm::Run) -> f64| {
            let all: Vec<f64> = series.runs.iter().map(|pair| pick(&pair[way])).collect();
            median(&all).map_or("-".to_owned(), units::seconds)
        };
        table.row([
            arm.name.clone(),
            of(|run| run.seconds),
            of(|run| run.in_mpi),
        ]);
    }
    let gain = |pairs: &Pairs| {
        pairs
            .gain()
            .map_or("-".to_owned(), |gain| units::change(1.0, 1.0 - gain))
    };
    table.row([
        "change".to_owned(),
        gain(&series.whole),
        gain(&series.in_mpi),
    ]);
    let pairs = series.whole.count();
    let mut text = format!(
        "{}\n{} in random order (seed {}), {} of them won\n",
        table.text(),
        pluralize(pairs, "pair"),
        series.seed,
        series.whole.wins()
    );
    for (arm, failures) in series.arms.iter().zip(&series.failures) {
        if let Some(last) = failures.last() {
            let runs = pluralize(failures.len(), "run");
            text += &format!("{runs} failed ({}), the last with {last}\n", arm.name);
        }
    }
    text += match series.printed() {
        Some(Printed::Different) => {
            "CAUTION: it prints something else than what it is compared with\n"
        }
        Some(Printed::AlwaysDifferent) => {
            "what the job prints differs from run to run, and was not compared\n"
        }
        Some(Printed::Same) => "all runs printed the same\n",
        None => "",
    };
    text + &format!("verdict: {}\n", verdict(series))
}

fn as_json(series: &Series) -> Value {
    let name = match series.verdict() {
        Verdict::Gain => "gain",
        Verdict::Worse => "worse",
        Verdict::None => "none",
        Verdict::NotProven => "not proven",
    };
    let part = |value: f64| value.is_finite().then_some(value);
    let of = |pairs: &Pairs| {
        let (low, high) = pairs.interval();
        json!({
            "gain": pairs.gain(), "at_least": part(low), "at_most": part(high),
            "pairs": pairs.count(), "wins": pairs.wins(),
        })
    };
    let arms = series.arms.iter().enumerate().map(|(way, arm)| {
        let runs = || series.runs.iter().map(|pair| pair[way]);
        json!({
            "name": arm.name,
            "seconds": runs().map(|run| run.seconds).collect::<Vec<f64>>(),
            "seconds_in_mpi": runs().map(|run| run.in_mpi).collect::<Vec<f64>>(),
            "failures": series.failures[way],
        })
    });
    json!({
        "verdict": name,
        "sentence": verdict(series),
        "whole": of(&series.whole),
        "in_mpi": of(&series.in_mpi),
        "difference": series.limits.difference,
        "seed": series.seed,
        "same_output": series.printed().map(|printed| printed == Printed::Same),
        "ways": arms.collect::<Vec<Value>>(),
    })
}

/// The seconds of all runs, in the order of the pairs.
fn chart(series: &Series) -> Chart {
    let curves = series.arms.iter().enumerate().map(|(way, arm)| Curve {
        name: arm.name.clone(),
        points: series
            .runs
            .iter()
            .enumerate()
            .map(|(number, pair)| (number as f64 + 1.0, pair[way].seconds))
            .collect(),
        style: Style::Points,
        colour: way,
    });
    Chart {
        title: format!("verdict: {}", verdict(series)),
        across: Axis {
            name: "pair of runs",
            logarithmic: false,
            mark: units::count,
        },
        upwards: Axis {
            name: "from MPI_Init to MPI_Finalize",
            logarithmic: false,
            mark: units::seconds,
        },
        series: curves.collect(),
    }
}
