//! The profile as it is written, apart from its matrices.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::records::Records;
use super::{Host, MpiDescription, Profile};
use crate::affinity::{Layer, TrafficMatrix};
use crate::files::{FileError, Kind, VERSION, list};

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
    #[serde(default, skip_serializing_if = "Records::is_empty")]
    collectives: Records,
    pub(super) layers: Vec<LayerFiles>,
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

/// Where the matrices of a layer are, and what they add up to.
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
    pub(super) fn of(path: &Path, layer: Layer, traffic: &TrafficMatrix) -> LayerFiles {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = [".yaml", ".yml"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        let total = traffic.total();
        LayerFiles {
            layer: layer.to_string(),
            messages_matrix: format!("{stem}.{layer}.messages.mtx"),
            bytes_matrix: format!("{stem}.{layer}.bytes.mtx"),
            pairs: traffic.non_zeros(),
            messages: total.messages,
            bytes: total.bytes,
        }
    }
}

impl Document {
    pub(super) fn of(profile: &Profile, layers: Vec<LayerFiles>) -> Document {
        let copy = profile.clone();
        Document {
            treepie: Kind::Profile.to_string(),
            version: VERSION,
            producer: copy.producer,
            date: copy.date,
            mpi: copy.mpi,
            command: copy.command,
            notes: copy.notes,
            ranks: copy.ranks,
            hosts: copy.hosts,
            allowed_cores: together(&copy.allowed_cores),
            process_of_rank: copy.process_of_rank,
            collectives: Records::of(&copy.collectives),
            layers,
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
        let allowed_cores = apart(&self.allowed_cores, self.process_of_rank.len())
            .map_err(|problem| FileError::field(path, "allowed_cores", problem))?;
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
