//! `treepie predict --protocols`: what waves of checkpoints would cost a job on a platform.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use treepie_launch::error::CommandError;
use treepie_platform::Platform;
use treepie_report::checkpoints::{ProtocolRow, Report};
use treepie_report::input::choice::size;
use treepie_report::picture::{Format, write_drawing};
use treepie_resilience::checkpoint::{
    Costs, Experiment, ExperimentError, Pattern, Program, Protocol, Servers, run as run_waves,
};

use crate::commands::options::{Printing, seconds};
use crate::commands::outcome::Outcome;

/// Options for the cost of checkpoints.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
#[group(conflicts_with_all = ["collective", "measured", "bytes", "root", "segment", "algorithm",
                              "pieces"])]
pub struct CheckpointOptions {
    /// Predict a job with waves of checkpoints instead of a collective, by protocol: blocking,
    /// by-cluster, non-blocking, hybrid, logging, several separated by commas, or all. No
    /// checkpoint is made
    #[arg(long, value_name = "PROTOCOLS", value_parser = protocols)]
    protocols: Option<Protocols>,
    /// Time between the starts of two waves; several separated by commas
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "10min",
          value_parser = seconds, requires = "protocols")]
    interval: Vec<f64>,
    /// Checkpoint servers: their number in addition to the hosts of each cluster, several numbers
    /// separated by commas, or names of hosts
    #[arg(
        long,
        value_name = "N|HOSTS",
        default_value = "1",
        requires = "protocols"
    )]
    servers: String,
    /// Image of a rank [default: 1.6 GB shared by all ranks, and 15 MB]
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "protocols")]
    image: Option<u64>,
    /// Messages of the job: bt (long messages to six neighbours, NPB BT of class B), cg (sums and
    /// a transpose, NPB CG of class C)
    #[arg(long, value_name = "PATTERN", default_value = "bt", value_parser = str::parse::<Pattern>,
          requires = "protocols")]
    pattern: Pattern,
    /// Time that a rank computes in the whole job
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = seconds,
          requires = "protocols")]
    work: f64,
    /// Bytes per second of a host's disk, which stores a copy of each image [default: 40 MB/s]
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "protocols")]
    local_disk: Option<u64>,
    /// Bytes per second of a server's disk [default: its memory stores all images]
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "protocols")]
    server_disk: Option<u64>,
    /// Event loggers of message logging, assigned to the clusters round-robin
    #[arg(long, value_name = "N", default_value = "1", requires = "protocols")]
    loggers: usize,
}

/// Protocols to compare.
#[derive(Debug, Clone)]
struct Protocols(Vec<Protocol>);

fn protocols(text: &str) -> Result<Protocols, String> {
    if text == "all" {
        return Ok(Protocols(Protocol::ALL.to_vec()));
    }
    let named = text.split(',').map(str::trim).map(str::parse::<Protocol>);
    let named = named.collect::<Result<Vec<_>, _>>();
    named
        .map(Protocols)
        .map_err(|unknown| format!("{unknown}, all"))
}

impl CheckpointOptions {
    /// True if checkpoints are requested.
    pub fn is_given(&self) -> bool {
        self.protocols.is_some()
    }

    /// Sets of servers: one for each number, or the named hosts.
    fn servers(&self) -> Vec<Servers> {
        let words = || self.servers.split(',').map(str::trim);
        match words().map(str::parse).collect::<Result<Vec<usize>, _>>() {
            Ok(counts) => counts.into_iter().map(Servers::InEachCluster).collect(),
            Err(_) => vec![Servers::Hosts(words().map(str::to_owned).collect())],
        }
    }

    fn costs(&self, ranks: usize) -> Costs {
        let usual = Costs::usual(ranks);
        let given = |value: Option<u64>, usual: f64| value.map_or(usual, |value| value as f64);
        Costs {
            image: given(self.image, usual.image),
            local_disk: given(self.local_disk, usual.local_disk),
            server_disk: given(self.server_disk, usual.server_disk),
            loggers: self.loggers,
            ..usual
        }
    }

    /// Every protocol with every set of servers at every interval.
    fn rows(
        &self,
        platform: &Platform,
        program: Program,
    ) -> Result<Vec<ProtocolRow>, CommandError> {
        let mut rows = Vec::new();
        for &protocol in self.protocols.iter().flat_map(|given| &given.0) {
            for servers in self.servers() {
                let experiment = Experiment {
                    platform,
                    program,
                    servers,
                    costs: self.costs(platform.ranks()),
                };
                let outcome = experiment.outcome(protocol).map_err(refused)?;
                for &interval in &self.interval {
                    rows.push(ProtocolRow {
                        interval,
                        servers: experiment.servers.clone(),
                        run: run_waves(outcome.work, &outcome.course, interval),
                        outcome: outcome.clone(),
                    });
                }
            }
        }
        Ok(rows)
    }
}

/// Expresses a refusal in terms of the options.
fn refused(error: ExperimentError) -> CommandError {
    match error {
        ExperimentError::UnknownHost(_) | ExperimentError::NoServer => {
            CommandError::usage(format!("--servers: {error}"))
        }
        ExperimentError::NoLogger => CommandError::usage(format!("--loggers: {error}")),
        ExperimentError::BadNumber { .. } => CommandError::usage(error.to_string()),
        _ => CommandError::failed(error.to_string()),
    }
}

/// Predicts and prints, and draws if requested.
pub fn run(
    file: &Path,
    platform: &Platform,
    options: &CheckpointOptions,
    pictures: &[PathBuf],
    printing: Printing,
) -> Outcome {
    if options.interval.contains(&0.0) {
        return Err(CommandError::usage(
            "--interval 0: give a time above 0, such as 10min",
        ));
    }
    pictures
        .iter()
        .try_for_each(|path| Format::from_path(path).map(|_| ()))?;
    let program = Program::npb(options.pattern, platform.ranks(), options.work);
    let rows = options.rows(platform, program)?;
    // In a table, the message is in a row.
    if let Some(never) = rows.first().and_then(|row| row.run.err())
        && rows.iter().all(|row| row.run.is_err())
    {
        return Err(CommandError::failed(never.to_string()));
    }
    let report = Report {
        file,
        ranks: platform.ranks(),
        clusters: platform.clusters().len(),
        program,
        costs: options.costs(platform.ranks()),
        rows,
    };
    for path in pictures {
        write_drawing(&report.chart(), Format::from_path(path)?, path)?;
    }
    printing.answer(|| report.json(), || report.text())?;
    Ok(ExitCode::SUCCESS)
}
