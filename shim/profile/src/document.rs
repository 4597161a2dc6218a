//! The profile as it is written, apart from its matrices.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::locality::LocalityDocument;
use super::phases::PhaseDocument;
use super::records::Records;
use super::times::TimesDocument;
use super::{GuardedCell, GuardedEpochs, Host, HostTopology, MpiDescription, Profile, WindowUse};
use treepie_base::{FileError, Kind, VERSION, list};
use treepie_topology::formats::HostLocation;
use treepie_traffic::{Layer, TrafficMatrix};

/// The YAML file. `complete` is its last line: without it the file was cut off.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    treepie: String,
    version: u64,
    producer: String,
    date: String,
    mpi: MpiDescription,
    command: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    pub(super) ranks: usize,
    hosts: Vec<Host>,
    allowed_cores: Vec<AllowedCores>,
    #[serde(with = "list")]
    process_of_rank: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list")]
    missing_ranks: Vec<usize>,
    #[serde(default, skip_serializing_if = "Records::is_empty")]
    collectives: Records,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    locality: Option<LocalityDocument>,
    pub(super) layers: Vec<LayerFiles>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) phases: Vec<PhaseDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shared_memory: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<TimesDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<WindowUse>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guard: Vec<GuardedCell>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guarded_epochs: Vec<GuardedEpochs>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    topologies: Vec<HostTopology>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locations: Vec<HostLocation>,
    complete: bool,
}

/// Processes that may run on the same cores.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedCores {
    #[serde(with = "list")]
    processes: Vec<usize>,
    cores: String,
}

/// Files of the matrices of a layer, and their sums.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerFiles {
    pub(super) layer: String,
    pub(super) messages_matrix: String,
    pub(super) bytes_matrix: String,
    /// Ordered pairs of ranks with traffic.
    pub(super) pairs: usize,
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

impl LayerFiles {
    /// The names of the matrices of the layer of the profile at `path`.
    /// `phase` and whether they are compressed is in the names.
    pub(super) fn new(
        path: &Path,
        phase: Option<&str>,
        layer: Layer,
        traffic: &TrafficMatrix,
        compressed: bool,
    ) -> LayerFiles {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = [".yaml", ".yml"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        let stem = match phase {
            Some(name) => format!("{stem}.phase-{}", plain(name)),
            None => stem.to_owned(),
        };
        let ending = if compressed { "mtx.gz" } else { "mtx" };
        let total = traffic.total();
        LayerFiles {
            layer: layer.to_string(),
            messages_matrix: format!("{stem}.{layer}.messages.{ending}"),
            bytes_matrix: format!("{stem}.{layer}.bytes.{ending}"),
            pairs: traffic.non_zeros(),
            messages: total.messages,
            bytes: total.bytes,
        }
    }
}

/// A name that can be part of a file's name.
fn plain(name: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        '-' | '_' | '.' => letter,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

impl Document {
    pub(super) fn new(
        profile: &Profile,
        layers: Vec<LayerFiles>,
        phases: Vec<PhaseDocument>,
    ) -> Document {
        Document {
            treepie: Kind::Profile.to_string(),
            version: VERSION,
            producer: profile.producer.clone(),
            date: profile.date.clone(),
            mpi: profile.mpi.clone(),
            command: profile.command.clone(),
            notes: profile.notes.clone(),
            ranks: profile.ranks,
            hosts: profile.hosts.clone(),
            allowed_cores: together(&profile.allowed_cores),
            process_of_rank: profile.process_of_rank.clone(),
            missing_ranks: profile.missing_ranks.clone(),
            collectives: Records::new(&profile.collectives),
            locality: profile.locality.as_ref().map(LocalityDocument::new),
            layers,
            phases,
            shared_memory: profile
                .shared_memory
                .iter()
                .map(|g| list::to_text(g))
                .collect(),
            times: profile.times.as_ref().map(TimesDocument::new),
            windows: profile.windows.clone(),
            guard: profile.guard.clone(),
            guarded_epochs: profile.guarded_epochs.clone(),
            topologies: profile.topologies.clone(),
            locations: profile.locations.clone(),
            complete: true,
        }
    }

    /// The profile, without its matrices and still to be checked.
    pub(super) fn build(self, path: &Path) -> Result<Profile, FileError> {
        if !self.complete {
            let problem = "is false; take the profile again";
            return Err(FileError::field(path, "complete", problem));
        }
        let collectives = self
            .collectives
            .build()
            .map_err(|(field, problem)| FileError::field(path, field, problem))?;
        let locality = self
            .locality
            .map(|locality| locality.build(path, self.ranks));
        let allowed_cores = apart(&self.allowed_cores, self.process_of_rank.len())
            .map_err(|problem| FileError::field(path, "allowed_cores", problem))?;
        let shared_memory = self
            .shared_memory
            .iter()
            .map(|group| list::parse(group))
            .collect::<Result<_, _>>()
            .map_err(|problem| FileError::field(path, "shared_memory", problem))?;
        let times = self.times.map(|times| times.build(self.ranks)).transpose();
        let times = times.map_err(|problem| FileError::field(path, "times", problem))?;
        for topology in &self.topologies {
            topology
                .machine()
                .map_err(|problem| FileError::field(path, "topologies", problem))?;
        }
        Ok(Profile {
            producer: self.producer,
            date: self.date,
            mpi: self.mpi,
            command: self.command,
            notes: self.notes,
            ranks: self.ranks,
            hosts: self.hosts,
            process_of_rank: self.process_of_rank,
            allowed_cores,
            collectives,
            locality: locality.transpose()?,
            missing_ranks: self.missing_ranks,
            shared_memory,
            times,
            windows: self.windows,
            guard: self.guard,
            guarded_epochs: self.guarded_epochs,
            topologies: self.topologies,
            locations: self.locations,
            ..Profile::new(0)
        })
    }
}

/// Neighbouring processes with the same cores, together.
fn together(allowed_cores: &[String]) -> Vec<AllowedCores> {
    let mut groups: Vec<AllowedCores> = Vec::new();
    for (process, cores) in allowed_cores.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if group.cores == *cores => group.processes.push(process),
            _ => groups.push(AllowedCores {
                processes: vec![process],
                cores: cores.clone(),
            }),
        }
    }
    groups
}

/// The cores of each of `count` processes.
fn apart(groups: &[AllowedCores], count: usize) -> Result<Vec<String>, String> {
    let mut cores: Vec<Option<String>> = vec![None; count];
    for group in groups {
        for &process in &group.processes {
            let slot = cores.get_mut(process).ok_or_else(|| {
                format!("process {process} is none of the {count}, which count from 0; correct it")
            })?;
            if slot.replace(group.cores.clone()).is_some() {
                return Err(format!(
                    "process {process} is listed twice; keep one of them"
                ));
            }
        }
    }
    let missing = |process| format!("process {process} is missing; list the cores it may use");
    cores
        .into_iter()
        .enumerate()
        .map(|(process, cores)| cores.ok_or_else(|| missing(process)))
        .collect()
}
