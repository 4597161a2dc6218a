//! Compares every constant of the library's ABI descriptors with the headers of the MPI with which
//! this program was built.
//!
//! The library has no `mpi.h`; its knowledge of each MPI is in `shim/mpi/src/abi`, which this
//! program includes. `mpi-sys` has the same constants from the real header. If `bindgen` cannot
//! express one (a cast in a macro), MPI itself is queried for its meaning of the descriptor's
//! value. Prints one line per constant and ends with 1 if any differs. Runs on two ranks, since
//! Open MPI does not create a window for one.

// A build compares the descriptor of one family; the others, and their names, are unused.
#[allow(dead_code, unused_imports)]
#[path = "../../../../shim/mpi/src/abi/mod.rs"]
mod abi;

use abi::{Abi, Handle, Predefined};
use mpi_sys::*;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Display;
use std::process::ExitCode;
use treepie_programs::Session;

/// Counts of comparisons and differences.
#[derive(Default)]
struct Findings {
    compared: usize,
    different: usize,
}

impl Findings {
    fn compare<T: PartialEq + Display>(&mut self, name: &str, descriptor: T, header: T) {
        self.compared += 1;
        if descriptor == header {
            println!("same      {name} = {header}");
        } else {
            self.different += 1;
            println!("DIFFERENT {name}: the descriptor has {descriptor}, mpi.h has {header}");
        }
    }
}

fn main() -> ExitCode {
    let session = Session::start();
    let abi = descriptor();
    let mut findings = Findings::default();
    compare(abi, &session, &mut findings);
    println!(
        "{:?}: {} constants compared, {} different",
        abi.family, findings.compared, findings.different
    );
    ExitCode::from(u8::from(findings.different != 0))
}

/// The descriptor for the MPI to which this program is linked: the standard's if the MPI reports
/// that ABI, else by its version text.
fn descriptor() -> &'static Abi {
    if has_standard_abi() {
        return &abi::STANDARD;
    }
    let mut name = [0 as c_char; 65536];
    let mut length = 0;
    // SAFETY: longer than any MPI's MPI_MAX_LIBRARY_VERSION_STRING.
    let name = unsafe {
        MPI_Get_library_version(name.as_mut_ptr(), &mut length);
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    };
    match () {
        () if name.contains("Open MPI") => &abi::OPEN_MPI,
        () if name.contains("MPICH") || name.contains("Intel(R) MPI") => &abi::MPICH,
        () => panic!("no descriptor is known for an MPI that calls itself: {name}"),
    }
}

/// True if the MPI has the ABI of MPI 5.0: its query exists and returns a version (native builds
/// return -1).
fn has_standard_abi() -> bool {
    // SAFETY: the function has this type in every MPI that has it.
    unsafe {
        let query = libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Abi_get_version".as_ptr());
        if query.is_null() {
            return false;
        }
        let query: extern "C" fn(*mut c_int, *mut c_int) -> c_int = std::mem::transmute(query);
        let (mut major, mut minor) = (-1, -1);
        query(&mut major, &mut minor);
        major >= 1
    }
}

