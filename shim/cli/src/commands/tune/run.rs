//! Arguments of `treepie tune`, and the measuring run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use treepie_base::{check_writable, list};
use treepie_collective::Operation;
use treepie_launch::error::CommandError;
use treepie_launch::family::{Family, Launcher};
use treepie_launch::{self, measuring};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{Cell, cell_bytes, cells_of_records, is_measured, usual_cells};
use treepie_profile::Profile;
use treepie_profile::settings::TUNE_VARIABLE;
use treepie_report::input::choice::size;
use treepie_report::picture::{Format, write_drawing};
use treepie_report::tuning as report;

use crate::commands::options::{Printing, absolute_path, positive};
use crate::commands::outcome::Outcome;
use crate::commands::tune::files::{self, FILE};
use crate::output;

/// Maximum number of cells of a profile that are measured.
const MOST_CELLS: usize = 40;

const PICTURE: &str = "tuning.svg";

/// Measure the MPI's own collective algorithms and plans, and write its tuning files
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  treepie tune -o tuned -- mpirun -np 64
  treepie tune app.profile.yaml -o tuned --time-limit 5min -- mpirun -np 64
  treepie tune --collectives allreduce,bcast --sizes 8,64K -- mpirun -np 64")]
pub struct Arguments {
    /// Profile of the program for which to tune: its operations, communicator sizes and message
    /// sizes are measured, the most important first
    pub(crate) profile: Option<PathBuf>,
    /// Directory to write: the tuning, a picture, and the files for the MPI
    #[arg(long, short, value_name = "DIR", default_value = "tuned")]
    pub(crate) output: PathBuf,
    /// Maximum time for the measurement
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = positive)]
    time_limit: Duration,
    /// Operations to measure: bcast,allreduce
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    collectives: Vec<Operation>,
    /// Bytes of the message, or of a rank's block: 8,64K,1M
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = size)]
    pub(crate) sizes: Vec<u64>,
    /// Ranks of the communicators [default: all of the job]
    #[arg(long, value_name = "LIST")]
    pub(crate) ranks: Option<String>,
    /// Only measure the MPI's own algorithms, without Treepie's plans and its library
    #[arg(long)]
    without_plans: bool,
    /// No program that will use this has a reduction that is not commutative: algorithms that are
    /// wrong for such reductions are measured, too
    #[arg(long)]
    commutative: bool,
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// The launcher with its options, without a program
    #[arg(last = true, value_name = "LAUNCHER")]
    pub(crate) command: Vec<OsString>,
}

/// Measures, and writes the files for the MPI.
pub fn run(arguments: &Arguments) -> Outcome {
    let cells = cells(arguments)?;
    if arguments.command.is_empty() {
        return Err(CommandError::usage(
            "nothing to measure: write the launcher after --, such as `treepie tune -- mpirun -np \
             16`",
        ));
    }
    let directory = absolute_path(&arguments.output)?;
    std::fs::create_dir_all(&directory).map_err(|error| {
        let problem = format!("{}: cannot be made: {error}", arguments.output.display());
        CommandError::usage(format!("{problem}; name another directory with -o"))
    })?;
    let output = directory.join(FILE);
    check_writable(&output)?;
    let status = measure(arguments, &cells, &output)?;
    let file = TuningFile::read(&output)?;
    let written = files::write(&file, &directory)?;
    let picture = directory.join(PICTURE);
    write_drawing(&report::chart(&file.body), Format::Svg, &picture)?;
    let name = arguments.output.join(FILE).display().to_string();
    let words = || report::text(&name, &file) + &files::told(&file.body, &written);
    arguments.printing.answer(|| report::json(&file), words)?;
    Ok(ExitCode::from(status))
}

/// Cells to measure.
fn cells(arguments: &Arguments) -> Result<Vec<Cell>, CommandError> {
    let ranks = match &arguments.ranks {
        None => Vec::new(),
        Some(text) => list::parse(text)
            .map_err(|error| CommandError::usage(format!("--ranks {text}: {error}")))?,
    };
    let mut operations = arguments.collectives.iter();
    if let Some(operation) = operations.find(|one| !is_measured(**one)) {
        return Err(CommandError::usage(format!(
            "--collectives {operation}: can't be measured, since not all ranks know what such a \
             call moves; leave it out"
        )));
    }
    if ranks.len() > MOST_CELLS {
        return Err(CommandError::usage(format!(
            "--ranks: {} sizes of communicators were given, and at most {MOST_CELLS} are measured; \
             name some, such as 2,8,64",
            ranks.len()
        )));
    }
    if let Some(few) = ranks.iter().find(|ranks| **ranks < 2) {
        return Err(CommandError::usage(format!(
            "--ranks {few}: communicators of at least 2 ranks were expected"
        )));
    }
    let cells = match &arguments.profile {
        Some(path) => of_profile(arguments, path, &ranks)?,
        None => {
            let ranks = if ranks.is_empty() { vec![0] } else { ranks };
            usual_cells(&arguments.collectives, &arguments.sizes, &ranks)
        }
    };
    match (cells.is_empty(), &arguments.profile) {
        (false, _) => Ok(cells),
        (true, None) => Err(CommandError::usage(
            "nothing to measure: the lists name no call on more than one rank with buffers of at \
             most 256 MiB; give smaller --sizes or --ranks",
        )),
        (true, Some(path)) => Err(CommandError::usage(format!(
            "{}: has no collective that can be measured with these --collectives, --ranks and \
             --sizes; leave some out, or the profile",
            path.display()
        ))),
    }
}

