//! Consistency checks of the parts of a profile.

use std::collections::HashSet;
use std::path::Path;

use crate::phases::Phase;
use crate::profile::Profile;
use crate::ranks::check_ranks;
use crate::topologies::HostTopology;
use crate::{locality, records};
use treepie_base::permutation::{InverseError, inverse};
use treepie_base::{FileError, List, Process, list};

impl Profile {
    /// Checks that the parts are consistent. `path` is for messages.
    ///
    /// # Errors
    /// A list of another length than `ranks`, a process that is on two hosts or on none, an invalid
    /// list of cores, a matrix of another order, an invalid record.
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

    /// Checks everything except the matrices.
    pub(crate) fn check_description(&self, path: &Path) -> Result<(), FileError> {
        let ranks = self.ranks;
        if ranks == 0 {
            let problem = "is 0; a job has at least one rank";
            return Err(FileError::field(path, "ranks", problem));
        }
        // Checked first: the other checks allocate memory for each rank.
        self.check_processes()
            .map_err(|problem| FileError::field(path, "process_of_rank", problem))?;
        let mut shared_memory = self.shared_memory.iter();
        for (field, checked) in [
            ("allowed_cores", self.check_cores()),
            ("hosts", self.check_hosts()),
            ("locations", self.check_locations()),
            ("missing_ranks", check_ranks(&self.missing_ranks, ranks)),
            (
                "shared_memory",
                shared_memory.try_for_each(|group| check_ranks(group, ranks)),
            ),
            (
                "locality",
                self.locality
                    .as_ref()
                    .map_or(Ok(()), |it| locality::check(it, ranks)),
            ),
            (
                "times",
                self.times.as_ref().map_or(Ok(()), |it| it.check(ranks)),
            ),
            ("topologies", self.check_topologies()),
        ] {
            checked.map_err(|problem| FileError::field(path, field, problem))?;
        }
        let has_locality = self.locality.is_some();
        check_each(path, "windows", &self.windows, |it| it.check(ranks))?;
        check_each(path, "guard", &self.guard, |it| it.check(ranks))?;
        check_each(path, "guarded_epochs", &self.guarded_epochs, |it| {
            it.check(ranks)
        })?;
        check_each(path, "collectives.rows", &self.collectives, |it| {
            records::check(it, ranks, has_locality)
        })
    }

    /// Checks that each rank is run by a different process.
    fn check_processes(&self) -> Result<(), String> {
        let (found, ranks) = (self.process_of_rank.len(), self.ranks);
        if found != ranks {
            return Err(format!(
                "has {found} processes for {ranks} ranks; list one for each rank"
            ));
        }
        inverse(&self.process_of_rank)
            .map(drop)
            .map_err(|error| match error {
                InverseError::OutOfRange {
                    index: rank,
                    value: process,
                } => format!(
                    "rank {rank} is run by process {process}, but there are {ranks} processes"
                ),
                InverseError::Twice {
                    value: process,
                    first,
                    second,
                } => {
                    format!("process {process} runs the ranks {first} and {second}; each runs one")
                }
            })
    }

    /// Checks that each process has a valid list of cores.
    fn check_cores(&self) -> Result<(), String> {
        let (found, ranks) = (self.allowed_cores.len(), self.ranks);
        if found != ranks {
            return Err(format!(
                "has {found} entries for {ranks} ranks; write one for each"
            ));
        }
        let mut previous = None;
        for (process, cores) in self.allowed_cores.iter_enumerated() {
            if previous.replace(cores) != Some(cores) {
                list::parse(cores).map_err(|error| format!("process {process}: {error}"))?;
            }
        }
        Ok(())
    }

    /// Checks that locations are of hosts of the job.
    fn check_locations(&self) -> Result<(), String> {
        let hosts: HashSet<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let mut located = self.locations.iter().map(|at| at.host.as_str());
        match located.find(|host| !hosts.contains(host)) {
            Some(host) => Err(format!("{host} is none of the hosts; remove or correct it")),
            None => Ok(()),
        }
    }

    /// Checks that the texts of machines are readable.
    fn check_topologies(&self) -> Result<(), String> {
        let mut machines = self.topologies.iter().map(HostTopology::machine);
        machines.try_for_each(|machine| machine.map(drop).map_err(|error| error.to_string()))
    }

    /// Checks that each process is on one host.
    fn check_hosts(&self) -> Result<(), String> {
        let ranks = self.ranks;
        let mut host_of: List<Process, Option<&str>> = vec![None; ranks].into();
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
        match host_of.position(Option::is_none) {
            Some(process) => Err(format!(
                "process {process} is on no host; list it with its host"
            )),
            None => Ok(()),
        }
    }
}

/// Checks the items of a list; a message names the first invalid one.
fn check_each<T>(
    path: &Path,
    field: &str,
    items: &[T],
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<(), FileError> {
    for (index, item) in items.iter().enumerate() {
        check(item)
            .map_err(|problem| FileError::field(path, format!("{field}[{index}]"), problem))?;
    }
    Ok(())
}