/// Compares all fields; every field is named here, so that a new one does not compile unchecked.
fn compare(abi: &Abi, session: &Session, findings: &mut Findings) {
    let Abi {
        family,
        handle_bytes,
        comm_world,
        comm_self,
        comm_null,
        byte,
        int64,
        double,
        datatype_null,
        request_null,
        sized_types: _, // see `compare_sizes`
        errors_are_fatal,
        errors_return,
        no_op,
        op_null,
        min,
        max,
        sum,
        cart,
        graph,
        dist_graph,
        any_source,
        any_tag,
        proc_null,
        undefined,
        in_place,
        status_bytes,
        status_error,
        status_ignore,
        statuses_ignore,
        err_truncate,
        err_intern,
        err_in_status,
        mode_no_succeed,
        lock_shared,
        thread_multiple,
        max_processor_name,
        max_library_version,
        predefined,
    } = abi;

    println!("          {family:?}");
    findings.compare("bytes of a handle", *handle_bytes, size_of::<MPI_Comm>());
    compare_sizes(abi, findings);
    // SAFETY: constants of mpi-sys's C part.
    unsafe {
        findings.compare("MPI_COMM_WORLD", word(comm_world), bits(RSMPI_COMM_WORLD));
        findings.compare("MPI_COMM_SELF", word(comm_self), bits(RSMPI_COMM_SELF));
        findings.compare("MPI_COMM_NULL", word(comm_null), bits(RSMPI_COMM_NULL));
        findings.compare(
            "MPI_DATATYPE_NULL",
            word(datatype_null),
            bits(RSMPI_DATATYPE_NULL),
        );
        findings.compare("MPI_INT64_T", word(int64), bits(RSMPI_INT64_T));
        findings.compare("MPI_DOUBLE", word(double), bits(RSMPI_DOUBLE));
        findings.compare("MPI_MIN", word(min), bits(RSMPI_MIN));
        findings.compare("MPI_MAX", word(max), bits(RSMPI_MAX));
        findings.compare("MPI_SUM", word(sum), bits(RSMPI_SUM));
        findings.compare("MPI_OP_NULL leaves", word(op_null), freed_op());
        findings.compare(
            "MPI_ERRORS_ARE_FATAL",
            word(errors_are_fatal),
            bits(RSMPI_ERRORS_ARE_FATAL),
        );
        findings.compare(
            "MPI_ERRORS_RETURN",
            word(errors_return),
            bits(RSMPI_ERRORS_RETURN),
        );
        findings.compare(
            "MPI_REQUEST_NULL",
            word(request_null),
            bits(RSMPI_REQUEST_NULL),
        );
        findings.compare("MPI_ANY_SOURCE", *any_source, RSMPI_ANY_SOURCE);
        findings.compare("MPI_ANY_TAG", *any_tag, RSMPI_ANY_TAG);
        findings.compare("MPI_PROC_NULL", *proc_null, RSMPI_PROC_NULL);
        findings.compare("MPI_UNDEFINED", *undefined, RSMPI_UNDEFINED);
        findings.compare("MPI_CART", *cart, RSMPI_CART);
        findings.compare("MPI_GRAPH", *graph, RSMPI_GRAPH);
        findings.compare("MPI_DIST_GRAPH", *dist_graph, RSMPI_DIST_GRAPH);
    }
    findings.compare("MPI_ERR_BUFFER", abi::ERR_BUFFER, MPI_ERR_BUFFER as i32);
    findings.compare("MPI_ERR_COUNT", abi::ERR_COUNT, MPI_ERR_COUNT as i32);
    findings.compare(
        "MPI_ERR_TRUNCATE",
        i64::from(*err_truncate),
        i64::from(MPI_ERR_TRUNCATE),
    );
    findings.compare(
        "MPI_ERR_INTERN",
        i64::from(*err_intern),
        i64::from(MPI_ERR_INTERN),
    );
    findings.compare(
        "MPI_ERR_IN_STATUS",
        i64::from(*err_in_status),
        i64::from(MPI_ERR_IN_STATUS),
    );
    findings.compare(
        "MPI_MODE_NOSUCCEED",
        i64::from(*mode_no_succeed),
        i64::from(MPI_MODE_NOSUCCEED),
    );
    findings.compare(
        "MPI_LOCK_SHARED",
        i64::from(*lock_shared),
        i64::from(MPI_LOCK_SHARED),
    );
    findings.compare(
        "MPI_THREAD_MULTIPLE",
        i64::from(*thread_multiple),
        i64::from(MPI_THREAD_MULTIPLE),
    );
    findings.compare(
        "MPI_MAX_PROCESSOR_NAME",
        *max_processor_name,
        MPI_MAX_PROCESSOR_NAME as usize,
    );
    findings.compare(
        "MPI_MAX_LIBRARY_VERSION_STRING",
        *max_library_version,
        MPI_MAX_LIBRARY_VERSION_STRING as usize,
    );
    findings.compare("MPI_BYTE is called", type_name(byte), "MPI_BYTE".to_owned());
    findings.compare(
        "bytes of an MPI_Status",
        *status_bytes,
        size_of::<MPI_Status>(),
    );
    findings.compare(
        "MPI_ERROR in an MPI_Status",
        *status_error,
        std::mem::offset_of!(MPI_Status, MPI_ERROR),
    );
    // SAFETY: constants of mpi-sys's C part.
    unsafe {
        let ignored = RSMPI_STATUS_IGNORE as usize;
        findings.compare("MPI_STATUS_IGNORE", *status_ignore, ignored);
        let ignored = RSMPI_STATUSES_IGNORE as usize;
        findings.compare("MPI_STATUSES_IGNORE", *statuses_ignore, ignored);
    }
    findings.compare("MPI_IN_PLACE keeps", sum_in_place(*in_place, session), 4711);
    findings.compare("MPI_NO_OP leaves", after_no_op(no_op), 4711);
    for ((name, descriptor), found) in [
        ("MPI_CART", cart),
        ("MPI_GRAPH", graph),
        ("MPI_DIST_GRAPH", dist_graph),
    ]
    .into_iter()
    .zip(topologies())
    {
        findings.compare(name, *descriptor, found);
    }
    compare_predefined(predefined, findings);
}

