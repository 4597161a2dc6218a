//! `treepie probe`: measures a platform, or finds the clusters in existing latencies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde_json::json;
use treepie_base::{Cluster, Header, Slice, check_writable, list, time, write_atomically};
use treepie_launch::error::CommandError;
use treepie_launch::family::Launcher;
use treepie_launch::{job, measuring};
use treepie_platform::file::latencies::{self, Latencies};
use treepie_platform::file::magpie::MagpieClusters;
use treepie_platform::file::{PlatformFile, logp_mpi};
use treepie_platform::{
    DEFAULT_TOLERANCE, LatencyMatrix, Link, PartialPlatform, Partition, Platform,
};
use treepie_profile::settings::PROBE_VARIABLE;
use treepie_report::input::choice::size;
use treepie_report::table::Table;
use treepie_report::words::pluralize;
use treepie_report::{platform as report, units};

use super::options::{Printing, absolute_path};
use crate::commands::outcome::Outcome;
use crate::output;

/// Measure a platform: its clusters and the pLogP parameters of its links
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  treepie probe -o grid.platform.yaml -- mpirun -np 64
  treepie probe --ways -o grid.platform.yaml -- mpirun -np 64
  treepie probe --latencies latencies.csv --json
  treepie probe --latencies latencies.csv --hosts n1,n2,n3,n4 -o grid.platform.yaml
  treepie probe --clusters magpie_clusters --table 0-0=lan.logp --table 0-1=wan.logp -o grid.platform.yaml")]
pub struct Arguments {
    /// Find the clusters in this table of latencies instead: comma-separated,
    /// in microseconds, 0 for no link; its first row may name the hosts
    #[arg(long, value_name = "FILE", conflicts_with_all = ["clusters", "command"])]
    latencies: Option<PathBuf>,
    /// Take the clusters of this MagPIe file instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    clusters: Option<PathBuf>,
    /// The hosts of the rows of --latencies or the ranks of --clusters, in their order: if a
    /// platform has these names, the job that runs there measures the missing links
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    hosts: Vec<String>,
    /// LogP-MPI table of the link between two clusters of --clusters, or in one:
    /// 0-1=FILE; may be repeated
    #[arg(long = "table", id = "tables", value_name = "A-B=FILE")]
    tables: Vec<String>,
    /// Relative excess of a cluster's links over its shortest
    #[arg(long, value_name = "PART", default_value_t = DEFAULT_TOLERANCE)]
    tolerance: f64,
    /// Platform to write; with --latencies and without hosts, a MagPIe cluster file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Maximum time for the measurement
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = time::parse)]
    time_limit: Duration,
    /// Largest message to measure: 64K, 1M
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1M")]
    largest: u64,
    /// Maximum number of pairs that measure simultaneously; 0 for all disjoint pairs
    #[arg(long, value_name = "PAIRS", default_value = "0")]
    at_a_time: usize,
    /// Also measure several simultaneous pairs: of two clusters, of two hosts of a cluster, and of
    /// ranks of a host
    #[arg(long)]
    concurrent: bool,
    /// Also measure the response of each cluster when all its ranks send to all others together:
    /// its contention, which predictions of such exchanges then use
    #[arg(long)]
    exchange: bool,
    /// Also measure methods that transfer pieces of data over each link: messages, datatypes,
    /// packing, puts, gets, accumulates, and the kinds of epochs
    #[arg(long)]
    ways: bool,
    #[command(flatten)]
    pub(crate) printing: Printing,
    /// The launcher with its options, without a program
    #[arg(last = true, value_name = "LAUNCHER")]
    pub(crate) command: Vec<OsString>,
}

/// Clusters latencies, joins tables, or measures.
pub fn run(arguments: &Arguments) -> Outcome {
    check(arguments)?;
    if let Some(path) = &arguments.latencies {
        return cluster(arguments, path);
    }
    if let Some(path) = &arguments.clusters {
        return join(arguments, path);
    }
    if !arguments.hosts.is_empty() {
        return Err(CommandError::usage(
            "--hosts: names those of --latencies or --clusters; hosts that are measured name \
             themselves",
        ));
    }
    if arguments.command.is_empty() {
        return Err(CommandError::usage(
            "nothing to measure: write the launcher after --, such as `treepie probe -- mpirun -np \
             16`, or give --latencies FILE",
        ));
    }
    measure(arguments)
}