fn of_profile(
    arguments: &Arguments,
    path: &Path,
    ranks: &[usize],
) -> Result<Vec<Cell>, CommandError> {
    let profile = Profile::read(path)?;
    let cells = cells_of_records(&profile.collectives, &arguments.collectives);
    Ok(wanted(cells, ranks, &arguments.sizes))
}

/// The cells with one of the given ranks and sizes, if any are given; only the first of these.
fn wanted(mut cells: Vec<Cell>, ranks: &[usize], sizes: &[u64]) -> Vec<Cell> {
    let sizes: Vec<u64> = sizes.iter().map(|&bytes| cell_bytes(bytes)).collect();
    let has_size =
        |cell: &Cell| sizes.contains(&cell.bytes) || cell.operation == Operation::Barrier;
    cells.retain(|cell| ranks.is_empty() || ranks.contains(&cell.ranks));
    cells.retain(|cell| sizes.is_empty() || has_size(cell));
    cells.truncate(MOST_CELLS);
    cells
}

/// Runs the measuring program, which writes `output`.
fn measure(arguments: &Arguments, cells: &[Cell], output: &Path) -> Result<u8, CommandError> {
    let launcher = Launcher::detect(&arguments.command)?;
    let family = launcher.family;
    let program = measuring::program("tune", TUNE_VARIABLE)?;
    let paths = [program.clone(), output.to_owned()];
    let before = modified(output);
    let mut words = arguments.command.clone();
    words.extend([
        program.into_os_string(),
        measuring::libraries(&launcher)?,
        output.as_os_str().to_owned(),
        arguments.time_limit.as_secs_f64().to_string().into(),
        arguments.commutative.to_string().into(),
    ]);
    words.extend(
        cells.iter().map(|cell| {
            OsString::from(format!("{}:{}:{}", cell.operation, cell.ranks, cell.bytes))
        }),
    );
    // Without it Open MPI's algorithms cannot be chosen; the user's own value is not changed.
    let needed = "OMPI_MCA_coll_tuned_use_dynamic_rules";
    let is_needed = family != Family::Hydra && std::env::var_os(needed).is_none();
    let mut job = match arguments.without_plans {
        true => treepie_launch::without_library(&words, &paths)?,
        // Plans are run on communicators with particular names.
        false => treepie_launch::shown_with(
            &words,
            &[
                ("TREEPIE_MODE", "replay".into()),
                ("TREEPIE_COLLECTIVES", "by-name".into()),
                ("TREEPIE_GUARD", "off".into()),
            ],
            &paths,
        )?,
    };
    job.environment
        .extend(is_needed.then(|| (needed.to_owned(), OsString::from("1"))));
    let working = (!arguments.printing.quiet)
        .then(|| output::Working::within("measuring", arguments.time_limit));
    let status = treepie_launch::job::run(&job)?;
    drop(working);
    if modified(output) == before {
        return Err(CommandError::failed(format!(
            "nothing was measured: the job ended with status {status} before it was done; see its \
             messages above, or try the launcher with `hostname`"
        )));
    }
    Ok(status)
}

fn modified(path: &Path) -> Option<SystemTime> {
    let data = std::fs::metadata(path);
    data.and_then(|data| data.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requested cells may come after forty others that matter more.
    #[test]
    fn a_profile_is_filtered_before_it_is_cut() {
        let cell = |ranks, bytes| Cell {
            operation: Operation::Bcast,
            ranks,
            bytes,
        };
        let mut cells: Vec<Cell> = (0..MOST_CELLS).map(|_| cell(16, 1024)).collect();
        cells.extend([cell(16, 8), cell(4, 1024)]);
        assert_eq!(wanted(cells.clone(), &[], &[8]), [cell(16, 8)]);
        assert_eq!(wanted(cells.clone(), &[4], &[]), [cell(4, 1024)]);
        assert_eq!(wanted(cells, &[], &[]).len(), MOST_CELLS);
    }
}
