//! `--order`: the order of receives, recorded by `treepie profile` and replayed by `treepie
//! replay`; and its display by `show` and `compare`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use treepie_base::note;
use treepie_jobstate::order::file::{
    self, Order, directory_of, is_directory, is_order, remove_directory,
};
use treepie_launch::error::{CommandError, Subject};
use treepie_launch::written::{Watch, is_ours};
use treepie_profile::settings::AfterEnd;
use treepie_report::order::{Compared, Summary};
use treepie_report::words::pluralize;

use super::options::{Printing, Seed, absolute_path, seconds};
use crate::commands::options::require_directory;
use crate::commands::outcome::Outcome;

/// Whether sends are delayed, so that another order is likely.
#[derive(Debug, Args)]
struct Delays {
    /// Delay sends of some ranks, up to 2 ms each: another --seed gives another run
    #[arg(long, requires = "order")]
    delays: bool,
    #[command(flatten)]
    seed: Seed,
}

impl Delays {
    /// The seed, where sends are delayed.
    fn seed(&self) -> Option<u64> {
        self.delays.then(|| self.seed.seed.unwrap_or_default())
    }
}

/// Options for recording the order of receives.
#[derive(Debug, Args)]
pub struct RecordChoice {
    /// Record the order of receives, probes and polls into this file, for `treepie replay --order`
    #[arg(long, value_name = "FILE")]
    order: Option<PathBuf>,
    #[command(flatten)]
    delays: Delays,
}

impl RecordChoice {
    /// The variables of these options.
    ///
    /// # Errors
    /// The directory does not exist.
    pub fn variables(&self) -> Result<Vec<(&'static str, OsString)>, CommandError> {
        let Some(path) = &self.order else {
            return Ok(Vec::new());
        };
        let path = absolute_path(path)?;
        require_directory(&path, "--order")?;
        Ok(variables(path, self.delays.seed()))
    }

    /// Records the existing order before the job starts.
    pub fn before(&self) -> Option<Watch> {
        let path = absolute_path(self.order.as_deref()?).ok()?;
        Some(Watch::new(&path))
    }

    /// Assembles the order from the logs of ranks that did not reach `MPI_Finalize`, and reports
    /// it, if it was written since `before`.
    ///
    /// # Errors
    /// The logs are inconsistent, or a file cannot be written.
    pub fn after(&self, before: Option<Watch>, quiet: bool) -> Result<(), CommandError> {
        let (Some(path), Some(before)) = (&self.order, before) else {
            return Ok(());
        };
        let directory = directory_of(path);
        if is_directory(&directory) && is_ours(&directory) {
            let order = Order::read(&directory).map_err(refused)?;
            order.write(path).map_err(refused)?;
            remove_directory(&directory);
            note!(
                "{}: the job did not reach MPI_Finalize on {}; put together from what \
                 ranks left",
                path.display(),
                pluralize(order.early().len(), "rank")
            );
        }
        if !quiet && !before.written().is_empty() {
            let order = Order::read(path).map_err(refused)?;
            note!("{}", Summary::new(path, &order).short_text());
        }
        Ok(())
    }
}

/// Options for replaying the order of receives.
#[derive(Debug, Args)]
pub struct ReplayChoice {
    /// Order of receives to replay, recorded by `treepie profile --order`: under any MPI and with
    /// any placement, but with the same program, input and number of ranks
    #[arg(long, value_name = "FILE")]
    order: Option<PathBuf>,
    /// Maximum time for which a call waits for the recorded message before the job is ended; 0 for
    /// no limit [default: 60s]
    #[arg(long, value_name = "TIME", requires = "order", value_parser = seconds)]
    order_timeout: Option<f64>,
    /// Behaviour after the end of a recorded run that ended early: free (messages are taken in
    /// order of arrival) or stop (the job is ended) [default: free]
    #[arg(long, value_name = "HOW", requires = "order", value_parser = str::parse::<AfterEnd>)]
    after_end: Option<AfterEnd>,
    #[command(flatten)]
    delays: Delays,
}

impl ReplayChoice {
    /// The variables of these options; `ranks` is the number of the job's ranks, if known.
    ///
    /// # Errors
    /// The order cannot be used.
    pub fn variables(
        &self,
        ranks: impl FnOnce() -> Option<usize>,
    ) -> Result<Vec<(&'static str, OsString)>, CommandError> {
        let Some(path) = &self.order else {
            return Ok(Vec::new());
        };
        let order = Order::read(path).map_err(refused)?;
        order
            .check(path, ranks().unwrap_or(order.run.ranks))
            .map_err(refused)?;
        let mut variables = variables(absolute_path(path)?, self.delays.seed());
        if let Some(seconds) = self.order_timeout {
            variables.push(("TREEPIE_ORDER_TIMEOUT", seconds.to_string().into()));
        }
        if let Some(how) = self.after_end {
            variables.push(("TREEPIE_ORDER_AFTER_END", how.to_string().into()));
        }
        Ok(variables)
    }

    /// True if an order is replayed.
    pub fn is_given(&self) -> bool {
        self.order.is_some()
    }
}

fn variables(order: PathBuf, delays: Option<u64>) -> Vec<(&'static str, OsString)> {
    let mut variables = vec![("TREEPIE_ORDER", order.into())];
    if let Some(seed) = delays {
        variables.push(("TREEPIE_ORDER_DELAYS", seed.to_string().into()));
    }
    variables
}

fn refused(error: file::OrderError) -> CommandError {
    CommandError::failed(error.to_string()).about(Subject::Order)
}

/// True if this is an order, or the logs of a job.
pub fn is_one(path: &Path) -> bool {
    is_order(path) || is_directory(path)
}

/// Shows an order.
///
/// # Errors
/// The file cannot be read, or an output cannot be written.
pub fn show(path: &Path, printing: Printing) -> Outcome {
    let order = Order::read(path).map_err(refused)?;
    let summary = Summary::new(path, &order);
    printing.answer(|| &summary, || summary.text())?;
    Ok(ExitCode::SUCCESS)
}

/// Reports where two runs diverge.
///
/// # Errors
/// The files cannot be read, or have different numbers of ranks.
pub fn compare(paths: [&Path; 2], printing: Printing) -> Outcome {
    let [before, after] = paths;
    let first = Order::read(before).map_err(refused)?;
    let second = Order::read(after).map_err(refused)?;
    second.check(after, first.run.ranks).map_err(refused)?;
    let compared = Compared::new(paths, [&first, &second]);
    printing.answer(|| &compared, || compared.text())?;
    Ok(ExitCode::SUCCESS)
}