fn check(arguments: &Arguments) -> Result<(), CommandError> {
    let tolerance = arguments.tolerance;
    if tolerance.is_finite() && tolerance >= 0.0 {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "--tolerance {tolerance}: a number from 0 was expected"
    )))
}

fn cluster(arguments: &Arguments, path: &Path) -> Outcome {
    let Latencies { matrix, names } = latencies::read(path)?;
    let partition = Partition::new(&matrix, arguments.tolerance);
    let hosts = match arguments.hosts.is_empty() {
        true => names,
        false => arguments.hosts.clone(),
    };
    if let (Some(output), false) = (&arguments.output, hosts.is_empty()) {
        let partial = named(&partition.clusters, &hosts)?;
        write_partial(arguments, output, &partial)?;
    } else if let Some(output) = &arguments.output {
        let clusters = MagpieClusters {
            clusters: partition.clusters.clone(),
            least_edges: least_edges(&matrix, &partition),
        };
        write_atomically(output, |out| out.write_all(clusters.to_text().as_bytes()))?;
    }
    let spreads = partition.spread(&matrix);
    let mut table = Table::new(["cluster", "nodes", "longest/shortest", "members"]);
    for (number, members) in partition.clusters.iter_enumerated() {
        table.row([
            number.to_string(),
            members.len().to_string(),
            spreads[number].map_or("-".to_owned(), |spread| format!("{spread:.2}")),
            list::to_text(members),
        ]);
    }
    let words = || {
        format!(
            "{}: {} in {}, tolerance {}\n\n{}",
            path.display(),
            pluralize(matrix.order(), "node"),
            pluralize(partition.clusters.len(), "cluster"),
            arguments.tolerance,
            table.text()
        )
    };
    let json = || json!({ "clusters": partition.clusters });
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds clusters given by numbers whose hosts have these names, without links.
fn named(
    clusters: &Slice<Cluster, Vec<usize>>,
    hosts: &[String],
) -> Result<PartialPlatform, CommandError> {
    let nodes: usize = clusters.iter().map(Vec::len).sum();
    if hosts.len() != nodes {
        return Err(CommandError::usage(format!(
            "--hosts: names {}, and there are {nodes}; name each in its order",
            pluralize(hosts.len(), "host")
        )));
    }
    let member = |number: &usize| (*number, hosts[*number].clone());
    let members = clusters.iter().map(|all| all.iter().map(member).collect());
    PartialPlatform::from_clusters(&members.collect::<Vec<_>>())
        .map_err(|error| CommandError::failed(format!("--hosts: {error}")))
}

/// Writes a platform, some or all of whose links are missing, and prints the next step.
fn write_partial(
    arguments: &Arguments,
    output: &Path,
    partial: &PartialPlatform,
) -> Result<(), CommandError> {
    PlatformFile::write_partial(output, &Header::now(producer()), partial)?;
    if arguments.printing.speaks() {
        output::print(&format!(
            "{}: a job with TREEPIE_PLATFORM={} measures the links that are missing\n",
            output.display(),
            output.display(),
        ))?;
    }
    Ok(())
}

/// The least latency in each cluster and between two.
fn least_edges(matrix: &LatencyMatrix, partition: &Partition) -> Vec<(Cluster, Cluster, f64)> {
    let cluster_of = partition.cluster_of();
    let mut least = std::collections::BTreeMap::new();
    for (a, b, seconds) in matrix.links() {
        let (one, other) = (cluster_of[a], cluster_of[b]);
        let shortest = least
            .entry((one.min(other), one.max(other)))
            .or_insert(seconds);
        *shortest = f64::min(*shortest, seconds);
    }
    least
        .into_iter()
        .map(|((one, other), seconds)| (one, other, seconds))
        .collect()
}

/// Builds a platform from a MagPIe file and LogP-MPI tables: with the given hosts, or else one for
/// each rank, since these files have no hosts.
fn join(arguments: &Arguments, path: &Path) -> Outcome {
    let Some(output) = &arguments.output else {
        return Err(CommandError::usage(
            "--clusters: name the platform to write with --output",
        ));
    };
    let is_named = !arguments.hosts.is_empty();
    if arguments.tables.is_empty() && !is_named {
        return Err(CommandError::usage(
            "--clusters: there are no links; give them with --table, or name the hosts with \
             --hosts, so that a job there measures them",
        ));
    }
    let clusters = MagpieClusters::read(path)?.clusters;
    let hosts = match is_named {
        true => arguments.hosts.clone(),
        false => {
            let ranks = clusters.iter().flatten();
            (0..ranks.count())
                .map(|rank| format!("host{rank}"))
                .collect()
        }
    };
    let mut tables = std::collections::BTreeMap::new();
    for table in &arguments.tables {
        let (pair, link) = read_table(table)?;
        tables.insert(pair, link);
    }
    let mut contents = named(&clusters, &hosts)?.contents().clone();
    for (number, cluster) in contents.clusters.iter_mut_enumerated() {
        cluster.within = tables.remove(&(number, number));
    }
    contents.links = tables;
    if is_named {
        let failed = |error| CommandError::failed(format!("{}: {error}", path.display()));
        let partial = PartialPlatform::new(contents).map_err(failed)?;
        write_partial(arguments, output, &partial)?;
        if arguments.printing.json {
            output::print_json(&json!({ "clusters": clusters }))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let platform = Platform::new(contents)
        .map_err(|error| CommandError::failed(format!("{}: {error}", path.display())))?;
    let file = PlatformFile {
        header: Header::now(producer()),
        mpi: None,
        platform,
    };
    file.write(output)?;
    answer(arguments, output, &file)
}

/// Parses `0-1=FILE`: two clusters and their link.
fn read_table(text: &str) -> Result<((Cluster, Cluster), Link), CommandError> {
    let parts = text.split_once('=').and_then(|(pair, file)| {
        let (one, other) = pair.split_once('-')?;
        let cluster = |number: &str| number.parse().ok().map(Cluster);
        Some(((cluster(one)?, cluster(other)?), file))
    });
    let (pair, file) = parts.ok_or_else(|| {
        CommandError::usage(format!(
            "--table {text}: two clusters and a file were expected, such as 0-1=wan.logp"
        ))
    })?;
    Ok((pair, logp_mpi::read(Path::new(file))?))
}

fn measure(arguments: &Arguments) -> Outcome {
    let named = arguments.output.clone();
    let output = absolute_path(&named.unwrap_or_else(|| "treepie.platform.yaml".into()))?;
    check_writable(&output)?;
    let launcher = Launcher::detect(&arguments.command)?;
    let program = measuring::program("probe", PROBE_VARIABLE)?;
    let before = modified(&output);
    let paths = [program.clone(), output.clone()];
    let mut words = arguments.command.clone();
    words.extend([
        program.into_os_string(),
        measuring::libraries(&launcher)?,
        output.clone().into_os_string(),
        arguments.time_limit.as_secs_f64().to_string().into(),
        arguments.tolerance.to_string().into(),
        arguments.largest.to_string().into(),
        arguments.at_a_time.to_string().into(),
        arguments.concurrent.to_string().into(),
        arguments.exchange.to_string().into(),
        arguments.ways.to_string().into(),
    ]);
    let working = (!arguments.printing.quiet)
        .then(|| output::Working::within("measuring", arguments.time_limit));
    let status = job::run(&treepie_launch::without_library(&words, &paths)?)?;
    drop(working);
    if modified(&output) == before {
        return Err(CommandError::failed(format!(
            "the platform was not measured: the job ended with status {status} before it was done; \
             a host may have failed, or the launcher starts no job: try it with `hostname`"
        )));
    }
    let file = PlatformFile::read(&output)?;
    answer(arguments, &output, &file)?;
    Ok(ExitCode::from(status))
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|data| data.modified())
        .ok()
}

fn answer(arguments: &Arguments, output: &Path, file: &PlatformFile) -> Outcome {
    let shown = arguments.output.as_deref().unwrap_or(output);
    let mut text = format!(
        "{}: {}\n",
        shown.display(),
        report::describe(&file.platform)
    );
    text += &report::probing(&file.platform);
    for (number, cluster) in file.platform.clusters().iter_enumerated() {
        let within = cluster.within.as_ref();
        text += &format!(
            "  {}: {}, ranks {}{}{}\n",
            cluster.name,
            pluralize(cluster.hosts.len(), "host"),
            list::to_text(&file.platform.ranks_of(number)),
            within.map_or(String::new(), |link| format!(
                ", {}",
                units::seconds(link.latency())
            )),
            cluster
                .contention
                .map_or(String::new(), |contention| format!(
                    ", contention {}",
                    report::contention(&contention)
                )),
        );
    }
    arguments.printing.answer(|| report::json(file), || text)?;
    Ok(ExitCode::SUCCESS)
}

fn producer() -> String {
    format!("treepie {}", env!("CARGO_PKG_VERSION"))
}
