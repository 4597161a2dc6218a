//! Location of this host on its network, if its system has functions or files that report it.
//! Functions are only looked for in the process, into which the MPI has loaded them; no library is
//! loaded for this.

use std::ffi::{CStr, c_int, c_void};
use std::fs;

use serde::{Deserialize, Serialize};
use treepie_topology::formats::HostLocation;

/// Number of coordinates of TofuD: x, y, z, a, b, c.
const OF_TOFU: usize = 6;
/// Return code of both libraries for success.
const SUCCESS: c_int = 0;
/// File on the nodes of a Cray XT to XC.
const CNAME: &str = "/proc/cray_xt/cname";

/// `pmi_mesh_coord_t` of Cray's PMI.
#[repr(C)]
#[derive(Default)]
struct MeshCoordinates {
    x: u16,
    y: u16,
    z: u16,
}

/// `utofu_query_my_coords` of Fujitsu's uTofu.
type MyCoordinates = unsafe extern "C" fn(*mut u8) -> c_int;
/// `PMI_Get_rank`, `PMI_Get_nid` and `PMI_Get_meshcoord` of Cray's PMI.
type GetRank = unsafe extern "C" fn(*mut c_int) -> c_int;
type GetNid = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
type GetMesh = unsafe extern "C" fn(c_int, *mut MeshCoordinates) -> c_int;

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
    let location = Location {
        coordinates: of_tofu().or_else(of_cray).unwrap_or_default(),
        cname: fs::read_to_string(CNAME)
            .ok()
            .map(|name| name.trim().to_owned()),
    };
    (!location.coordinates.is_empty() || location.cname.is_some()).then_some(location)
}

/// Returns the address of a function that the process has.
fn found(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

fn of_tofu() -> Option<Vec<usize>> {
    let function = found(c"utofu_query_my_coords")?;
    let mut at = [0_u8; OF_TOFU];
    // SAFETY: uTofu declares the function with this type, and writes six coordinates.
    let code =
        unsafe { std::mem::transmute::<*mut c_void, MyCoordinates>(function)(at.as_mut_ptr()) };
    (code == SUCCESS).then(|| at.map(usize::from).to_vec())
}

fn of_cray() -> Option<Vec<usize>> {
    // Other libraries have a PMI_Get_rank, and only Cray's the other two.
    let mesh = found(c"PMI_Get_meshcoord")?;
    let (rank, nid) = (found(c"PMI_Get_rank")?, found(c"PMI_Get_nid")?);
    let (mut own, mut node) = (0, 0);
    let mut at = MeshCoordinates::default();
    // SAFETY: Cray's PMI, which the MPI has initialized, declares the functions with these types.
    let codes = unsafe {
        [
            std::mem::transmute::<*mut c_void, GetRank>(rank)(&mut own),
            std::mem::transmute::<*mut c_void, GetNid>(nid)(own, &mut node),
            std::mem::transmute::<*mut c_void, GetMesh>(mesh)(node, &mut at),
        ]
    };
    let all = codes.iter().all(|&code| code == SUCCESS);
    all.then(|| [at.x, at.y, at.z].map(usize::from).to_vec())
}
