//! Location of this host on its network, if its system has functions or files that report it.

use std::fs;

use serde::{Deserialize, Serialize};
use treepie_mpi::system::{cray_coordinates, tofu_coordinates};
use treepie_topology::formats::HostLocation;

/// File on the nodes of a Cray XT to XC.
const CNAME: &str = "/proc/cray_xt/cname";

/// Location that a system reports for one host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Location {
    coordinates: Vec<usize>,
    cname: Option<String>,
}

impl Location {
    /// Returns the location with the host's name.
    pub fn of(self, host: &str) -> HostLocation {
        HostLocation {
            host: host.to_owned(),
            coordinates: self.coordinates,
            cname: self.cname,
        }
    }
}

/// Returns the location of this host; `None` if its system does not report it. After the start of
/// the MPI.
pub fn location() -> Option<Location> {
    let of_tofu = || Some(tofu_coordinates()?.map(usize::from).to_vec());
    let of_cray = || Some(cray_coordinates()?.map(usize::from).to_vec());
    let location = Location {
        coordinates: of_tofu().or_else(of_cray).unwrap_or_default(),
        cname: fs::read_to_string(CNAME)
            .ok()
            .map(|name| name.trim().to_owned()),
    };
    (!location.coordinates.is_empty() || location.cname.is_some()).then_some(location)
}
