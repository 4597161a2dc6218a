//! Profiles: the traffic between ranks in one run of a job.
//!
//! A profile is a YAML file and, beside it, two MatrixMarket files for each
//! layer of traffic that was counted. The YAML is written last and states what
//! the matrices add up to: matrices of another run are noticed and refused.
//!
//! ```text
//! partial_profiles   the file of one rank, and how those of all become a profile
//! settings           the settings of a run, from variables and YAML
//! experience         the store of what earlier runs of an application taught
//! any                a file of any kind
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod any;
mod document;
mod epochs;
pub mod experience;
mod foreseen;
mod guard;
mod layers;
mod locality;
pub mod partial_profiles;
mod phases;
mod records;
pub mod settings;
#[cfg(test)]
mod tests;
mod times;
mod topologies;
mod windows;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use document::Document;
pub use epochs::{GuardResults, GuardedEpochs};
pub use guard::{GuardedCell, GuardedPlan};
pub(crate) use locality::locality_from_text;
pub use locality::locality_text;
pub use phases::Phase;
pub use times::Times;
pub use topologies::HostTopology;
use treepie_base::permutation::PermutationError;
use treepie_base::{FileError, Kind, header, list, permutation, text, yaml};
use treepie_collective::{self, Clusters, Locality, Network, Record};
use treepie_native::traffic::{Model, expand, expand_as_run};
use treepie_topology::formats::HostLocation;
use treepie_traffic::{Layer, TrafficMatrix};
pub use windows::{EpochUse, Moved, WindowUse};

/// The MPI library that a job ran with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MpiDescription {
    /// The family, which decides about the binary interface: `open-mpi`, `mpich`.
    pub family: String,
    /// What `MPI_Get_library_version` says, first line.
    pub library: String,
    /// The version of the MPI standard, such as `3.1`.
    pub standard: String,
}

/// A machine and the launcher's processes that ran on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The name of the machine.
    pub name: String,
    /// The processes, numbered as in the launcher's `MPI_COMM_WORLD`.
    #[serde(with = "list")]
    pub processes: Vec<usize>,
}

/// A profile. Matrices and records speak in the application's ranks; hosts and
/// cores in the launcher's processes; `process_of_rank` leads from one to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// What wrote the file, such as `treepie 0.1.0`.
    pub producer: String,
    /// When, in UTC: `2026-11-21T04:03:48Z`.
    pub date: String,
    /// The MPI library that the job ran with.
    pub mpi: MpiDescription,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Remarks of the launcher or the library, as text for people.
    pub notes: Vec<String>,
    /// Number of ranks, and of processes.
    pub ranks: usize,
    /// The machines; each process is on one of them.
    pub hosts: Vec<Host>,
    /// The launcher's process that ran each rank of the application.
    pub process_of_rank: Vec<usize>,
    /// Ranks that left nothing, because the job had no orderly end: what they
    /// sent is missing. Their processes and hosts are made up.
    pub missing_ranks: Vec<usize>,
    /// The cores that each process was allowed to use, as Linux writes them:
    /// `0-3,8`; empty where it is not known.
    pub allowed_cores: Vec<String>,
    /// Messages that the application sent itself.
    pub point_to_point: TrafficMatrix,
    /// Puts, gets and accumulates, from the origin to the target and back.
    pub one_sided: TrafficMatrix,
    /// Neighbourhood collectives, whose partners are known.
    pub neighbourhood: TrafficMatrix,
    /// Collectives, as they were called.
    pub collectives: Vec<Record>,
    /// Who is near whom, where plans ran in place of native collectives.
    pub locality: Option<Locality>,
    /// The same, phase by phase; empty if the job was not cut into phases. The
    /// phases together are the whole.
    pub phases: Vec<Phase>,
    /// Groups of ranks that have shared memory (`MPI_Win_allocate_shared`): a
    /// placement must keep each group on one node. Ranks by size.
    pub shared_memory: Vec<Vec<usize>>,
    /// Time in MPI, if it was measured.
    pub times: Option<Times>,
    /// One-sided communication by window and kind of epoch. Unlike the matrices, with what phases
    /// leave out.
    pub windows: Vec<WindowUse>,
    /// Results of the guard on collectives, one for each plan that was tried in a cell.
    pub guard: Vec<GuardedCell>,
    /// Results of the guard on small puts and accumulates, as ranks found alike.
    pub guarded_epochs: Vec<GuardedEpochs>,
    /// The hardware of the hosts, where it could be read.
    pub topologies: Vec<HostTopology>,
    /// Where the hosts are on their network, where their systems tell.
    pub locations: Vec<HostLocation>,
}

