//! Steps of `treepie hosts`: hosts and pattern, order, answer.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use treepie_base::text::write;
use treepie_base::{Leaf, List, Rank, check_writable};
use treepie_launch::allocation;
use treepie_launch::error::CommandError;
use treepie_placement::objective::Objective;
use treepie_placement::{Hardware, Options, Strategy, place};
use treepie_report::input::choice::MatrixChoice;
use treepie_report::input::machine::JobHosts;
use treepie_report::input::traffic::{Input, USUAL_MESSAGE};
use treepie_report::words::pluralize;
use treepie_topology::Topology;
use treepie_traffic::{Matrix, Pattern, PatternError};

use super::arguments::Arguments;
use super::{files, names};
use crate::commands::map::arguments::processors;
use crate::commands::outcome::Outcome;

/// An order of hosts and its cost.
#[derive(Debug, Serialize)]
struct Answer {
    pattern: String,
    hosts: Vec<String>,
    ranks_per_host: usize,
    /// Mean number of links between hosts that exchange data, in the given order and in the new
    /// one.
    hops: [f64; 2],
    /// Ratio of the load of the most loaded link to that in the given order.
    most_loaded: f64,
    master: String,
}

/// Orders the hosts.
pub fn run(arguments: &Arguments) -> Outcome {
    if !arguments.above.is_given() {
        return Err(CommandError::usage(
            "no network: an order depends on it; name one with --network, such as torus:8x8x8 or a \
             topology.conf, or a --platform",
        ));
    }
    if let Some(path) = &arguments.output {
        check_writable(path)?;
    }
    let given = given_hosts(arguments)?;
    let per_host = arguments.ranks_per_host as usize;
    let matrix = pattern(&arguments.pattern, given.len(), per_host)?;
    let answer = order(arguments, given, &matrix)?;
    if let Some(path) = &arguments.output {
        write(path, &files::text(path, &answer.hosts, per_host))?;
    }
    let output = arguments.output.as_deref();
    arguments
        .printing
        .answer(|| &answer, || answer.text(output))?;
    Ok(ExitCode::SUCCESS)
}

/// The given hosts, each once.
fn given_hosts(arguments: &Arguments) -> Result<Vec<String>, CommandError> {
    let hosts = match &arguments.hosts {
        Some(list) => allocation::named(list)
            .map_err(|problem| CommandError::usage(format!("--hosts {list}: {problem}")))?,
        None => allocation::of_scheduler().ok_or_else(|| {
            CommandError::usage("no hosts: there is no allocation here; name them with --hosts")
        })?,
    };
    Ok(hosts.into_iter().map(|host| host.name).collect())
}

/// Traffic between the hosts in the order of their ranks.
fn pattern(text: &str, hosts: usize, per_host: usize) -> Result<Matrix, CommandError> {
    let ranks = hosts.saturating_mul(per_host);
    let usage = |error: PatternError| CommandError::usage(format!("--pattern: {error}"));
    let named = match text.parse::<Pattern>() {
        Ok(pattern) => {
            pattern.require_ranks(text, ranks).map_err(usage)?;
            return Ok(pattern.between_hosts(hosts, per_host)?);
        }
        Err(_) if Path::new(text).exists() => Path::new(text),
        Err(error) => return Err(usage(error)),
    };
    let choice = MatrixChoice::default();
    let input = Input::read(named, &choice)?;
    if input.ranks() != ranks {
        return Err(CommandError::usage(format!(
            "{text} has {} ranks, and the hosts have {ranks}; change --hosts or --ranks-per-host",
            input.ranks()
        )));
    }
    let matrix = input.bytes(&choice)?;
    let between = matrix
        .entries()
        .map(|(from, to, bytes)| (from / per_host, to / per_host, bytes))
        .filter(|(from, to, _)| from != to);
    Ok(Matrix::from_entries(hosts, between)?)
}

fn order(
    arguments: &Arguments,
    given: Vec<String>,
    matrix: &Matrix,
) -> Result<Answer, CommandError> {
    // A network whose positions have no names takes hosts in the order of their numbers.
    let sorted = names::by_number(&given);
    let sorted: Vec<&str> = sorted.iter().map(String::as_str).collect();
    let job = JobHosts {
        names: &sorted,
        locations: &[],
    };
    let one_each = Topology::from_arities("1")?;
    let (topology, network) = arguments.above.on_network(one_each, job, USUAL_MESSAGE)?;
    let hardware = Hardware {
        topology: &topology,
        network: network.as_ref(),
    };
    let on_network = topology.hosts();
    let leaves: HashMap<&str, usize> = on_network.iter().copied().zip(0..).collect();
    let leaf = |host: &String| {
        let leaf = leaves.get(host.as_str()).copied().map(Leaf);
        leaf.ok_or_else(|| {
            CommandError::usage(format!(
                "{host}: the network has no such host; check --hosts"
            ))
        })
    };
    let before = given.iter().map(leaf).collect::<Result<Vec<_>, _>>()?;
    let before: List<Rank, Leaf> = before.into_iter().collect();
    let options = Options {
        current: Some(&before),
        seed: arguments.seed.seed.unwrap_or_default(),
        threads: processors(),
        objective: Objective::usual(network.as_ref()),
        ..Options::default()
    };
    let usable = topology.clone().allowing_only(&before.raw)?;
    let usable = Hardware {
        topology: &usable,
        network: network.as_ref(),
    };
    let after = place(Strategy::Best, matrix, usable, &options)?
        .placement
        .leaf_of_rank;
    let hosts: Vec<String> = after
        .iter()
        .map(|leaf| on_network[leaf.0].to_owned())
        .collect();
    let total = matrix.total().max(f64::MIN_POSITIVE);
    // Hop-bytes have the mean of both directions.
    let hops = [&before, &after].map(|order| 2.0 * hardware.hop_bytes(matrix, order) / total);
    let loads = [&before, &after].map(|order| hardware.max_link_load(matrix, order));
    Ok(Answer {
        pattern: arguments.pattern.clone(),
        ranks_per_host: arguments.ranks_per_host as usize,
        hops,
        most_loaded: if loads[0] > 0.0 {
            loads[1] / loads[0]
        } else {
            1.0
        },
        master: hosts.first().cloned().unwrap_or_default(),
        hosts,
    })
}

impl Answer {
    fn text(&self, output: Option<&Path>) -> String {
        let [before, after] = self.hops;
        let mut text = format!(
            "{}: {}, {} on each\n\
             links between hosts that exchange, mean: {before:.2} in the order given, {after:.2} in \
             the new one\n\
             most loaded link: {:.2} times that in the order given\n",
            self.pattern,
            pluralize(self.hosts.len(), "host"),
            pluralize(self.ranks_per_host, "rank"),
            self.most_loaded
        );
        match output {
            Some(path) => text += &format!("{}: written\n", path.display()),
            None => text += &format!("{}\n", self.hosts.join(",")),
        }
        text + &format!("MASTER_ADDR={}\n", self.master)
    }
}
