//! Method by which a placement is applied by default: at the launch if the launcher is certain to
//! support it, and otherwise inside the job.

use std::ffi::OsString;
use std::net::ToSocketAddrs;

use treepie_placement::file::PlacementFile;

use super::family::{Family, Launcher};
use super::{allocation, rank_file};

/// Method of applying a placement, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The launcher starts each rank on its core.
    Launch(String),
    /// Ranks are permuted inside the job.
    Permute(String),
}

/// Chooses the method for this placement and this command line, with its reason.
pub fn way(placement: &PlacementFile, launcher: &Launcher, command: &[OsString]) -> Choice {
    let permute = |reason: &str| Choice::Permute(reason.to_owned());
    if launcher.family == Family::Plain {
        return permute("the launcher is not known");
    }
    if let Some(option) = rank_file::contradiction(launcher.family, command) {
        return Choice::Permute(format!("{option} places the ranks"));
    }
    let hosts = placement.topology.hosts();
    let all_named = placement
        .topology
        .leaves()
        .iter()
        .all(|leaf| leaf.host.is_some());
    if hosts.is_empty() || !all_named {
        return permute("the placement names no hosts");
    }
    match outside(placement) {
        Some(host) => Choice::Permute(format!("the job does not have {host}")),
        None if allocation::of_scheduler().is_some() => {
            Choice::Launch("the job has the hosts of the placement".to_owned())
        }
        None if hosts[..] == [this_host()] => {
            Choice::Launch("the placement is for this host".to_owned())
        }
        None => permute("no scheduler states the hosts of the job"),
    }
}

/// The first host of a placement that a scheduler has not allocated to the job.
pub fn outside(placement: &PlacementFile) -> Option<String> {
    let own = allocation::of_scheduler()?;
    let mut hosts = placement.topology.hosts().into_iter();
    hosts
        .find(|host| !own.iter().any(|own| own.name == **host))
        .map(str::to_owned)
}

fn this_host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// The first host of a placement whose name cannot be resolved here: the launcher could not reach
/// it either. Slurm and Flux resolve their hosts themselves.
pub fn unreachable(placement: &PlacementFile, launcher: &Launcher) -> Option<String> {
    if matches!(launcher.family, Family::Slurm | Family::Flux) {
        return None;
    }
    let here = this_host();
    let mut hosts = placement.topology.hosts().into_iter();
    hosts
        .find(|host| *host != here && (*host, 22).to_socket_addrs().is_err())
        .map(str::to_owned)
}
