//! Companion library, which reads the hardware of this host. It is only opened here, when a
//! topology is needed, and in a separate name space: its libhwloc must not replace the one that an
//! MPI brings.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const COMPANION: &str = "libtreepie_hwloc.so";

/// Detail in which hardware is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Cores alone.
    Cores,
    /// Cores, network interfaces and accelerators, which takes twice as long.
    Devices,
}

impl Detail {
    /// Name of the companion's function.
    fn function(self) -> &'static CStr {
        match self {
            Detail::Cores => c"treepie_hwloc_topology",
            Detail::Devices => c"treepie_hwloc_topology_with_devices",
        }
    }
}

/// Type of these functions.
type Read = unsafe extern "C" fn(*mut c_char, usize) -> isize;

/// Returns this host's hardware in the text form of `treepie_topology::Machine`.
///
/// # Errors
/// No companion beside this library, or its reason.
pub fn hardware(detail: Detail) -> Result<String, String> {
    let path = own_directory()
        .ok_or("this library's own file is not known")?
        .join(COMPANION);
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // The companion's libhwloc comes before a namesake that is loaded already.
    // A sanitizer has to see the companion's allocations.
    let deep = if cfg!(sanitized) {
        0
    } else {
        libc::RTLD_DEEPBIND
    };
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | deep;
    // SAFETY: the name ends in NUL. The library stays open: no function of it is called later, but
    // closing it would undo libhwloc's initialisation.
    let library = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if library.is_null() {
        return Err(format!("{} cannot be opened", path.display()));
    }
    // SAFETY: the handle is open, and the name ends in NUL.
    let address = unsafe { libc::dlsym(library, detail.function().as_ptr()) };
    if address.is_null() {
        return Err(format!("{} is of another version", path.display()));
    }
    // SAFETY: the companion declares both functions with this type.
    call(unsafe { std::mem::transmute::<*mut c_void, Read>(address) })
}

fn call(read: Read) -> Result<String, String> {
    let mut text = vec![0u8; 64 * 1024];
    loop {
        // SAFETY: the buffer is live and has this length.
        let length = unsafe { read(text.as_mut_ptr().cast(), text.len()) };
        if length.unsigned_abs() > text.len() {
            text.resize(length.unsigned_abs(), 0);
            continue;
        }
        text.truncate(length.unsigned_abs());
        let said = String::from_utf8_lossy(&text).into_owned();
        return if length < 0 { Err(said) } else { Ok(said) };
    }
}

/// Returns the directory that this library was loaded from.
fn own_directory() -> Option<PathBuf> {
    // SAFETY: an address inside this library, and memory for the answer, whose name ends in NUL and
    // lasts as long as the library.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(hardware as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    Some(path.canonicalize().ok()?.parent()?.to_owned())
}
