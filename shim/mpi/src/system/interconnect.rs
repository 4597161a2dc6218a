//! Coordinates of this host on its network, from functions of the interconnect's libraries. They
//! are only looked for in the process, into which the MPI has loaded them; no library is loaded for
//! this.

use std::ffi::{CStr, c_int, c_void};

/// Number of coordinates of TofuD: x, y, z, a, b, c.
const OF_TOFU: usize = 6;

/// Return code of both libraries for success.
const SUCCESS: c_int = 0;

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

/// Returns the address of a function that the process has.
fn found(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Returns those of Fujitsu's TofuD.
pub fn tofu_coordinates() -> Option<[u8; OF_TOFU]> {
    let function = found(c"utofu_query_my_coords")?;
    let mut at = [0_u8; OF_TOFU];
    // SAFETY: uTofu declares the function with this type, and writes six coordinates.
    let code =
        unsafe { std::mem::transmute::<*mut c_void, MyCoordinates>(function)(at.as_mut_ptr()) };
    (code == SUCCESS).then_some(at)
}

/// Returns those of Cray's Gemini and Aries. After the start of the MPI.
pub fn cray_coordinates() -> Option<[u16; 3]> {
    // Other libraries have a PMI_Get_rank, and only Cray's the other two.
    let mesh = found(c"PMI_Get_meshcoord")?;
    let (rank, nid) = (found(c"PMI_Get_rank")?, found(c"PMI_Get_nid")?);
    let (mut own, mut node) = (0, 0);
    let mut at = MeshCoordinates::default();
    // SAFETY: Cray's PMI declares the functions with these types; it returns an error before its
    // initialisation.
    let codes = unsafe {
        [
            std::mem::transmute::<*mut c_void, GetRank>(rank)(&mut own),
            std::mem::transmute::<*mut c_void, GetNid>(nid)(own, &mut node),
            std::mem::transmute::<*mut c_void, GetMesh>(mesh)(node, &mut at),
        ]
    };
    let all = codes.iter().all(|&code| code == SUCCESS);
    all.then_some([at.x, at.y, at.z])
}
