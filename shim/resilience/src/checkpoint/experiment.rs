//! Protocols on a platform: the cost of a wave and its parts, and the run with waves.

use serde::Serialize;
use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::{Cluster, from_name};
use treepie_collective::read::simulate::{Occupancy, Options, simulate};
use treepie_collective::{Action, Network, Plan};
use treepie_platform::{Link, Platform};

use super::coordination::{self, Coordination};
use super::course::{self, Course, Iteration, Piece};
use super::routes::{Limit, Routes, Servers};
use crate::checkpoint::costs::Costs;
use crate::checkpoint::error::ExperimentError;
use crate::checkpoint::loggers::Loggers;
use crate::checkpoint::program::Program;

/// Bytes of a determinant: four integers (Coti 2006, 2.5).
const DETERMINANT: f64 = 16.0;

/// Largest number of ranks for which markers, a million messages, are simulated.
const MOST_WITH_MARKERS: usize = 1024;

/// Coordination of checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray, Serialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// All ranks stop, markers empty all channels, images are stored, all continue (Coti's Pcl).
    Blocking,
    /// Like `Blocking`, with counts through a coordinator in each cluster instead of markers.
    ByCluster,
    /// Images are stored while ranks continue; a daemon on each host forwards all messages (Vcl).
    NonBlocking,
    /// Each cluster stops and coordinates separately; messages between clusters are logged by their
    /// senders.
    Hybrid,
    /// Ranks are not coordinated; receives are logged (Vcausal), also through the daemon.
    Logging,
}

from_name!(Protocol, "protocol");

impl Protocol {
    /// All protocols.
    pub const ALL: &[Protocol] = Protocol::VARIANTS;
}

/// A job on a platform, with its servers.
#[derive(Debug, Clone)]
pub struct Experiment<'a> {
    /// The platform; all its ranks take part.
    pub platform: &'a Platform,
    /// Program of the job.
    pub program: Program,
    /// Servers that store images.
    pub servers: Servers,
    /// Other costs.
    pub costs: Costs,
}

/// Cost of a protocol to the job; the run itself is [`super::run`].
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The protocol.
    pub protocol: Protocol,
    /// Run time without waves and without the overhead of the protocol.
    pub plain: f64,
    /// Run time without waves, with the overhead of the protocol on messages.
    pub work: f64,
    /// Course of a wave.
    pub course: Course,
    /// Part of the wave before all ranks may save, and after that before all continue, in seconds.
    pub coordination: f64,
    /// Part of the wave until all images are stored, in seconds.
    pub save: f64,
    /// Bottleneck of the last image.
    pub limit: Option<Limit>,
    /// Number of messages of the coordination.
    pub messages: u64,
    /// Number of bytes of all images.
    pub bytes: f64,
    /// Bytes per second logged by the rank that logs most of its sends.
    pub logged: f64,
    /// The event loggers, if any.
    pub loggers: Option<Loggers>,
}

impl Outcome {
    /// Run time added by a wave, in seconds.
    pub fn lost(&self) -> f64 {
        self.course.seconds() - self.course.progress()
    }
}

