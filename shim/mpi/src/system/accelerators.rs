//! Queries to the runtimes of accelerators about the owner of an address: functions of their
//! libraries, by name.
//!
//! | library | query | memory that the processor can read |
//! |---|---|---|
//! | `libcuda.so`: CUDA's driver | `cuPointerGetAttribute` | the host's, unified and managed memory |
//! | `libamdhip64.so`: HIP | `hipPointerGetAttributes` | managed memory, and memory with a host address |
//! | `libze_loader.so`: Level Zero | `zeMemGetAllocProperties` | the host's and shared memory |
//!
//! An error means that the runtime does not know the address: it is the host's. Memory of any other
//! kind is treated as a device's, since the native MPI can access any.

use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ops::Range;
use std::ptr;

use once_cell::sync::OnceCell;

use crate::lookup::find_in_library;
use crate::words::Word;

/// Runtime that can be queried for a device's memory.
pub trait Runtime: Send + Sync {
    /// Returns the part of a device's memory that contains `address`, as far as is known; `None` if
    /// the processor can read it.
    fn device_memory(&self, address: Word) -> Option<Range<Word>>;

    /// True if a device may have memory by now.
    fn may_have_memory(&self) -> bool {
        true
    }
}

/// Returns the runtimes whose libraries are in this process.
pub fn find_all() -> Vec<Box<dyn Runtime>> {
    let cuda = Cuda::find().map(|found| Box::new(found) as Box<dyn Runtime>);
    let hip = Hip::find().map(|found| Box::new(found) as Box<dyn Runtime>);
    let level_zero = LevelZero::find().map(|found| Box::new(found) as Box<dyn Runtime>);
    [cuda, hip, level_zero].into_iter().flatten().collect()
}

/// Return code of these functions for success, in each runtime.
const SUCCESS: c_int = 0;

/// Returns the memory from `start` of this size, if it was found and contains `address`; otherwise
/// the single byte.
fn around(address: Word, found: Option<(Word, usize)>) -> Range<Word> {
    found
        .map(|(start, size)| start..start.saturating_add(size))
        .filter(|range| range.contains(&address))
        .unwrap_or(address..address.saturating_add(1))
}

/// Returns the function `name` of a library.
///
/// # Safety
/// It has the type `F`, a pointer to a function.
unsafe fn function<F: Copy>(library: &str, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let address = find_in_library(library, name)?;
    // SAFETY: the caller's promise.
    Some(unsafe { mem::transmute_copy(&address) })
}

/// CUDA's driver (cuda.h).
struct Cuda {
    /// `cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)`.
    get: unsafe extern "C" fn(*mut u64, c_int, Word) -> c_int,
}

impl Cuda {
    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`, `_IS_MANAGED`, `_RANGE_START_ADDR` and `_RANGE_SIZE`.
    const MEMORY_TYPE: c_int = 2;
    const IS_MANAGED: c_int = 8;
    const RANGE_START: c_int = 11;
    const RANGE_SIZE: c_int = 12;
    /// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_UNIFIED`.
    const HOST: u64 = 1;
    const UNIFIED: u64 = 4;

    fn find() -> Option<Self> {
        // SAFETY: cuda.h declares it so.
        let get = unsafe { function("libcuda", c"cuPointerGetAttribute") }?;
        Some(Cuda { get })
    }

    fn attribute(&self, which: c_int, address: Word) -> Option<u64> {
        let mut value = 0;
        // SAFETY: these attributes have at most eight bytes; the address is looked up, not read.
        let code = unsafe { (self.get)(&mut value, which, address) };
        (code == SUCCESS).then_some(value)
    }
}

impl Runtime for Cuda {
    fn device_memory(&self, address: Word) -> Option<Range<Word>> {
        match self.attribute(Self::MEMORY_TYPE, address)? {
            Self::HOST | Self::UNIFIED => return None,
            _ if self.attribute(Self::IS_MANAGED, address) == Some(1) => return None,
            _ => (),
        }
        let start = self.attribute(Self::RANGE_START, address);
        let size = self.attribute(Self::RANGE_SIZE, address);
        let found = start.zip(size);
        Some(around(
            address,
            found.map(|(start, size)| (start as Word, size as usize)),
        ))
    }
}

/// `hipPointerAttribute_t` (hip_runtime_api.h), with space for additions of later versions. The
/// numbers of its `type` changed their meaning in ROCm 6, so that it is not used.
#[repr(C)]
#[derive(Default)]
struct HipAttributes {
    memory_type: c_int,
    device: c_int,
    device_pointer: Word,
    host_pointer: Word,
    is_managed: c_int,
    flags: u32,
    more: [u64; 8],
}

/// HIP.
struct Hip {
    /// `hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)`.
    get: unsafe extern "C" fn(*mut HipAttributes, Word) -> c_int,
    /// `hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t ptr)`.
    range: Option<unsafe extern "C" fn(*mut Word, *mut usize, Word) -> c_int>,
}