/// Compares the sizes encoded in handles with those of MPI.
fn compare_sizes(abi: &Abi, findings: &mut Findings) {
    // SAFETY: constants of mpi-sys's C part.
    let datatypes = unsafe {
        [
            ("MPI_C_BOOL", RSMPI_C_BOOL),
            ("MPI_FLOAT", RSMPI_FLOAT),
            ("MPI_DOUBLE", RSMPI_DOUBLE),
            ("MPI_INT8_T", RSMPI_INT8_T),
            ("MPI_INT16_T", RSMPI_INT16_T),
            ("MPI_INT32_T", RSMPI_INT32_T),
            ("MPI_INT64_T", RSMPI_INT64_T),
            ("MPI_UINT8_T", RSMPI_UINT8_T),
            ("MPI_UINT16_T", RSMPI_UINT16_T),
            ("MPI_UINT32_T", RSMPI_UINT32_T),
            ("MPI_UINT64_T", RSMPI_UINT64_T),
            ("MPI_C_FLOAT_COMPLEX", RSMPI_FLOAT_COMPLEX),
            ("MPI_C_DOUBLE_COMPLEX", RSMPI_DOUBLE_COMPLEX),
            ("MPI_BYTE", handle(word(&abi.byte))),
        ]
    };
    if abi.sized_types.mask == 0 {
        return; // no handle of this family has a size
    }
    for (name, datatype) in datatypes {
        let mut size: c_int = 0;
        // SAFETY: a datatype of this MPI, and memory for its size.
        unsafe { MPI_Type_size(datatype, &mut size) };
        let said = abi.type_size(bits(datatype)).map_or(-1, |size| size as i64);
        findings.compare(&format!("bytes of {name}"), said, i64::from(size));
    }
}

/// The contents of a window after an accumulate of a value with the descriptor's operation, which
/// must not change the window.
///
/// The fetched value is not checked: MPICH 4.0 may fetch a value other than the window's, another
/// process's value or an address.
fn freed_op() -> usize {
    // SAFETY: the operation is never used.
    unsafe {
        let mut op: MPI_Op = std::mem::zeroed();
        MPI_Op_create(Some(no_operation), 0, &mut op);
        MPI_Op_free(&mut op);
        bits(op)
    }
}

unsafe extern "C" fn no_operation(
    _left: *mut std::ffi::c_void,
    _right: *mut std::ffi::c_void,
    _count: *mut i32,
    _datatype: *mut MPI_Datatype,
) {
}

fn after_no_op(no_op: &Handle) -> i32 {
    let (mut fetched, added) = (0_i32, 1_i32);
    // SAFETY: the window's memory and the buffers live until it is freed.
    unsafe {
        let mut window: MPI_Win = handle(0);
        let mut there: *mut i32 = std::ptr::null_mut();
        MPI_Win_allocate(
            4,
            4,
            RSMPI_INFO_NULL,
            RSMPI_COMM_SELF,
            (&raw mut there).cast(),
            &mut window,
        );
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE as c_int, 0, 0, window);
        *there = 4711;
        MPI_Win_unlock(0, window);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE as c_int, 0, 0, window);
        MPI_Fetch_and_op(
            (&raw const added).cast(),
            (&raw mut fetched).cast(),
            RSMPI_INT32_T,
            0,
            0,
            handle(word(no_op)),
            window,
        );
        MPI_Win_unlock(0, window);
        let left = std::ptr::read_volatile(there);
        MPI_Win_free(&mut window);
        left
    }
}