impl Profile {
    /// A profile of `ranks` ranks in which nothing was counted and nothing is
    /// said: to be filled in.
    pub fn new(ranks: usize) -> Profile {
        Profile {
            producer: String::new(),
            date: String::new(),
            mpi: MpiDescription::default(),
            command: Vec::new(),
            notes: Vec::new(),
            ranks,
            hosts: Vec::new(),
            process_of_rank: (0..ranks).collect(),
            missing_ranks: Vec::new(),
            allowed_cores: vec![String::new(); ranks],
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            collectives: Vec::new(),
            locality: None,
            phases: Vec::new(),
            shared_memory: Vec::new(),
            times: None,
            windows: Vec::new(),
            guard: Vec::new(),
            guarded_epochs: Vec::new(),
            topologies: Vec::new(),
            locations: Vec::new(),
        }
    }

    /// The same traffic without what names somebody: command, remarks, hosts and their hardware.
    pub fn without_names(&self) -> Profile {
        let mut nameless = Profile {
            command: Vec::new(),
            notes: Vec::new(),
            topologies: Vec::new(),
            locations: Vec::new(),
            ..self.clone()
        };
        for (number, host) in nameless.hosts.iter_mut().enumerate() {
            host.name = format!("host{number}");
        }
        nameless
    }