impl Hip {
    fn find() -> Option<Self> {
        // SAFETY: hip_runtime_api.h declares them so.
        unsafe {
            Some(Hip {
                get: function("libamdhip64", c"hipPointerGetAttributes")?,
                range: function("libamdhip64", c"hipMemGetAddressRange"),
            })
        }
    }
}

impl Runtime for Hip {
    fn device_memory(&self, address: Word) -> Option<Range<Word>> {
        let mut found = HipAttributes::default();
        // SAFETY: the structure has space for the attributes; the address is looked up, not read.
        let code = unsafe { (self.get)(&mut found, address) };
        let is_device = found.device_pointer != 0 && found.host_pointer == 0;
        if code != SUCCESS || !is_device || found.is_managed != 0 {
            return None;
        }
        let (mut start, mut size) = (0, 0);
        let range = self.range.filter(|range| {
            // SAFETY: both are written, and the address is looked up.
            unsafe { range(&mut start, &mut size, address) == SUCCESS }
        });
        Some(around(address, range.map(|_| (start, size))))
    }
}

/// `ze_context_desc_t` (ze_api.h).
#[repr(C)]
struct ZeContextDescription {
    kind: u32,
    next: *const c_void,
    flags: u32,
}

/// `ze_memory_allocation_properties_t` (ze_api.h).
#[repr(C)]
struct ZeProperties {
    kind: u32,
    next: *const c_void,
    memory: u32,
    id: u64,
    page: u64,
}

/// Level Zero.
struct LevelZero {
    /// `zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)`.
    drivers: unsafe extern "C" fn(*mut u32, *mut Word) -> c_int,
    /// `zeContextCreate(driver, const ze_context_desc_t *, ze_context_handle_t *)`.
    create: unsafe extern "C" fn(Word, *const ZeContextDescription, *mut Word) -> c_int,
    /// `zeMemGetAllocProperties(context, const void *ptr, properties, ze_device_handle_t *)`.
    properties: unsafe extern "C" fn(Word, Word, *mut ZeProperties, *mut Word) -> c_int,
    /// `zeMemGetAddressRange(context, const void *ptr, void **base, size_t *size)`.
    range: unsafe extern "C" fn(Word, Word, *mut Word, *mut usize) -> c_int,
    /// One context of each driver, which queries about memory need. Created once the application
    /// has initialised the runtime, which this library never does.
    contexts: OnceCell<Vec<Word>>,
}

impl LevelZero {
    /// `ZE_STRUCTURE_TYPE_CONTEXT_DESC`, `ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES`.
    const CONTEXT_DESCRIPTION: u32 = 0xd;
    const ALLOCATION_PROPERTIES: u32 = 0x17;
    /// `ZE_MEMORY_TYPE_UNKNOWN`, `_HOST`, `_SHARED`.
    const READABLE: [u32; 3] = [0, 1, 3];
    /// Limit above the number of drivers of any machine.
    const MOST_DRIVERS: usize = 16;

    fn find() -> Option<Self> {
        let library = "libze_loader";
        // SAFETY: ze_api.h declares them so.
        unsafe {
            Some(LevelZero {
                drivers: function(library, c"zeDriverGet")?,
                create: function(library, c"zeContextCreate")?,
                properties: function(library, c"zeMemGetAllocProperties")?,
                range: function(library, c"zeMemGetAddressRange")?,
                contexts: OnceCell::new(),
            })
        }
    }

    fn contexts(&self) -> Option<&Vec<Word>> {
        let made = self.contexts.get_or_try_init(|| {
            let mut drivers = [0; Self::MOST_DRIVERS];
            let mut count = drivers.len() as u32;
            // SAFETY: the array has space for `count` drivers.
            let code = unsafe { (self.drivers)(&mut count, drivers.as_mut_ptr()) };
            match code {
                SUCCESS => Ok(drivers
                    .iter()
                    .take(count as usize)
                    .filter_map(|&driver| self.context(driver))
                    .collect()),
                code => Err(code),
            }
        });
        made.ok()
    }

    fn context(&self, driver: Word) -> Option<Word> {
        let description = ZeContextDescription {
            kind: Self::CONTEXT_DESCRIPTION,
            next: ptr::null(),
            flags: 0,
        };
        let mut context = 0;
        // SAFETY: the runtime's own driver, and a valid description.
        let code = unsafe { (self.create)(driver, &description, &mut context) };
        (code == SUCCESS).then_some(context)
    }

