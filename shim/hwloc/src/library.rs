//! The few calls of libhwloc that `hwloc2` does not offer, with types.
//!
//! `hwloc2` only opens this machine's topology, and keeps its handle private. So the handle is our
//! own, and the objects that it owns are read through `hwloc2`. Types represent the states of a
//! handle: [`Unloaded`] is given a source, and becomes [`Loaded`].

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong};
use std::ptr::NonNull;

use hwloc2::TopologyObject;

use crate::error::HwlocError;

/// `struct hwloc_topology`, which is opaque outside libhwloc.
#[repr(C)]
struct RawTopology {
    _private: [u8; 0],
}

/// `HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST`
const BLACKLIST: c_ulong = 1;

// Linked by hwloc2's build script. Signatures from hwloc.h of 2.9; all of
// them are the same in every 2.x since 2.1.
unsafe extern "C" {
    fn hwloc_get_api_version() -> c_uint;
    fn hwloc_topology_init(topology: *mut *mut RawTopology) -> c_int;
    fn hwloc_topology_destroy(topology: *mut RawTopology);
    fn hwloc_topology_load(topology: *mut RawTopology) -> c_int;
    fn hwloc_topology_set_components(
        topology: *mut RawTopology,
        flags: c_ulong,
        name: *const c_char,
    ) -> c_int;
    fn hwloc_topology_set_synthetic(
        topology: *mut RawTopology,
        description: *const c_char,
    ) -> c_int;
    fn hwloc_topology_set_xmlbuffer(
        topology: *mut RawTopology,
        buffer: *const c_char,
        size: c_int,
    ) -> c_int;
    fn hwloc_topology_set_io_types_filter(topology: *mut RawTopology, filter: c_int) -> c_int;
    fn hwloc_get_obj_by_depth(
        topology: *mut RawTopology,
        depth: c_int,
        index: c_uint,
    ) -> *mut TopologyObject;
    fn hwloc_obj_type_snprintf(
        text: *mut c_char,
        size: usize,
        object: *const TopologyObject,
        verbose: c_int,
    ) -> c_int;
    fn hwloc_obj_attr_snprintf(
        text: *mut c_char,
        size: usize,
        object: *const TopologyObject,
        separator: *const c_char,
        verbose: c_int,
    ) -> c_int;
}

/// The first fields of `struct hwloc_obj`, of hwloc 2.x: `hwloc2` frees a name that it returns.
#[repr(C)]
struct ObjectHead {
    kind: c_int,
    subtype: *const c_char,
    os_index: c_uint,
    name: *const c_char,
}

/// The virtual depths of I/O objects: `HWLOC_TYPE_DEPTH_*`.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum IoDepth {
    Pci = -5,
    OperatingSystem = -6,
}

/// `HWLOC_TYPE_FILTER_KEEP_IMPORTANT`
const KEEP_IMPORTANT: c_int = 3;

/// hwloc returned -1; the call determines the error.
#[derive(Debug)]
pub(crate) struct Refused;

/// Owner of a handle, which destroys it.
///
/// # Invariant
/// The pointer came from `hwloc_topology_init` and has no other owner.
struct Handle(NonNull<RawTopology>);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: by the invariant the handle is alive, and this is its last use.
        unsafe { hwloc_topology_destroy(self.0.as_ptr()) }
    }
}

/// A topology whose source is not set yet.
pub(crate) struct Unloaded(Handle);

/// A loaded topology, which does not change any more.
pub(crate) struct Loaded(Handle);

impl Unloaded {
    /// Creates a handle.
    ///
    /// # Errors
    /// [`HwlocError::WrongLibrary`] if libhwloc is not 2.x, whose objects have another layout;
    /// [`HwlocError::ThisMachine`] without memory.
    pub(crate) fn new() -> Result<Self, HwlocError> {
        // SAFETY: no argument, no precondition.
        let version = unsafe { hwloc_get_api_version() };
        if version >> 16 != 2 {
            return Err(HwlocError::WrongLibrary { version });
        }
        let mut topology = std::ptr::null_mut();
        // SAFETY: `topology` is a valid place for the new handle.
        let status = unsafe { hwloc_topology_init(&mut topology) };
        match NonNull::new(topology) {
            Some(handle) if status == 0 => Ok(Unloaded(Handle(handle))),
            _ => Err(HwlocError::ThisMachine {
                reason: std::io::Error::last_os_error().to_string(),
            }),
        }
    }

    /// Leaves out one of hwloc's discovery components. Components that this hwloc does not have are
    /// left out already.
    pub(crate) fn without_component(self, name: &CStr) -> Self {
        // SAFETY: the handle is alive and not loaded; `name` ends in NUL. A refusal changes
        // nothing, so it is not checked.
        unsafe { hwloc_topology_set_components(self.0.0.as_ptr(), BLACKLIST, name.as_ptr()) };
        self
    }

