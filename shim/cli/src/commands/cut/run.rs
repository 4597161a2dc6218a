//! Arguments of `treepie cut`, and waves over a running job.

use std::process::ExitCode;
use std::thread;

use treepie_jobstate::pages::TICK;
use treepie_launch::error::CommandError;
use treepie_report::cut::Pending;
use treepie_report::input::page_files::usual_base;

use crate::commands::cut::answer::Answer;
use crate::commands::cut::arguments::{Arguments, hexadecimal};
use crate::commands::cut::job;
use crate::commands::cut::members::Members;
use crate::commands::cut::protocol::JobNumber;
use crate::commands::cut::serve::serve;
use crate::commands::outcome::Outcome;
use crate::commands::why::Chosen;

/// Makes the waves, or verifies.
pub fn run(arguments: &Arguments) -> Outcome {
    match arguments.command.is_empty() {
        false => job::run(arguments),
        true if arguments.coordinate => coordinate(arguments),
        true => of_running(arguments),
    }
}

/// Executes orders for ranks.
pub(super) fn coordinate(arguments: &Arguments) -> Outcome {
    let base = arguments.pages.clone().unwrap_or_else(usual_base);
    let run = arguments.job.as_deref().map(hexadecimal).transpose();
    let which = match (arguments.given, run.map_err(CommandError::usage)?) {
        (Some(given), _) => JobNumber::Given(given),
        (None, Some(run)) => JobNumber::Run(run),
        (None, None) => {
            return Err(CommandError::usage(
                "--coordinate: needs the number of a run",
            ));
        }
    };
    serve(arguments.members(base, which)?)
}

/// Makes one wave over a running job, or reads its counts.
fn of_running(arguments: &Arguments) -> Outcome {
    if arguments.verify && (arguments.now || arguments.then.is_some()) {
        return Err(CommandError::usage(
            "--verify stops nobody in a running job, --now and --then do; leave one of them out",
        ));
    }
    const REMEDY: &str = "start it with TREEPIE_CUT=true, or with `treepie cut -- mpirun ...`";
    let (pages, job) = (arguments.pages.as_deref(), arguments.job.as_deref());
    let chosen = Chosen::find(pages, job, REMEDY)?;
    let run = chosen.run;
    let mut waves = arguments.waves(chosen.base, JobNumber::Run(run))?;
    let (ranks, size) = waves.members.look()?;
    if size == 0 {
        return Err(CommandError::failed(format!(
            "run {run:016x} has no rank on this host or those of --cluster: it has ended, or keeps \
             its pages in another directory; name that with --pages"
        )));
    }
    if ranks.iter().any(|rank| rank.stop.is_none()) {
        return Err(CommandError::failed(format!(
            "run {run:016x}: its ranks can't be stopped, and don't count what they receive; {REMEDY}"
        )));
    }
    if ranks.len() < size {
        return Err(CommandError::failed(format!(
            "run {run:016x}: {} of its {size} ranks run on this host and those of --cluster; a cut \
             needs all of them",
            ranks.len()
        )));
    }
    if arguments.verify {
        return look(arguments, &mut waves.members, run);
    }
    let report = waves.make(1)?;
    let well = report.is_well();
    let text = format!("{}\n", report.text());
    let answer = Answer {
        waves: vec![report],
        left: None,
    };
    arguments.printing.answer(|| answer, || text)?;
    Ok(ExitCode::from(u8::from(!well)))
}

/// Reads twice, without stopping any rank: values that are equal in both readings belong to a
/// consistent cut.
pub(super) fn look(arguments: &Arguments, members: &mut Members, run: u64) -> Outcome {
    let (first, size) = members.look()?;
    thread::sleep(2 * TICK);
    let (second, _) = members.look()?;
    if second.is_empty() {
        return Err(CommandError::failed(format!(
            "run {run:016x} has no rank on this host any more; there is nothing to look at"
        )));
    }
    if !treepie_jobstate::cut::are_alike(&first, &second) {
        return Err(CommandError::failed(
            "ranks made calls while they were looked at, so that their counts are of no one cut; \
             leave --verify out, and they are stopped",
        ));
    }
    let left = Pending::new(&second, size);
    let text = left.text();
    let answer = Answer {
        waves: Vec::new(),
        left: Some(left),
    };
    arguments.printing.answer(|| answer, || text)?;
    Ok(ExitCode::SUCCESS)
}
