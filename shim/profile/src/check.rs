//! Whether the parts of a profile agree with each other.

use std::collections::HashSet;
use std::path::Path;

use crate::phases::Phase;
use crate::profile::Profile;
use crate::{locality, records};
use treepie_base::permutation::PermutationError;
use treepie_base::{FileError, list, permutation};

impl Profile {
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
            if let Some(Err(problem)) = phase.times.as_ref().map(|times| times.check(self.ranks)) {
                let field = format!("phases.{}.times", phase.name);
                return Err(FileError::field(path, field, problem));
            }
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
    pub(crate) fn check_description(&self, path: &Path) -> Result<(), FileError> {
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
        if let Some(Err(problem)) = self.locality.as_ref().map(|it| locality::check(it, ranks)) {
            return wrong("locality", problem);
        }
        if let Some(Err(problem)) = self.times.as_ref().map(|times| times.check(ranks)) {
            return wrong("times", problem);
        }
        if let Some(error) = self.topologies.iter().find_map(|it| it.machine().err()) {
            return wrong("topologies", error.to_string());
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
