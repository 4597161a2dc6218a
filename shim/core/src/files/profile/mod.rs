//! Profiles: who sent how much to whom in one run of a job.
//!
//! A profile is a YAML file and, beside it, two MatrixMarket files for each
//! layer of traffic that was counted. The YAML is written last and states what
//! the matrices add up to: matrices of another run are noticed and refused.

mod counts;
mod document;
mod records;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::permutation::PermutationError;
use super::{FileError, Kind, header, list, permutation, text, write_atomically, yaml};
use crate::affinity::collective::{Record, expand};
use crate::affinity::{Layer, Traffic, TrafficMatrix};
use document::{Document, LayerFiles};

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
            allowed_cores: vec![String::new(); ranks],
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            collectives: Vec::new(),
        }
    }

    /// Writes the matrices beside `path` and then the YAML at `path`, each whole
    /// or not at all. `app.profile.yaml` gets `app.profile.point-to-point.bytes.mtx`
    /// and so on; layers without traffic, point-to-point apart, get no files.
    ///
    /// # Errors
    /// A profile that contradicts itself, and [`FileError::Unwritable`].
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let mut layers = Vec::new();
        for (layer, traffic) in self.matrices() {
            if traffic.non_zeros() == 0 && layer != Layer::PointToPoint {
                continue;
            }
            let files = LayerFiles::of(path, layer, traffic);
            write_layer(path, &files, traffic)?;
            layers.push(files);
        }
        text::write(path, &yaml::to_text(path, &Document::of(self, layers))?)
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
        let mut profile = document.build(path)?;
        // Checked first, so that no matrix is made for a senseless number of ranks.
        profile.check_description(path)?;
        let ranks = profile.ranks;
        for (_, traffic) in profile.matrices_mut() {
            *traffic = TrafficMatrix::new(ranks);
        }
        let mut seen = Vec::new();
        for files in layers {
            let layer = known_layer(path, &files.layer)?;
            if seen.contains(&layer) {
                let problem = format!("{layer} is listed twice; keep one of them");
                return Err(FileError::field(path, "layers", problem));
            }
            seen.push(layer);
            let traffic = read_layer(path, &files, ranks)?;
            for (known, place) in profile.matrices_mut() {
                if known == layer {
                    *place = traffic.clone();
                }
            }
        }
        if !seen.contains(&Layer::PointToPoint) {
            let problem = "point-to-point is missing; take the profile again";
            return Err(FileError::field(path, "layers", problem));
        }
        profile.check(path)?;
        Ok(profile)
    }

    /// The traffic between ranks in some layers, added up. Collectives are
    /// expanded with the algorithms that hosts usually choose: that part is
    /// modelled, not counted.
    pub fn traffic(&self, layers: &[Layer]) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.ranks);
        for (layer, counted) in self.matrices() {
            if layers.contains(&layer) {
                for (from, to, traffic) in counted.entries() {
                    sum.add(from, to, traffic);
                }
            }
        }
        if layers.contains(&Layer::Collectives) {
            for record in &self.collectives {
                expand(record, None, &mut sum);
            }
        }
        sum
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
        for (layer, traffic) in self.matrices() {
            if traffic.order() != self.ranks {
                let (order, ranks) = (traffic.order(), self.ranks);
                let problem = format!("the matrix is for {order} ranks, {ranks} were expected");
                return Err(FileError::field(path, layer.to_string(), problem));
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
        for (index, record) in self.collectives.iter().enumerate() {
            if let Err(problem) = records::check(record, ranks) {
                return wrong(&format!("collectives.rows[{index}]"), problem);
            }
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

/// The layer of this name, if it is one that has matrices.
fn known_layer(path: &Path, name: &str) -> Result<Layer, FileError> {
    match name.parse::<Layer>() {
        Ok(Layer::Collectives) => Err(FileError::field(
            path,
            "layers",
            "collectives have no matrices of their own; write them as rows of `collectives`",
        )),
        Ok(layer) => Ok(layer),
        Err(unknown) => Err(FileError::field(path, "layers", unknown)),
    }
}

/// Writes the two matrices of a layer beside the profile at `path`.
fn write_layer(path: &Path, files: &LayerFiles, traffic: &TrafficMatrix) -> Result<(), FileError> {
    type Count = fn(Traffic) -> u64;
    let counts: [(&str, &str, Count); 2] = [
        (&files.messages_matrix, "messages", |t| t.messages),
        (&files.bytes_matrix, "bytes", |t| t.bytes),
    ];
    for (name, what, count) in counts {
        let comment = format!(
            "{what} that rank row - 1 sent to rank column - 1, {}",
            files.layer
        );
        write_atomically(&path.with_file_name(name), |out| {
            counts::write(traffic, count, &comment, out)
        })?;
    }
    Ok(())
}

/// Reads the two matrices of a layer and compares them with what the profile says.
fn read_layer(path: &Path, files: &LayerFiles, ranks: usize) -> Result<TrafficMatrix, FileError> {
    let entries_of = |name: &str| {
        let plain = Path::new(name)
            .file_name()
            .is_some_and(|plain| plain == name);
        if !plain {
            let problem = format!(
                "`{name}` is not the name of a file beside the profile; write a name without \
                 directories"
            );
            return Err(FileError::field(path, "layers", problem));
        }
        let matrix = path.with_file_name(name);
        counts::read(&matrix, &text::read(&matrix)?, ranks)
    };
    let messages = entries_of(&files.messages_matrix)?
        .into_iter()
        .map(|(from, to, messages)| (from, to, Traffic::new(messages, 0)));
    let bytes = entries_of(&files.bytes_matrix)?
        .into_iter()
        .map(|(from, to, bytes)| (from, to, Traffic::new(0, bytes)));
    let traffic = TrafficMatrix::from_entries(ranks, messages.chain(bytes))
        .map_err(|error| FileError::field(path, "layers", error))?;
    let total = traffic.total();
    for (what, found, stated) in [
        ("pairs", traffic.non_zeros() as u64, files.pairs as u64),
        ("messages", total.messages, files.messages),
        ("bytes", total.bytes, files.bytes),
    ] {
        if found != stated {
            let problem = format!(
                "the matrices {} and {} have {found} {what}, the profile says {stated}; they are \
                 of different runs or were cut off, take the profile again",
                files.messages_matrix, files.bytes_matrix
            );
            return Err(FileError::field(
                path,
                format!("layers.{}", files.layer),
                problem,
            ));
        }
    }
    Ok(traffic)
}
