//! The companion library as used by the preloaded library: opened at run time.
#![allow(clippy::unwrap_used)] // a test may panic

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use treepie_topology::Machine;

type ReadTopology = unsafe extern "C" fn(*mut c_char, usize) -> isize;

/// The library that cargo built with this test, in the same directory.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libtreepie_hwloc_companion.so")
}

const PLAIN: &CStr = c"treepie_hwloc_topology";
const WITH_DEVICES: &CStr = c"treepie_hwloc_topology_with_devices";

fn open(name: &CStr) -> ReadTopology {
    let path = CString::new(library().as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a string, and the library has no initializers.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?} cannot be opened");
    // SAFETY: the handle is open, and never closed.
    let symbol = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!symbol.is_null(), "{name:?} is not exported");
    // SAFETY: the function has this type, by its documentation.
    unsafe { std::mem::transmute::<*mut libc::c_void, ReadTopology>(symbol) }
}

/// The result of a function with a buffer of `length` bytes, and the bytes written.
fn call(name: &CStr, length: usize) -> (isize, Vec<u8>) {
    let mut buffer = vec![0_u8; length];
    // SAFETY: the buffer has `length` bytes.
    let result = unsafe { open(name)(buffer.as_mut_ptr().cast(), length) };
    (result, buffer)
}

#[test]
fn the_text_is_the_machine_that_hwloc_reads() {
    let here = treepie_hwloc::Source::ThisMachine;
    for (name, expected) in [
        (PLAIN, here.read().unwrap()),
        (WITH_DEVICES, here.read_with_devices().unwrap()),
    ] {
        let (length, mut buffer) = call(name, 1 << 16);
        buffer.truncate(usize::try_from(length).unwrap());
        let machine: Machine = String::from_utf8(buffer).unwrap().parse().unwrap();
        assert_eq!(machine, expected, "{name:?}");
    }
}

#[test]
fn a_small_buffer_gets_the_start_and_the_needed_length() {
    let (needed, whole) = call(PLAIN, 1 << 16);
    let (again, start) = call(PLAIN, 7);
    assert_eq!(again, needed);
    assert_eq!(start, &whole[..7]);
    // SAFETY: with length 0 the buffer is not touched.
    let without_buffer = unsafe { open(PLAIN)(std::ptr::null_mut(), 0) };
    assert_eq!(without_buffer, needed);
}

#[test]
fn a_topology_that_cannot_be_read_becomes_a_message_of_negative_length() {
    const CHILD: &str = "TREEPIE_HWLOC_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let (length, buffer) = call(PLAIN, 1 << 12);
        assert!(length < 0);
        let message = String::from_utf8(buffer[..length.unsigned_abs()].to_vec()).unwrap();
        assert!(message.contains("no tree of cores"), "{message}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machine.xml");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/x5550.xml");
    let whole = std::fs::read_to_string(fixture).unwrap();
    std::fs::write(&path, whole.replace("os_index=\"2\"", "os_index=\"0\"")).unwrap();
    let name = "a_topology_that_cannot_be_read_becomes_a_message_of_negative_length";
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(CHILD, "1")
        .env("HWLOC_XMLFILE", &path)
        // It would take precedence over the file.
        .env_remove("HWLOC_COMPONENTS")
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
}

#[test]
fn nothing_but_hwloc_and_the_c_run_time_is_needed() {
    let output = Command::new("readelf").arg("-d").arg(library()).output();
    let output = output.expect("readelf: install binutils");
    let text = String::from_utf8(output.stdout).unwrap();
    let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
    let mut names: Vec<&str> = needed
        .filter_map(|line| line.split(['[', ']']).nth(1))
        .filter(|name| !["libc.so.6", "libgcc_s.so.1"].contains(name))
        .filter(|name| !name.starts_with("ld-linux"))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["libhwloc.so.15"]);
}
