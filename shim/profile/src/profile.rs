//! A profile in memory, which is also its text apart from the matrices.

use serde::{Deserialize, Serialize};

use crate::epochs::GuardedEpochs;
use crate::guard::GuardedCell;
use crate::phases::Phase;
use crate::times::Times;
use crate::topologies::HostTopology;
use crate::windows::WindowUse;
use crate::{allowed_cores, locality, records};
use treepie_base::{Header, List, Process, Rank, list};
use treepie_collective::{Locality, Record};
use treepie_topology::formats::HostLocation;
use treepie_traffic::{Layer, TrafficMatrix};

/// The MPI library that a job ran with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MpiDescription {
    /// The family, which decides about the binary interface: `open-mpi`, `mpich`.
    pub family: String,
    /// First line of the text that `MPI_Get_library_version` gives.
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
    pub processes: Vec<Process>,
}

/// A profile. Matrices and records are by the application's ranks; hosts and cores by the
/// launcher's processes; `process_of_rank` leads from one to the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Origin of the file.
    #[serde(skip)]
    pub header: Header,
    /// The MPI library that the job ran with.
    pub mpi: MpiDescription,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Remarks of the launcher or the library, as text for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Number of ranks, and of processes.
    pub ranks: usize,
    /// The machines; each process is on one of them.
    pub hosts: Vec<Host>,
    /// The cores that each process was allowed to use, as Linux writes them:
    /// `0-3,8`; empty where it is not known.
    #[serde(with = "allowed_cores")]
    pub allowed_cores: List<Process, String>,
    /// The launcher's process that ran each rank of the application.
    #[serde(with = "list")]
    pub process_of_rank: List<Rank, Process>,
    /// Ranks that left nothing, because the job had no orderly end: what they
    /// sent is missing. Their processes and hosts are made up.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list")]
    pub missing_ranks: Vec<Rank>,
    /// Messages that the application sent itself.
    #[serde(skip)]
    pub point_to_point: TrafficMatrix,
    /// Puts, gets and accumulates, from the origin to the target and back.
    #[serde(skip)]
    pub one_sided: TrafficMatrix,
    /// Neighbourhood collectives, whose partners are known.
    #[serde(skip)]
    pub neighbourhood: TrafficMatrix,
    /// Collectives, as they were called.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "records")]
    pub collectives: Vec<Record>,
    /// Locality of the ranks, if plans ran in place of native collectives.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "locality")]
    pub locality: Option<Locality>,
    /// Traffic and collectives, phase by phase; empty if the job was not cut into phases. The
    /// phases together are the whole.
    #[serde(skip)]
    pub phases: Vec<Phase>,
    /// Groups of ranks that have shared memory (`MPI_Win_allocate_shared`): a
    /// placement must keep each group on one node. Ranks by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list::lists")]
    pub shared_memory: Vec<Vec<Rank>>,
    /// Time in MPI, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// One-sided communication by window and kind of epoch. Unlike the matrices, with what phases
    /// leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowUse>,
    /// Results of the guard on collectives, one for each plan that was tried in a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<GuardedCell>,
    /// Results of the guard on small puts and accumulates, as ranks found alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded_epochs: Vec<GuardedEpochs>,
    /// The hardware of the hosts, where it could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<HostTopology>,
    /// Locations of the hosts on their network, where their systems tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<HostLocation>,
}

impl Profile {
    /// A profile of `ranks` ranks in which nothing was counted: to be filled in.
    pub fn new(ranks: usize) -> Profile {
        Profile {
            ranks,
            process_of_rank: (0..ranks).map(Process).collect(),
            allowed_cores: vec![String::new(); ranks].into(),
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            ..Profile::default()
        }
    }

    /// Copy with the same traffic, without what names somebody: command, remarks, hosts and their
    /// hardware.
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

    /// The layers that were counted pair by pair.
    pub(crate) fn matrices(&self) -> [(Layer, &TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &self.point_to_point),
            (Layer::OneSided, &self.one_sided),
            (Layer::Neighbourhood, &self.neighbourhood),
        ]
    }

    pub(crate) fn matrices_mut(&mut self) -> [(Layer, &mut TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &mut self.point_to_point),
            (Layer::OneSided, &mut self.one_sided),
            (Layer::Neighbourhood, &mut self.neighbourhood),
        ]
    }
}
