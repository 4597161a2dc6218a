//! The job until it is finished or given up.

use std::process::ExitCode;

use treepie_launch::signals::{OF_SCHEDULERS, Signals};

use crate::commands::outcome::Outcome;
use crate::commands::supervise::arguments::Arguments;
use crate::commands::supervise::job::Job;
use crate::commands::supervise::supervisor::Supervisor;
use crate::output;

/// Runs the job until it is finished or given up.
pub fn run(arguments: &Arguments) -> Outcome {
    let job = Job::new(arguments)?;
    let signals = Signals::take_over(OF_SCHEDULERS)?;
    let supervised = Supervisor::new(job, &signals)?.run()?;
    if arguments.printing.json {
        output::print_json(&supervised)?;
    }
    Ok(ExitCode::from(supervised.status))
}
