//! Placements as YAML: the core of each rank, and the new rank of each of the launcher's processes.

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

use treepie_base::{
    File, FileContents, FileError, Kind, Leaf, List, OtherRanks, Process, Rank, list, permutation,
};
use treepie_topology::Topology;

/// Bytes that cross one level of the topology, summed over ordered pairs of ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelTraffic {
    /// Lowest level that the ranks of a pair have in common: `root`, or the name of a level of the
    /// topology.
    pub level: String,
    /// With the launcher's placement of ranks.
    pub before: f64,
    /// With this placement of ranks.
    pub after: f64,
}

/// The objective (DistComm, TreeMatch thesis 1.4) with and without a placement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// With the launcher's placement of ranks.
    pub before: f64,
    /// With this placement of ranks.
    pub after: f64,
}

/// A placement with its origin.
pub type PlacementFile = File<StoredPlacement>;

/// A placement. Ranks are the application's; processes are the launcher's, in the order of its
/// `MPI_COMM_WORLD`; cores are logical leaves of `topology`. The lists come last: in a truncated
/// file one is missing or too short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPlacement {
    /// The profile from which it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Number of ranks; the length of the three lists below.
    pub ranks: usize,
    /// Strategy that computed the placement, such as `treematch`.
    pub strategy: String,
    /// Expected gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// Bytes by level, from the root downwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes_by_level: Vec<LevelTraffic>,
    /// The tree whose leaves are the cores.
    #[serde(with = "treepie_topology::file")]
    pub topology: Topology,
    /// Core of every rank.
    #[serde(with = "list")]
    pub assignment: List<Rank, Leaf>,
    /// Core that every process of the launcher runs on.
    #[serde(with = "list")]
    pub leaf_of_process: List<Process, Leaf>,
    /// New rank of every process of the launcher: the rank whose core it runs on.
    #[serde(with = "list")]
    pub permutation: List<Process, Rank>,
}

impl FileContents for StoredPlacement {
    const KIND: Kind = Kind::Placement;

    fn on_read(&mut self, path: &Path) -> Result<(), FileError> {
        self.check(path)
    }

    fn on_write(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)
    }
}

impl StoredPlacement {
    /// Checks that the placement is for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The two numbers, if they differ.
    pub fn fits(&self, ranks: usize) -> Result<(), OtherRanks> {
        match self.ranks == ranks {
            true => Ok(()),
            false => Err(OtherRanks {
                file: self.ranks,
                job: ranks,
            }),
        }
    }

    /// Checks that the parts are consistent.
    ///
    /// # Errors
    /// A list has another length than `ranks`; a core does not exist, is forbidden, or has
    /// different numbers of ranks and processes; the permutation is not one, or does not follow
    /// from the two lists of cores; a cost or volume is negative or not finite. `path` is for
    /// messages.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        let wrong = |field: &str, problem: String| Err(FileError::field(path, field, problem));
        if self.ranks == 0 {
            return wrong("ranks", "is 0; a job has at least one rank".into());
        }
        let (ranks, processes) = (&self.assignment.raw, &self.leaf_of_process.raw);
        for (field, cores, others, what) in [
            ("assignment", ranks, processes, "rank"),
            ("leaf_of_process", processes, ranks, "process"),
        ] {
            if let Some(problem) = self.cores_problem(cores, others, what) {
                return wrong(field, problem);
            }
        }
        if let Err(error) = permutation::check_for(&self.permutation, self.ranks) {
            return wrong("permutation", error.to_string());
        }
        let processes = self.permutation.iter_enumerated();
        for ((process, &rank), &core) in processes.zip(&self.leaf_of_process) {
            let assigned = self.assignment[rank];
            if assigned != core {
                return wrong(
                    "permutation",
                    format!(
                        "process {process} runs on core {core} and gets rank {rank}, which belongs \
                         on core {assigned}; compute the placement again with `treepie map`"
                    ),
                );
            }
        }
        self.check_numbers(path)
    }

    /// Checks a list of one core for each rank or process. A core may occur several times if it
    /// occurs as often in `others`.
    fn cores_problem(&self, cores: &[Leaf], others: &[Leaf], what: &str) -> Option<String> {
        let (found, ranks, leaves) = (cores.len(), self.ranks, self.topology.leaf_count());
        if found != ranks {
            return Some(format!(
                "has {found} cores for {ranks} ranks; list one core for each {what}"
            ));
        }
        let mut room: List<Leaf, usize> = vec![0; leaves].into();
        for &core in others {
            room.get_mut(core).into_iter().for_each(|room| *room += 1);
        }
        let mut user_of: List<Leaf, Option<usize>> = vec![None; leaves].into();
        for (user, &core) in cores.iter().enumerate() {
            let Some(slot) = user_of.get_mut(core) else {
                return Some(format!(
                    "{what} {user} is on core {core}, but the topology has the cores 0 to {}; \
                     use those",
                    leaves - 1
                ));
            };
            let left = room[core];
            room[core] = left.saturating_sub(1);
            if let Some(first) = slot.replace(user)
                && left == 0
            {
                return Some(format!(
                    "core {core} is used twice, for {what} {first} and for {what} {user}; give each its \
                     own core",
                ));
            }
            if what == "rank" && self.topology.leaf(core).forbidden {
                return Some(format!(
                    "rank {user} is on core {core}, which the topology forbids; use another core"
                ));
            }
        }
        None
    }

    /// Checks costs and volumes.
    fn check_numbers(&self, path: &Path) -> Result<(), FileError> {
        let costs = self
            .costs
            .iter()
            .flat_map(|costs| [("costs.before", costs.before), ("costs.after", costs.after)]);
        let volumes = self.bytes_by_level.iter().flat_map(|level| {
            [
                ("bytes_by_level.before", level.before),
                ("bytes_by_level.after", level.after),
            ]
        });
        for (field, value) in costs.chain(volumes) {
            if !value.is_finite() || value < 0.0 {
                let problem =
                    format!("{value} was found, a number from 0 was expected; correct it");
                return Err(FileError::field(path, field, problem));
            }
        }
        Ok(())
    }
}