/// The results of `MPI_Topo_test` for a Cartesian, a graph and a distributed graph communicator of
/// this process alone.
fn topologies() -> [i32; 3] {
    // SAFETY: arrays of one element for one process, whose only neighbour is
    // itself.
    unsafe {
        let (one, zero) = ([1 as c_int], [0 as c_int]);
        let mut made: [MPI_Comm; 3] = [RSMPI_COMM_NULL; 3];
        let [cart, graph, dist_graph] = &mut made;
        MPI_Cart_create(RSMPI_COMM_SELF, 1, one.as_ptr(), zero.as_ptr(), 0, cart);
        MPI_Graph_create(RSMPI_COMM_SELF, 1, one.as_ptr(), zero.as_ptr(), 0, graph);
        MPI_Dist_graph_create_adjacent(
            RSMPI_COMM_SELF,
            1,
            zero.as_ptr(),
            one.as_ptr(),
            1,
            zero.as_ptr(),
            one.as_ptr(),
            RSMPI_INFO_NULL,
            0,
            dist_graph,
        );
        made.map(|mut comm| {
            let mut topology = 0;
            MPI_Topo_test(comm, &mut topology);
            MPI_Comm_free(&mut comm);
            topology
        })
    }
}

fn compare_predefined(predefined: &Predefined, findings: &mut Findings) {
    let Predefined {
        tag_ub,
        host,
        io,
        wtime_is_global,
        universe_size,
        appnum,
        last_used_code,
    } = predefined;
    for (name, descriptor, header) in [
        ("MPI_TAG_UB", tag_ub, MPI_TAG_UB as i64),
        ("MPI_HOST", host, MPI_HOST as i64),
        ("MPI_IO", io, MPI_IO as i64),
        (
            "MPI_WTIME_IS_GLOBAL",
            wtime_is_global,
            MPI_WTIME_IS_GLOBAL as i64,
        ),
        ("MPI_UNIVERSE_SIZE", universe_size, MPI_UNIVERSE_SIZE as i64),
        ("MPI_APPNUM", appnum, MPI_APPNUM as i64),
        ("MPI_LASTUSEDCODE", last_used_code, MPI_LASTUSEDCODE as i64),
    ] {
        findings.compare(name, i64::from(*descriptor), header);
    }
}

/// A handle of the descriptor as the word passed by C.
fn word(handle: &Handle) -> usize {
    match handle {
        Handle::Value(value) => *value,
        // SAFETY: a C string; null is the result for a missing symbol.
        Handle::Symbol(name) => unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize },
    }
}

/// A handle of `mpi-sys` as the word passed by C.
fn bits<T: Copy>(handle: T) -> usize {
    let mut word = 0_usize;
    assert!(size_of::<T>() <= size_of::<usize>());
    // SAFETY: a handle is an int or a pointer, and fits; this machine is little-endian, like the
    // descriptors' numbers.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const handle).cast::<u8>(),
            (&raw mut word).cast::<u8>(),
            size_of::<T>(),
        )
    };
    word
}

/// A word as a handle of `mpi-sys`.
fn handle<T: Copy>(word: usize) -> T {
    assert!(size_of::<T>() <= size_of::<usize>());
    // SAFETY: the reverse of `bits`.
    unsafe { std::ptr::read((&raw const word).cast::<T>()) }
}

/// MPI's name of the datatype with this handle in the descriptor.
fn type_name(descriptor: &Handle) -> String {
    let mut name = [0 as c_char; 1024];
    let mut length: c_int = 0;
    // SAFETY: longer than MPI_MAX_OBJECT_NAME; an invalid handle is a fatal error, which is also a
    // result.
    unsafe {
        MPI_Type_get_name(
            handle::<MPI_Datatype>(word(descriptor)),
            name.as_mut_ptr(),
            &mut length,
        );
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    }
}

/// Adds over this process alone: MPI does not change the buffer if it takes the first argument for
/// MPI_IN_PLACE, and reads from that address otherwise.
fn sum_in_place(in_place: usize, session: &Session) -> i32 {
    let mut value = 4711_i32;
    // SAFETY: see above: a wrong value ends this program, which is the check.
    unsafe {
        MPI_Allreduce(
            in_place as *const c_void,
            (&raw mut value).cast::<c_void>(),
            1,
            RSMPI_INT32_T,
            RSMPI_SUM,
            session.world(),
        );
    }
    value / session.size()
}
