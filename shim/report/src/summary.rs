//! Summary of a profile in a few lines.

use std::path::Path;

use serde::Serialize;
use treepie_base::printable::one_line;
use treepie_base::{Rank, list};
use treepie_native::traffic::Model;
use treepie_profile::{GuardedCell, GuardedEpochs, Profile, WindowUse};
use treepie_topology::formats::HostLocation;
use treepie_traffic::measures::{imbalance, symmetry};
use treepie_traffic::{Layer, Metric, Traffic, TrafficMatrix};

use super::clusters::{BetweenClusters, ProcessClusters};
use super::collectives::{self, CollectiveSummary};
use super::devices::HostDevices;
use super::phases::{self, PhaseSummary};
use super::table::Table;
use super::times::{self, TimesSummary};
use super::words::pluralize;
use super::{guard, locations, units};
use crate::layers::{LayerSummary, layer_table};
use crate::windows;
use crate::windows::judged::judgement::Judgement;

/// Number of the busiest pairs shown.
pub(crate) const TOP_PAIRS: usize = 10;

/// Summary of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The file.
    pub file: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Hosts, with the number of processes on each.
    pub hosts: Vec<HostSummary>,
    /// The MPI.
    pub mpi: String,
    /// The application's command.
    pub command: String,
    /// Date of the profile.
    pub date: String,
    /// Messages in all layers.
    pub messages: u64,
    /// Bytes in all layers.
    pub bytes: u64,
    /// Each layer that has traffic.
    pub layers: Vec<LayerSummary>,
    /// Each collective with its plan or the native MPI, and the source of its messages.
    pub collectives: Vec<CollectiveSummary>,
    /// Traffic between the clusters used by plans, if some ran.
    pub between_clusters: Option<BetweenClusters>,
    /// Number of ordered pairs of different ranks that communicate.
    pub pairs: usize,
    /// The pairs with the most bytes, the busiest first.
    pub top_pairs: Vec<PairSummary>,
    /// Share of all bytes that is matched in the other direction.
    pub symmetry: f64,
    /// The rank that sends and receives the most bytes, with the ratio to the mean; `None` without
    /// traffic.
    pub busiest: Option<BusiestRank>,
    /// The phases of the run, if it was divided.
    pub phases: Vec<PhaseSummary>,
    /// Time in MPI, if measured.
    pub times: Option<TimesSummary>,
    /// One-sided communication, by window and kind of epoch.
    pub windows: Vec<WindowUse>,
    /// Its cost on a platform, and that of alternatives, if a platform was given.
    pub one_sided: Option<Judgement>,
    /// Network interfaces and GPUs of the hosts, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<HostDevices>,
    /// Locations of the hosts on their network, as far as reported by their systems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<HostLocation>,
    /// Results of the guard on collectives.
    pub guard: Vec<GuardedCell>,
    /// Results of the guard on small puts and accumulates.
    pub guarded_epochs: Vec<GuardedEpochs>,
    /// Groups of ranks that share memory and must stay on one node.
    pub shared_memory: Vec<Vec<Rank>>,
    /// Ranks whose traffic is missing.
    pub missing_ranks: Vec<Rank>,
    /// Remarks of the library.
    pub notes: Vec<String>,
    /// True if the launcher's order of processes is not the order of ranks.
    pub permuted: bool,
}

/// The rank with the most traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BusiestRank {
    /// The rank.
    pub rank: Rank,
    /// Ratio of its bytes, sent and received, to the mean of all ranks.
    pub times_the_mean: f64,
}

impl From<(usize, f64)> for BusiestRank {
    fn from((rank, times_the_mean): (usize, f64)) -> Self {
        BusiestRank {
            rank: Rank(rank),
            times_the_mean,
        }
    }
}

impl BusiestRank {
    /// Formats symmetry and balance of a matrix in two lines.
    pub fn text(&self, symmetry: f64) -> String {
        format!(
            "symmetry: {:.1} % is answered by as much in the other direction\n\
             balance: rank {} has most, {:.2} times the mean\n",
            100.0 * symmetry,
            self.rank,
            self.times_the_mean
        )
    }
}

/// A host and its processes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostSummary {
    /// Its name.
    pub name: String,
    /// Number of processes.
    pub processes: usize,
}

