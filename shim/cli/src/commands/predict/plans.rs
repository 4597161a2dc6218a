//! The plan of a predicted collective for other simulators, as bars in time, and drawn.

use std::path::Path;

use serde_json::json;
use treepie_base::text::write;
use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::read::export::{SMPIRUN_OPTIONS, goal, simgrid, time_independent};
use treepie_collective::read::simulate::{Bar, Doing};
use treepie_collective::{Algorithm, Composition};
use treepie_launch::error::CommandError;
use treepie_report::exchange::is_trace;
use treepie_report::input::collective::Collective;
use treepie_report::input::plan::Simulated;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::plan;

/// Plan of a prediction, for other programs and for pictures.
pub struct ChosenPlan<'a> {
    collective: Collective,
    predictor: &'a Predictor,
    composition: Composition,
    algorithm: &'static Algorithm,
    segment: u64,
}

impl<'a> ChosenPlan<'a> {
    /// The named plan, or the chosen one, or else the fastest; `None` where there is none.
    pub fn new(
        collective: Collective,
        predictor: &'a Predictor,
        named: Option<Composition>,
        all: &[Prediction],
    ) -> Option<Self> {
        let chosen = predictor.chosen().map(|chosen| chosen.name);
        let mut plans = all
            .iter()
            .filter_map(|one| Some((one.algorithm?, one.segment)));
        let first = plans.clone().next();
        let chosen = plans.find(|(algorithm, _)| Some(algorithm.name) == chosen);
        let (algorithm, segment) = chosen.or(first)?;
        Some(ChosenPlan {
            collective,
            predictor,
            composition: named.unwrap_or_else(|| Composition::from(algorithm)),
            algorithm,
            segment,
        })
    }

    /// Its course in time.
    ///
    /// # Errors
    /// A plan with too many steps.
    pub fn simulated(&self) -> Result<Simulated, CommandError> {
        let outcome = self.predictor.timeline(self.algorithm, self.segment);
        let outcome = outcome
            .map_err(|error| CommandError::failed(format!("{}: {error}", self.algorithm.name)))?;
        Ok(Simulated {
            collective: self.collective,
            composition: self.composition.clone(),
            bytes: self.predictor.call.bytes,
            segment: self.segment,
            ranks: self.predictor.clusters.ranks(),
            outcome,
        })
    }

    /// Writes it, as the ending of `out` says.
    ///
    /// # Errors
    /// An unknown ending; a file that can't be written.
    pub fn write(&self, out: &Path) -> Result<(), CommandError> {
        if is_trace(out) {
            let trace = plan::trace(&self.simulated()?);
            return Ok(write(out, &format!("{trace}\n"))?);
        }
        let (predictor, algorithm, segment) = (self.predictor, self.algorithm, self.segment);
        match out.extension().and_then(|ending| ending.to_str()) {
            Some("goal") => {
                let text = goal(
                    &predictor.plans(algorithm, segment),
                    1,
                    predictor.network.computing,
                );
                Ok(write(out, &text)?)
            }
            Some("ti") => {
                let mut list = String::new();
                for (rank, trace) in time_independent(&predictor.plans(algorithm, segment), 1)
                    .iter()
                    .enumerate()
                {
                    let path = out.with_extension(format!("rank{rank}.ti"));
                    write(&path, trace)?;
                    list += &format!("{}\n", path.display());
                }
                let (platform, hosts) = simgrid(&predictor.network);
                let beside = |ending: &str| out.with_extension(ending);
                write(&beside("platform.xml"), &platform)?;
                write(&beside("hosts"), &hosts)?;
                write(out, &list)?;
                eprintln!(
                    "smpirun -np {} -platform {} -hostfile {} -replay {} {SMPIRUN_OPTIONS}",
                    predictor.clusters.ranks(),
                    beside("platform.xml").display(),
                    beside("hosts").display(),
                    out.display(),
                );
                Ok(())
            }
            Some("json") => {
                let outcome = self.simulated()?.outcome;
                let bars: Vec<_> = outcome.bars.iter().map(bar_json).collect();
                let answer = json!({
                    "algorithm": algorithm.name,
                    "seconds": outcome.seconds,
                    "bars": bars,
                });
                Ok(write(out, &format!("{answer:#}\n"))?)
            }
            Some("svg" | "png") => {
                let gantt = plan::gantt(&self.simulated()?);
                write_drawing(&gantt, Format::from_path(out)?, out)
            }
            _ => Err(CommandError::usage(format!(
                "-o {}: unknown ending; write .svg, .png, .json, .trace.json, .goal or .ti",
                out.display()
            ))),
        }
    }
}

fn bar_json(bar: &Bar) -> serde_json::Value {
    let doing = match bar.doing {
        Doing::Send => "send",
        Doing::Receive => "receive",
        Doing::Reduce => "reduce",
        Doing::Copy => "copy",
    };
    json!({
        "rank": bar.rank,
        "start": bar.start,
        "end": bar.end,
        "doing": doing,
        "peer": bar.peer,
        "bytes": bar.bytes,
    })
}
