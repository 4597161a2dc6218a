//! `treepie predict --export`: the plans of a collective for other simulators, and as bars in time.

use std::path::Path;

use serde_json::json;
use treepie_base::text::write;
use treepie_choice::predict::Predictor;
use treepie_collective::Algorithm;
use treepie_collective::read::export::{SMPIRUN_OPTIONS, goal, simgrid, time_independent};
use treepie_collective::read::simulate::{Bar, Doing};
use treepie_launch::error::CommandError;

/// Writes the plans of all ranks in the form selected by the ending of `out`.
pub fn export(
    predictor: &Predictor,
    algorithm: &'static Algorithm,
    segment: u64,
    out: &Path,
) -> Result<(), CommandError> {
    let plans = || predictor.plans(algorithm, segment);
    match out.extension().and_then(|ending| ending.to_str()) {
        Some("goal") => {
            let text = goal(&plans(), 1, predictor.network.computing);
            Ok(write(out, &text)?)
        }
        Some("ti") => {
            let mut list = String::new();
            for (rank, trace) in time_independent(&plans(), 1).iter().enumerate() {
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
            let outcome = predictor
                .timeline(algorithm, segment)
                .map_err(|error| CommandError::failed(format!("{}: {error}", algorithm.name)))?;
            let bars: Vec<_> = outcome.bars.iter().map(bar_json).collect();
            let answer = json!({
                "algorithm": algorithm.name,
                "seconds": outcome.seconds,
                "bars": bars,
            });
            Ok(write(out, &format!("{answer:#}\n"))?)
        }
        _ => Err(CommandError::usage(format!(
            "--export {}: unknown ending; write .goal, .ti or .json",
            out.display()
        ))),
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