/// Traffic from one rank to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairSummary {
    /// Sender.
    pub from: Rank,
    /// Receiver.
    pub to: Rank,
    /// Messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Summary {
    /// Summarizes a profile that was read from `path`. Collectives are expanded by `model`, or as
    /// run by plans; the others as in the job's MPI.
    pub fn new(path: &Path, profile: &Profile, model: Option<Model>) -> Self {
        let collectives = collectives::for_profile(profile, model);
        let mut all = TrafficMatrix::new(profile.ranks);
        let mut layers = Vec::new();
        for &layer in Layer::ALL {
            let of_layer = profile.traffic_by(&[layer], model);
            let sum = of_layer.total();
            for (from, to, traffic) in of_layer.entries() {
                all.add(from, to, traffic);
            }
            if layer == Layer::Collectives {
                layers.extend(collectives::layers(&collectives, &layer.to_string()));
            } else if !sum.is_none() {
                layers.push(LayerSummary::counted(layer, sum));
            }
        }
        let total = all.total();
        let size = all.affinity(Metric::Size);
        let hosts = profile.hosts.iter().map(|host| HostSummary {
            name: host.name.clone(),
            processes: host.processes.len(),
        });
        let partners = all.entries().filter(|(from, to, _)| from != to);
        Summary {
            file: path.display().to_string(),
            ranks: profile.ranks,
            hosts: hosts.collect(),
            mpi: mpi_in_words(profile),
            command: one_line(&profile.command.join(" ")),
            date: profile.header.date.clone(),
            messages: total.messages,
            bytes: total.bytes,
            layers,
            collectives,
            between_clusters: ProcessClusters::of(profile)
                .and_then(|clusters| clusters.of_ranks(profile))
                .map(|clusters| BetweenClusters::new(&size, &clusters)),
            pairs: partners.count(),
            top_pairs: top_pairs(&all),
            symmetry: symmetry(&size),
            busiest: imbalance(&size).map(BusiestRank::from),
            phases: phases::for_profile(profile, &all, model),
            times: times::for_profile(profile),
            windows: profile.windows.clone(),
            one_sided: None,
            devices: HostDevices::of_profile(profile),
            locations: profile.locations.clone(),
            guard: profile.guard.clone(),
            guarded_epochs: profile.guarded_epochs.clone(),
            shared_memory: profile.shared_memory.clone(),
            missing_ranks: profile.missing_ranks.clone(),
            notes: profile.notes.clone(),
            permuted: profile
                .process_of_rank
                .iter_enumerated()
                .any(|(rank, process)| rank.0 != process.0),
        }
    }

    /// Formats one line, for use after a job.
    pub fn short_text(&self) -> String {
        let mut text = format!(
            "treepie: {}: {}, {} messages, {}",
            self.file,
            pluralize(self.ranks, "rank"),
            units::count(self.messages as f64),
            units::bytes(self.bytes as f64)
        );
        if let Some(top) = self.top_pairs.first() {
            text += &format!(
                "; most from rank {} to {} ({})",
                top.from,
                top.to,
                units::share(top.bytes as f64, self.bytes as f64)
            );
        }
        text + "\n"
    }

    /// Formats the whole summary.
    pub fn text(&self) -> String {
        let hosts = match &self.hosts[..] {
            [host] => host.name.clone(),
            hosts => pluralize(hosts.len(), "host"),
        };
        let mut text = format!(
            "{}: profile of {} on {hosts}, {}\n",
            self.file,
            pluralize(self.ranks, "rank"),
            self.mpi
        );
        text += &format!("  {}\n  {}\n", self.date, self.command);
        if self.permuted {
            text +=
                "  taken during a replay: ranks ran on other processes than the launcher's order\n";
        }
        for note in &self.notes {
            text += &format!("  {note}\n");
        }
        text.push('\n');
        text += &self.layer_table().text();
        if collectives::is_any_planned(&self.collectives) {
            text += &format!("\n{}", collectives::table(&self.collectives).text());
        }
        if let Some(between) = &self.between_clusters {
            text += &format!("\n{}\n", between.text());
        }
        for (number, group) in self.shared_memory.iter().enumerate() {
            text += match number {
                0 => "\nshared memory, so they must stay on one node: ranks ",
                _ => "; ranks ",
            };
            text += &list::to_text(group);
        }
        text += if self.shared_memory.is_empty() {
            ""
        } else {
            "\n"
        };
        text += &format!(
            "\n{} of ranks communicate",
            pluralize(self.pairs, "ordered pair")
        );
        if self.top_pairs.is_empty() {
            text += "\n";
        } else {
            text += "; most bytes go\n";
            text += &self.pair_table().text();
        }
        if let Some(busiest) = &self.busiest {
            text += &format!("\n{}", busiest.text(self.symmetry));
        }
        if !self.phases.is_empty() {
            text += &format!("\n{}", phases::text(&self.phases));
        }
        if !self.windows.is_empty() {
            text += &format!("\n{}", windows::text(&self.windows));
        }
        if let Some(judgement) = &self.one_sided {
            text += &format!("\n{}", judgement.text());
        }
        for devices in &self.devices {
            text += &format!("\n{}", devices.text());
        }
        text += &locations::text(&self.locations);
        if !self.guard.is_empty() {
            text += &format!("\n{}", guard::text(&self.guard));
        }
        if !self.guarded_epochs.is_empty() {
            text += &format!("\n{}", guard::epochs_text(&self.guarded_epochs));
        }
        if let Some(times) = &self.times {
            text += &format!("\n{}", times.text());
        }
        text
    }

    /// Messages and bytes of each layer.
    pub fn layer_table(&self) -> Table {
        layer_table(&self.layers)
    }

    /// The busiest pairs.
    pub(crate) fn pair_table(&self) -> Table {
        let mut table = Table::new(["from -> to", "messages", "bytes", "share"]);
        for pair in &self.top_pairs {
            table.row([
                format!("{} -> {}", pair.from, pair.to),
                units::count(pair.messages as f64),
                units::bytes(pair.bytes as f64),
                units::share(pair.bytes as f64, self.bytes as f64),
            ]);
        }
        table
    }
}

/// The pairs of different ranks with the most bytes; of equal ones, the first.
fn top_pairs(all: &TrafficMatrix) -> Vec<PairSummary> {
    let mut pairs: Vec<(usize, usize, Traffic)> =
        all.entries().filter(|(from, to, _)| from != to).collect();
    pairs.sort_by_key(|&(from, to, traffic)| (std::cmp::Reverse(traffic.bytes), from, to));
    pairs.truncate(TOP_PAIRS);
    let summary = |(from, to, traffic): (usize, usize, Traffic)| PairSummary {
        from: Rank(from),
        to: Rank(to),
        messages: traffic.messages,
        bytes: traffic.bytes,
    };
    pairs.into_iter().map(summary).collect()
}

/// The library's own first line is more precise than the name of its family.
fn mpi_in_words(profile: &Profile) -> String {
    let library = profile
        .mpi
        .library
        .lines()
        .next()
        .unwrap_or_default()
        .trim();
    match library.split(',').next() {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => profile.mpi.family.clone(),
    }
}