    fn is_device(&self, context: Word, address: Word) -> bool {
        let mut found = ZeProperties {
            kind: Self::ALLOCATION_PROPERTIES,
            next: ptr::null(),
            memory: 0,
            id: 0,
            page: 0,
        };
        // SAFETY: a context of the runtime; the address is looked up, not read, and no device is
        // requested.
        let code = unsafe { (self.properties)(context, address, &mut found, ptr::null_mut()) };
        code == SUCCESS && !Self::READABLE.contains(&found.memory)
    }
}

impl Runtime for LevelZero {
    fn device_memory(&self, address: Word) -> Option<Range<Word>> {
        let mut contexts = self.contexts()?.iter();
        let &context = contexts.find(|&&context| self.is_device(context, address))?;
        let (mut start, mut size) = (0, 0);
        // SAFETY: as above; both are written.
        let code = unsafe { (self.range)(context, address, &mut start, &mut size) };
        Some(around(address, (code == SUCCESS).then_some((start, size))))
    }

    /// hwloc loads it on any machine, to look for devices.
    fn may_have_memory(&self) -> bool {
        self.contexts().is_some_and(|contexts| !contexts.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Driver with memory of a device, managed memory, memory of the host, and memory of an unknown
    /// kind.
    unsafe extern "C" fn cuda(value: *mut u64, which: c_int, address: Word) -> c_int {
        let (memory, managed) = match address {
            0x1000..0x2000 => (2, 0),
            0x2000..0x3000 => (2, 1),
            0x3000..0x4000 => (1, 0),
            0x4000..0x5000 => (77, 0),
            _ => return 1,
        };
        let known = match which {
            Cuda::MEMORY_TYPE => memory,
            Cuda::IS_MANAGED => managed,
            Cuda::RANGE_START => (address & !0xfff) as u64,
            Cuda::RANGE_SIZE => 0x1000,
            _ => return 1,
        };
        // SAFETY: the caller passes the address of a value.
        unsafe { *value = known };
        SUCCESS
    }

    #[test]
    fn what_cuda_calls_a_device_s_and_not_managed_the_processor_can_t_read() {
        let cuda = Cuda { get: cuda };
        assert_eq!(cuda.device_memory(0x1800), Some(0x1000..0x2000));
        assert_eq!(cuda.device_memory(0x2800), None);
        assert_eq!(cuda.device_memory(0x3800), None);
        assert_eq!(cuda.device_memory(0x9000), None);
        // A kind of memory that this version does not know.
        assert_eq!(cuda.device_memory(0x4800), Some(0x4000..0x5000));
    }

    #[test]
    fn hip_s_memory_without_an_address_for_the_host_is_a_device_s() {
        unsafe extern "C" fn get(found: *mut HipAttributes, address: Word) -> c_int {
            // SAFETY: the caller passes the address of the attributes.
            let found = unsafe { &mut *found };
            found.device_pointer = address;
            match address {
                0x1000 => (),
                0x2000 => found.host_pointer = address,
                0x3000 => found.is_managed = 1,
                _ => return 1,
            }
            SUCCESS
        }
        let hip = Hip { get, range: None };
        assert_eq!(hip.device_memory(0x1000), Some(0x1000..0x1001));
        for address in [0x2000, 0x3000, 0x4000] {
            assert_eq!(hip.device_memory(address), None, "{address:#x}");
        }
    }

    #[test]
    fn level_zero_may_have_memory_once_it_has_a_driver() {
        static DRIVERS: AtomicU32 = AtomicU32::new(0);
        unsafe extern "C" fn drivers(count: *mut u32, _: *mut Word) -> c_int {
            // SAFETY: the caller passes the address of a count.
            unsafe { *count = DRIVERS.load(Ordering::Relaxed) };
            c_int::from(DRIVERS.load(Ordering::Relaxed) == 0)
        }
        unsafe extern "C" fn create(
            _: Word,
            _: *const ZeContextDescription,
            context: *mut Word,
        ) -> c_int {
            // SAFETY: the caller passes the address of a context.
            unsafe { *context = 1 };
            SUCCESS
        }
        unsafe extern "C" fn properties(
            _: Word,
            _: Word,
            _: *mut ZeProperties,
            _: *mut Word,
        ) -> c_int {
            SUCCESS
        }
        unsafe extern "C" fn range(_: Word, _: Word, _: *mut Word, _: *mut usize) -> c_int {
            SUCCESS
        }
        let level_zero = LevelZero {
            drivers,
            create,
            properties,
            range,
            contexts: OnceCell::new(),
        };
        assert!(!level_zero.may_have_memory());
        DRIVERS.store(1, Ordering::Relaxed);
        assert!(level_zero.may_have_memory());
    }

    #[test]
    fn a_range_that_does_not_hold_the_address_is_not_believed() {
        assert_eq!(around(5, Some((1, 10))), 1..11);
        assert_eq!(around(5, Some((6, 10))), 5..6);
        assert_eq!(around(Word::MAX, None), Word::MAX..Word::MAX);
    }
}
