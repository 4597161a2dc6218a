//! Profile in memory, which is also its text except for the matrices.

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

/// MPI library that a job ran with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MpiDescription {
    /// Family, which determines the binary interface: `open-mpi`, `mpich`.
    pub family: String,
    /// First line of the text of `MPI_Get_library_version`.
    pub library: String,
    /// Version of the MPI standard, such as `3.1`.
    pub standard: String,
}

/// Machine and the launcher's processes that ran on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Name of the machine.
    pub name: String,
    /// Processes, numbered as in the launcher's `MPI_COMM_WORLD`.
    #[serde(with = "list")]
    pub processes: Vec<Process>,
}

/// Profile of a run. Matrices and records use the application's ranks; hosts and cores the
/// launcher's processes; `process_of_rank` relates the two.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Origin of the file.
    #[serde(skip)]
    pub header: Header,
    /// MPI library that the job ran with.
    pub mpi: MpiDescription,
    /// Program and its arguments.
    pub command: Vec<String>,
    /// Remarks of the launcher or the library, as text for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Number of ranks, and of processes.
    pub ranks: usize,
    /// Machines; each process is on one of them.
    pub hosts: Vec<Host>,
    /// Cores that each process was allowed to use, in Linux's list format: `0-3,8`; empty if
    /// unknown.
    #[serde(with = "allowed_cores")]
    pub allowed_cores: List<Process, String>,
    /// Launcher's process that ran each rank of the application.
    #[serde(with = "list")]
    pub process_of_rank: List<Rank, Process>,
    /// Ranks without a partial profile after an abnormal exit: their sent messages are missing.
    /// Their processes and hosts are placeholders.
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
    /// Calls of collectives.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "records")]
    pub collectives: Vec<Record>,
    /// Locality of the ranks, if plans replaced native collectives.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "locality")]
    pub locality: Option<Locality>,
    /// Traffic and collectives, phase by phase; empty if the job was not cut into phases. The sum
    /// of all phases is the whole.
    #[serde(skip)]
    pub phases: Vec<Phase>,
    /// Groups of ranks that have shared memory (`MPI_Win_allocate_shared`): a
    /// placement must keep each group on one node. Ranks by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "list::lists")]
    pub shared_memory: Vec<Vec<Rank>>,
    /// Time in MPI, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// One-sided communication by window and kind of epoch. Unlike the matrices, it includes
    /// excluded phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowUse>,
    /// Results of the guard on collectives, one for each plan that was tried in a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<GuardedCell>,
    /// Results of the guard on small puts and accumulates, each on all ranks that had the same
    /// result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded_epochs: Vec<GuardedEpochs>,
    /// Hardware of the hosts, if it could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topologies: Vec<HostTopology>,
    /// Locations of the hosts on their network, if their systems report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<HostLocation>,
}

impl Profile {
    /// Creates an empty profile of `ranks` ranks, to be filled in.
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

    /// Returns a copy with the same traffic, without identifying names: command, remarks, hosts and
    /// their hardware.
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

    /// Returns the layers that were counted pair by pair.
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