    /// Writes the matrices beside `path` and then the YAML at `path`, each whole
    /// or not at all. `app.profile.yaml` gets `app.profile.point-to-point.bytes.mtx`
    /// and so on; layers without traffic, point-to-point apart, get no files. Beside a
    /// pipe, a device or a standard stream there are none.
    ///
    /// # Errors
    /// A profile that contradicts itself, and [`FileError::Unwritable`].
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let layers = layers::write(path, None, &self.matrices())?;
        let phases = phases::write(path, &self.phases)?;
        text::write(
            path,
            &yaml::to_text(path, &Document::new(self, layers, phases))?,
        )
    }

    /// Reads and checks a profile and the matrices beside it.
    ///
    /// # Errors
    /// A file that cannot be read, is no profile, or contradicts itself or its
    /// matrices.
    pub fn read(path: &Path) -> Result<Profile, FileError> {
        Profile::from_text(path, &text::read(path)?)
    }

    /// The profile in the text of the YAML file at `path`, with the matrices
    /// that are beside it.
    ///
    /// # Errors
    /// As [`Profile::read`].
    pub fn from_text(path: &Path, text: &str) -> Result<Profile, FileError> {
        header::check(path, text, Some(Kind::Profile))?;
        let mut document: Document = yaml::parse(path, text)?;
        let layers = std::mem::take(&mut document.layers);
        let phases = std::mem::take(&mut document.phases);
        let mut profile = document.build(path)?;
        // Checked first, so that no matrix is made for a senseless number of ranks.
        profile.check_description(path)?;
        let ranks = profile.ranks;
        layers::read(path, "layers", &layers, &mut profile.matrices_mut(), ranks)?;
        profile.phases = phases::read(path, phases, ranks)?;
        profile.check(path)?;
        Ok(profile)
    }

    /// The traffic between ranks in some layers, added up. Collectives that plans ran are expanded
    /// as they were run; the others with the algorithms that the job's MPI usually chooses: that
    /// part is modelled, not counted.
    pub fn traffic(&self, layers: &[Layer]) -> TrafficMatrix {
        self.traffic_by(layers, None)
    }

    /// As [`Profile::traffic`], with all collectives expanded by `model`, where one is given.
    pub fn traffic_by(&self, layers: &[Layer], model: Option<Model>) -> TrafficMatrix {
        let counted = (&self.matrices()[..], &self.collectives[..]);
        self.sum(counted, layers, model)
    }

    /// As [`Profile::traffic_by`], of one of the phases.
    pub fn traffic_of_phase(
        &self,
        phase: &Phase,
        layers: &[Layer],
        model: Option<Model>,
    ) -> TrafficMatrix {
        let counted = (&phase.matrices()[..], &phase.collectives[..]);
        self.sum(counted, layers, model)
    }

    /// The traffic of some of the collectives, as [`Profile::traffic_by`] has it.
    pub fn traffic_of_collectives<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
        model: Option<Model>,
    ) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.ranks);
        self.expand(records, model, &mut sum);
        sum
    }

    /// Some layers of what was counted, added up.
    fn sum(
        &self,
        (matrices, records): (&[(Layer, &TrafficMatrix)], &[Record]),
        layers: &[Layer],
        model: Option<Model>,
    ) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.ranks);
        for (layer, counted) in matrices {
            if layers.contains(layer) {
                let merged = sum.merge(counted);
                debug_assert!(merged.is_ok(), "{merged:?}");
            }
        }
        if layers.contains(&Layer::Collectives) {
            self.expand(records, model, &mut sum);
        }
        sum
    }

    /// Adds the messages of collectives.
    fn expand<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
        model: Option<Model>,
        into: &mut TrafficMatrix,
    ) {
        let host = self.native_family();
        // Many records are of one communicator.
        let mut seen: HashMap<&[u32], (Clusters, Option<Network>)> = HashMap::new();
        for record in records {
            let as_run = record.plan.as_ref().zip(self.locality.as_ref());
            let (Some((plan, locality)), None) = (as_run, model) else {
                expand(record, model.unwrap_or(Model::Native(host)), host, into);
                continue;
            };
            let (clusters, network) = seen.entry(&record.group).or_insert_with(|| {
                let ranks: Vec<usize> = record.group.iter().map(|&rank| rank as usize).collect();
                locality.of(&ranks)
            });
            if let Some(run) = plan.as_run(record.operation, clusters, network.as_ref()) {
                expand_as_run(record, &run, into);
            }
        }
    }

    /// The model that stands for the job's MPI.
    pub fn native_model(&self) -> Model {
        Model::Native(self.native_family())
    }

    /// By which rules the job's MPI usually chooses algorithms.
    pub fn native_family(&self) -> treepie_native::Family {
        treepie_native::Family::of_family(&self.mpi.family)
    }

    /// The layers that were counted pair by pair.
    fn matrices(&self) -> [(Layer, &TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &self.point_to_point),
            (Layer::OneSided, &self.one_sided),
            (Layer::Neighbourhood, &self.neighbourhood),
        ]
    }

    fn matrices_mut(&mut self) -> [(Layer, &mut TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &mut self.point_to_point),
            (Layer::OneSided, &mut self.one_sided),
            (Layer::Neighbourhood, &mut self.neighbourhood),
        ]
    }

    /// Checks that the parts agree with each other. `path` is for messages.
    ///
    /// # Errors
    /// A list of another length than `ranks`, a process twice or on no host,
    /// cores that are no list, a matrix of another order, a record that makes
    /// no sense.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        self.check_description(path)?;
        let of_phases = self.phases.iter().flat_map(Phase::matrices);
        for (layer, traffic) in self.matrices().into_iter().chain(of_phases) {
            if traffic.order() != self.ranks {
                let (order, ranks) = (traffic.order(), self.ranks);
                let problem = format!("the matrix is for {order} ranks, {ranks} were expected");
                return Err(FileError::field(path, layer.to_string(), problem));
            }
        }
        for phase in &self.phases {
            for record in &phase.collectives {
                if let Err(problem) = records::check(record, self.ranks, self.locality.is_some()) {
                    let field = format!("phases.{}.collectives", phase.name);
                    return Err(FileError::field(path, field, problem));
                }
            }
        }
        Ok(())
    }

    /// Checks all but the matrices.
    fn check_description(&self, path: &Path) -> Result<(), FileError> {
        let wrong = |field: &str, problem: String| Err(FileError::field(path, field, problem));
        let ranks = self.ranks;
        if ranks == 0 {
            return wrong("ranks", "is 0; a job has at least one rank".into());
        }
        if let Err(error) = permutation::check_for(&self.process_of_rank, ranks) {
            return wrong("process_of_rank", in_processes(&error));
        }
        if self.allowed_cores.len() != ranks {
            let found = self.allowed_cores.len();
            return wrong(
                "allowed_cores",
                format!("has {found} entries for {ranks} ranks; write one for each"),
            );
        }
        let mut previous = None;
        for (process, cores) in self.allowed_cores.iter().enumerate() {
            if previous.replace(cores) == Some(cores) {
                continue;
            }
            if let Err(error) = list::parse(cores) {
                return wrong("allowed_cores", format!("process {process}: {error}"));
            }
        }
        if let Err(problem) = self.check_hosts() {
            return wrong("hosts", problem);
        }
        let hosts: HashSet<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let mut located = self.locations.iter().map(|at| at.host.as_str());
        if let Some(host) = located.find(|host| !hosts.contains(host)) {
            let problem = format!("{host} is none of the hosts; remove or correct it");
            return wrong("locations", problem);
        }
        for (field, group) in [("missing_ranks", &self.missing_ranks)].into_iter().chain(
            self.shared_memory
                .iter()
                .map(|group| ("shared_memory", group)),
        ) {
            if let Some(rank) = group.iter().find(|rank| **rank >= ranks) {
                return wrong(
                    field,
                    format!("rank {rank} is none of the {ranks}, which count from 0; correct it"),
                );
            }
        }
        for (index, window) in self.windows.iter().enumerate() {
            if let Err(problem) = window.check(ranks) {
                return wrong(&format!("windows[{index}]"), problem);
            }
        }
        for (index, cell) in self.guard.iter().enumerate() {
            if let Err(problem) = cell.check(ranks) {
                return wrong(&format!("guard[{index}]"), problem);
            }
        }
        for (index, found) in self.guarded_epochs.iter().enumerate() {
            if let Err(problem) = found.check(ranks) {
                return wrong(&format!("guarded_epochs[{index}]"), problem);
            }
        }
        for (index, record) in self.collectives.iter().enumerate() {
            let field = format!("collectives.rows[{index}]");
            if let Err(problem) = records::check(record, ranks, self.locality.is_some()) {
                return wrong(&field, problem);
            }
        }
        if let Some(locality) = &self.locality
            && locality.ranks() != ranks
        {
            let found = locality.ranks();
            return wrong(
                "locality",
                format!("is of {found} ranks; {ranks} were expected"),
            );
        }
        Ok(())
    }

    /// Checks that each process is on one host.
    fn check_hosts(&self) -> Result<(), String> {
        let ranks = self.ranks;
        let mut host_of: Vec<Option<&str>> = vec![None; ranks];
        for host in &self.hosts {
            for &process in &host.processes {
                let slot = host_of.get_mut(process).ok_or_else(|| {
                    format!(
                        "process {process} is none of the {ranks}, which count from 0; correct it"
                    )
                })?;
                if let Some(first) = slot.replace(&host.name) {
                    return Err(format!(
                        "process {process} is on {first} and on {}; keep one of them",
                        host.name
                    ));
                }
            }
        }
        match host_of.iter().position(Option::is_none) {
            Some(process) => Err(format!(
                "process {process} is on no host; list it with its host"
            )),
            None => Ok(()),
        }
    }
}

/// What is wrong with `process_of_rank`: it lists processes by rank, while the
/// messages of a permutation speak of ranks by process.
fn in_processes(error: &PermutationError) -> String {
    match error {
        PermutationError::Twice {
            rank: process,
            first,
            second,
        } => format!("process {process} runs the ranks {first} and {second}; each runs one"),
        PermutationError::OutOfRange {
            process: rank,
            rank: process,
            ranks,
        } => format!("rank {rank} is run by process {process}, but there are {ranks} processes"),
        PermutationError::OtherRanks { found, ranks } => {
            format!("has {found} processes for {ranks} ranks; list one for each rank")
        }
        other => other.to_string(),
    }
}