    /// Keeps the devices of buses, which hwloc leaves out by default.
    pub(crate) fn with_devices(self) -> Self {
        // SAFETY: the handle is alive and not loaded. A refusal changes nothing.
        unsafe { hwloc_topology_set_io_types_filter(self.0.0.as_ptr(), KEEP_IMPORTANT) };
        self
    }

    /// Loads the text of an hwloc XML file.
    pub(crate) fn load_xml(self, text: &CStr) -> Result<Loaded, Refused> {
        let bytes = text.to_bytes_with_nul();
        let size = c_int::try_from(bytes.len()).map_err(|_| Refused)?;
        // SAFETY: the handle is alive and not loaded; `text` is `size` bytes
        // with its final NUL, as hwloc demands, and outlives the loading.
        let status =
            unsafe { hwloc_topology_set_xmlbuffer(self.0.0.as_ptr(), text.as_ptr(), size) };
        accepted(status)?;
        self.load()
    }

    /// Builds the topology from a synthetic description.
    pub(crate) fn load_synthetic(self, description: &CStr) -> Result<Loaded, Refused> {
        // SAFETY: the handle is alive and not loaded; the description ends in
        // NUL and outlives the loading.
        let status =
            unsafe { hwloc_topology_set_synthetic(self.0.0.as_ptr(), description.as_ptr()) };
        accepted(status)?;
        self.load()
    }

    /// Loads the source that was set; without one, this machine, or its replacement by hwloc's own
    /// variables (`HWLOC_XMLFILE`, `HWLOC_SYNTHETIC`).
    pub(crate) fn load(self) -> Result<Loaded, Refused> {
        // SAFETY: the handle is alive and not loaded.
        let status = unsafe { hwloc_topology_load(self.0.0.as_ptr()) };
        accepted(status)?;
        Ok(Loaded(self.0))
    }
}

impl Loaded {
    /// The machine: the root of all objects.
    pub(crate) fn root(&self) -> Option<&TopologyObject> {
        // SAFETY: the handle is alive and loaded. The object, and everything that it points to,
        // belong to the handle, live as long, and are never written again: `Loaded` has no method
        // that changes them. hwloc2 declares the fields that it reads at the offsets of hwloc 2.x,
        // which `Unloaded::new` has checked.
        unsafe { hwloc_get_obj_by_depth(self.0.0.as_ptr(), 0, 0).as_ref() }
    }

    /// All objects of a type outside the tree.
    pub(crate) fn devices(&self, depth: IoDepth) -> Vec<&TopologyObject> {
        let object = |index: c_uint| {
            // SAFETY: like `root`; there is no object, and a null pointer, behind the last index.
            unsafe { hwloc_get_obj_by_depth(self.0.0.as_ptr(), depth as c_int, index).as_ref() }
        };
        (0..).map_while(object).collect()
    }
}

/// The name of an object, if it has one.
pub(crate) fn name(object: &TopologyObject) -> Option<String> {
    // SAFETY: hwloc's objects begin with these fields in 2.x, which `Unloaded::new` has checked. A
    // name is null or ends in NUL, and lives as long as its object.
    let name = unsafe {
        let head = &*std::ptr::from_ref(object).cast::<ObjectHead>();
        (!head.name.is_null()).then(|| CStr::from_ptr(head.name))
    };
    name.map(|name| name.to_string_lossy().into_owned())
}

/// hwloc's short name of an object's type: `OpenFabrics`, `Net`, `GPU`, `CoProc`.
pub(crate) fn type_of(object: &TopologyObject) -> String {
    // SAFETY: the buffer has the given size; the object is alive.
    written(|text, size| unsafe { hwloc_obj_type_snprintf(text, size, object, 0) })
}

/// Attributes and remarks, such as `busid=0000:3b:00.0`, one per line.
pub(crate) fn attributes(object: &TopologyObject) -> String {
    // SAFETY: like `type_of`; the separator ends in NUL.
    written(|text, size| unsafe { hwloc_obj_attr_snprintf(text, size, object, c"\n".as_ptr(), 1) })
}

/// The text of a function like `snprintf`; a text longer than 4 KiB is truncated.
fn written(write: impl Fn(*mut c_char, usize) -> c_int) -> String {
    let mut text = vec![0_u8; 4096];
    let length = usize::try_from(write(text.as_mut_ptr().cast(), text.len())).unwrap_or(0);
    text.truncate(length.min(4095));
    String::from_utf8_lossy(&text).into_owned()
}

/// Converts hwloc's status to a result.
fn accepted(status: c_int) -> Result<(), Refused> {
    if status == 0 { Ok(()) } else { Err(Refused) }
}