impl Experiment<'_> {
    /// Computes the cost of a protocol.
    ///
    /// # Errors
    /// A server does not exist, a number is invalid, or the platform has no ranks.
    pub fn outcome(&self, protocol: Protocol) -> Result<Outcome, ExperimentError> {
        self.costs.check()?;
        if !(self.program.compute.is_finite() && self.program.compute >= 0.0) {
            return Err(ExperimentError::BadNumber {
                what: "the time of computing",
                value: self.program.compute,
            });
        }
        let network = all_ranks(self.platform)?;
        let routes = Routes::new(self.platform, &network, &self.servers, &self.costs)?;
        let plans = self.program.plans(network.ranks());
        let plain = self.iteration(&routes, &network, &plans)?;
        if plain.seconds() <= 0.0 {
            return Err(ExperimentError::BadNumber {
                what: "the time of an iteration",
                value: plain.seconds(),
            });
        }
        let goes_on = matches!(protocol, Protocol::NonBlocking | Protocol::Logging);
        let delay = if goes_on { self.costs.daemon } else { 0.0 };
        let slower = all_ranks(&self.platform.delayed(delay))?;
        let logging =
            (protocol == Protocol::Logging).then(|| self.logging(&slower, &plans, &plain));
        let plans = match &logging {
            Some((_, program)) => program.plans(network.ranks()),
            None => plans,
        };
        let mut iteration = self.iteration(&routes, &slower, &plans)?;
        let bytes = logged_bytes(protocol, &network, &plans);
        iteration.compute += bytes / self.costs.memory;
        let loggers = logging.map(|(loggers, _)| loggers);
        let factor = loggers.map_or(1.0, |loggers| loggers.run_time_factor());
        let (coordination, messages) = coordinated(protocol, &slower)?;
        let (mut course, limit) =
            course::images(&routes, self.costs.image, goes_on.then_some(&iteration));
        let save = course.seconds();
        let first = Piece {
            seconds: coordination,
            speed: if goes_on { 1.0 } else { 0.0 },
        };
        course.pieces.insert(0, first);
        let iterations = self.program.iterations as f64;
        Ok(Outcome {
            protocol,
            plain: iterations * plain.seconds(),
            work: iterations * iteration.seconds() * factor,
            course,
            coordination,
            save,
            limit,
            messages,
            bytes: self.costs.image * network.ranks() as f64,
            logged: bytes / iteration.seconds(),
            loggers,
        })
    }

    /// Simulates one iteration on a network.
    fn iteration(
        &self,
        routes: &Routes,
        network: &Network,
        plans: &[Plan],
    ) -> Result<Iteration, ExperimentError> {
        let communicate = simulate(network, plans, 1, Options::default())?.seconds;
        let occupancy = Occupancy::new(network, plans, 1);
        Ok(Iteration {
            compute: self.program.compute,
            communicate,
            links: routes.messages(&occupancy, communicate),
        })
    }

    /// The event loggers, and the program whose messages carry determinants: those in flight from
    /// the rank whose logger is farthest.
    fn logging(
        &self,
        network: &Network,
        plans: &[Plan],
        iteration: &Iteration,
    ) -> (Loggers, Program) {
        let receives = |plan: &Plan| {
            let steps = plan.steps().iter();
            steps
                .filter(|step| matches!(step.action, Action::Receive { .. }))
                .count()
        };
        let received: usize = plans.iter().map(receives).sum();
        let loggers = Loggers {
            clients: network.ranks(),
            rate: received as f64 / network.ranks() as f64 / iteration.seconds(),
            service: self.costs.logger,
            loggers: self.costs.loggers,
        };
        let carried = loggers.carried(round_trip(network, self.costs.loggers));
        let program = Program {
            bytes: self.program.bytes + (carried * DETERMINANT) as u64,
            ..self.program
        };
        (loggers, program)
    }
}

/// Seconds and number of messages of a wave's coordination.
fn coordinated(protocol: Protocol, network: &Network) -> Result<(f64, u64), ExperimentError> {
    let (kind, times) = match protocol {
        // Ranks continue when they have all markers and their image is stored.
        Protocol::Blocking | Protocol::NonBlocking => (Coordination::Markers, 1),
        // Once for the cut, and once when all images are stored.
        Protocol::ByCluster => (Coordination::ByCluster, 2),
        Protocol::Hybrid => (Coordination::InsideClusters, 2),
        Protocol::Logging => return Ok((0.0, 0)),
    };
    if kind == Coordination::Markers && network.ranks() > MOST_WITH_MARKERS {
        return Err(ExperimentError::TooManyMarkers {
            ranks: network.ranks(),
            most: MOST_WITH_MARKERS,
        });
    }
    let seconds = coordination::seconds(kind, network)?;
    let (ranks, clusters) = (network.ranks() as u64, network.clusters() as u64);
    let messages = coordination::message_count(kind, ranks, clusters);
    Ok((seconds * times as f64, messages * times))
}

/// Seconds from a rank to its event logger and back, for the farthest. Loggers are in the clusters
/// round-robin, and ranks use one of their own cluster if there is one.
fn round_trip(network: &Network, loggers: usize) -> f64 {
    let latency = |cluster: Cluster| {
        let logger = match loggers >= network.clusters() {
            true => cluster,
            false => Cluster(cluster.0 % loggers.max(1)),
        };
        let link = if logger == cluster {
            network.within(cluster)
        } else {
            network.between(cluster, logger)
        };
        link.map_or(0.0, Link::latency)
    };
    2.0 * network.all_clusters().map(latency).fold(0.0, f64::max)
}

/// All ranks of a platform, in its clusters.
fn all_ranks(platform: &Platform) -> Result<Network, ExperimentError> {
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    let network = Network::new(platform, &ranks).filter(|_| !ranks.is_empty());
    network.ok_or(ExperimentError::NoRanks)
}

/// Bytes that the rank which logs most logs in an iteration: those of messages between clusters, or
/// of all messages.
fn logged_bytes(protocol: Protocol, network: &Network, plans: &[Plan]) -> f64 {
    let cluster = network.cluster_of();
    let is_logged = |from: usize, to: usize| match protocol {
        Protocol::Blocking | Protocol::ByCluster | Protocol::NonBlocking => false,
        Protocol::Hybrid => cluster[from] != cluster[to],
        Protocol::Logging => true,
    };
    let of = |(from, plan): (usize, &Plan)| -> u64 {
        let sent = plan.steps().iter().map(|step| match step.action {
            Action::Send { to, range, .. } if is_logged(from, to) => range.length,
            _ => 0,
        });
        sent.sum()
    };
    plans.iter().enumerate().map(of).max().unwrap_or(0) as f64
}
