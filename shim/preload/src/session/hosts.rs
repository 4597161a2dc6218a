//! Where the processes of the job are, gathered on process 0 when the job starts: hosts, cores, the
//! places of hosts on their network, and their hardware where that is wanted.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use treepie_core::files::list;
use treepie_core::files::network::HostLocation;
use treepie_core::placement::binding::Process;
use treepie_core::topology::Machine;

use crate::machine::{Location, allowed_cores, location, read_hardware};
use crate::mpi::native::Native;
use crate::share::{Group, Members, ShareError, gather, share};

/// Where a process is.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Located {
    host: String,
    /// As Linux lists them; nothing where it does not say.
    allowed_cores: String,
    location: Option<Location>,
}

/// Where the processes are, on process 0; nothing elsewhere.
#[derive(Debug, Default)]
pub struct ProcessPlaces {
    /// Host and cores of each process. A process that does not know its cores has none.
    pub processes: Vec<Process>,
    /// Where hosts are on their network; none where no system tells it.
    pub locations: Vec<HostLocation>,
}

impl FromIterator<Located> for ProcessPlaces {
    fn from_iter<T: IntoIterator<Item = Located>>(all: T) -> Self {
        let mut places = ProcessPlaces::default();
        let mut known = HashSet::new();
        for at in all {
            if let Some(location) = at.location
                && known.insert(at.host.clone())
            {
                places.locations.push(location.of(&at.host));
            }
            places.processes.push(Process {
                host: at.host,
                allowed: list::parse(&at.allowed_cores).unwrap_or_default(),
            });
        }
        places
    }
}

/// Where each process is. Collective over the native world.
///
/// # Errors
/// As of [`gather`].
pub fn places(native: &Native, world: &Members<'_>) -> Result<ProcessPlaces, ShareError> {
    let mine = Located {
        host: native.processor_name(),
        allowed_cores: allowed_cores(),
        location: location(),
    };
    Ok(gather(world, &mine)?.into_iter().collect())
}

/// The hardware of each host, read by its first process, on process 0, which alone has `processes`
/// and knows whether it is wanted. Hosts that cannot be read are missing. Collective over the
/// native world.
///
/// # Errors
/// As of [`share`].
pub fn machines(
    world: &Members<'_>,
    processes: &[Process],
    wanted: bool,
) -> Result<HashMap<String, Machine>, ShareError> {
    let mut known = HashSet::new();
    let firsts = processes.iter().enumerate();
    let firsts = firsts.filter(|(_, at)| wanted && known.insert(at.host.as_str()));
    let firsts: Vec<usize> = firsts.map(|(process, _)| process).collect();
    let readers = share(world, (world.rank() == 0).then_some(firsts))?;
    if readers.is_empty() {
        return Ok(HashMap::new());
    }
    let mine = readers.contains(&world.rank()).then(read_hardware);
    let texts = gather(world, &mine.flatten())?;
    let read = processes.iter().zip(texts).filter_map(|(process, text)| {
        let machine = text?.parse().ok()?;
        Some((process.host.clone(), machine))
    });
    Ok(read.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_know_its_cores_has_none() {
        let located = |allowed_cores: &str| Located {
            host: "a host".into(),
            allowed_cores: allowed_cores.into(),
            location: None,
        };
        let places: ProcessPlaces = ["1,3-4", ""].map(located).into_iter().collect();
        assert_eq!(places.processes[0].allowed, [1, 3, 4]);
        assert_eq!(places.processes[1].allowed, [0; 0]);
        assert_eq!(places.locations, []);
    }
}
