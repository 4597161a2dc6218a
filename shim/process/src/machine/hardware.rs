//! Hardware of this host, read by the companion library. That one is only opened here, when a
//! topology is needed, and in a separate name space: its libhwloc must not replace the one that an
//! MPI brings.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::log;

const COMPANION: &str = "libtreepie_hwloc.so";

/// Functions of the companion that read the hardware: cores alone, and with network interfaces and
/// accelerators, which takes twice as long.
const CORES: &CStr = c"treepie_hwloc_topology";
const WITH_DEVICES: &CStr = c"treepie_hwloc_topology_with_devices";

/// Their type.
type Read = unsafe extern "C" fn(*mut c_char, usize) -> isize;

/// Returns this host's cores in the text form of `treepie_topology::Machine`, without the host's
/// name; `None` if they cannot be read.
pub fn read() -> Option<String> {
    read_by(CORES)
}

/// Returns this host's cores, network interfaces and accelerators, for a profile.
pub fn read_with_devices() -> Option<String> {
    read_by(WITH_DEVICES)
}

fn read_by(function: &CStr) -> Option<String> {
    match read_by_companion(function) {
        Ok(text) => Some(without_host(&text)),
        Err(reason) => {
            log::info(&format!("the hardware of this host is not known: {reason}"));
            None
        }
    }
}

/// Removes the host's name: equal hosts have the same text.
fn without_host(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("host "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn read_by_companion(function: &CStr) -> Result<String, String> {
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
    let address = unsafe { libc::dlsym(library, function.as_ptr()) };
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
        if libc::dladdr(read as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    Some(path.canonicalize().ok()?.parent()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_machine_loses_its_host() {
        let text = "machine 1\nhost a\nlevel core 2\nunits 0 1\n";
        assert_eq!(without_host(text), "machine 1\nlevel core 2\nunits 0 1\n");
    }
}
