//! Constants and layouts of a family's binary interface.

/// Predefined handle: a number, or the address of an object in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    /// The handle is this number.
    Value(usize),
    /// The handle is the address of this symbol.
    Symbol(&'static std::ffi::CStr),
}

/// Libraries whose `mpi.h` agree on everything in [`Abi`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH 3.4 to 5 and its relatives: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// The standard ABI of MPI 5.0, with any library behind it.
    Standard,
}

/// Binary interface of one family.
#[derive(Debug)]
pub struct Abi {
    /// Family that it describes.
    pub family: Family,
    /// Bytes of a handle in memory: 4 (`int`) or 8 (pointer).
    pub handle_bytes: usize,
    /// `MPI_COMM_WORLD`.
    pub comm_world: Handle,
    /// `MPI_COMM_SELF`.
    pub comm_self: Handle,
    /// `MPI_COMM_NULL`.
    pub comm_null: Handle,
    /// `MPI_BYTE`.
    pub byte: Handle,
    /// `MPI_INT64_T`.
    pub int64: Handle,
    /// `MPI_DOUBLE`.
    pub double: Handle,
    /// `MPI_DATATYPE_NULL`.
    pub datatype_null: Handle,
    /// Handles of predefined datatypes that contain their size; none if the mask is 0.
    pub sized_types: SizedTypes,
    /// `MPI_REQUEST_NULL`.
    pub request_null: Handle,
    /// `MPI_ERRORS_ARE_FATAL`.
    pub errors_are_fatal: Handle,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: Handle,
    /// `MPI_NO_OP`.
    pub no_op: Handle,
    /// `MPI_OP_NULL`.
    pub op_null: Handle,
    /// `MPI_MIN`.
    pub min: Handle,
    /// `MPI_MAX`.
    pub max: Handle,
    /// `MPI_SUM`.
    pub sum: Handle,
    /// `MPI_CART`, of `MPI_Topo_test`.
    pub cart: i32,
    /// `MPI_GRAPH`.
    pub graph: i32,
    /// `MPI_DIST_GRAPH`.
    pub dist_graph: i32,
    /// `MPI_ANY_SOURCE`.
    pub any_source: i32,
    /// `MPI_ANY_TAG`.
    pub any_tag: i32,
    /// `MPI_PROC_NULL`.
    pub proc_null: i32,
    /// `MPI_UNDEFINED`.
    pub undefined: i32,
    /// `MPI_IN_PLACE` as C passes it.
    pub in_place: usize,
    /// Bytes of an `MPI_Status`.
    pub status_bytes: usize,
    /// Offset of `MPI_ERROR` in an `MPI_Status`, in bytes.
    pub status_error: usize,
    /// `MPI_STATUS_IGNORE` as C passes it.
    pub status_ignore: usize,
    /// `MPI_STATUSES_IGNORE` as C passes it.
    pub statuses_ignore: usize,
    /// `MPI_ERR_TRUNCATE`.
    pub err_truncate: i32,
    /// `MPI_ERR_INTERN`.
    pub err_intern: i32,
    /// `MPI_ERR_IN_STATUS`.
    pub err_in_status: i32,
    /// `MPI_MODE_NOSUCCEED`, of `MPI_Win_fence`.
    pub mode_no_succeed: i32,
    /// `MPI_LOCK_SHARED`, of `MPI_Win_lock`.
    pub lock_shared: i32,
    /// `MPI_THREAD_MULTIPLE`, the highest level.
    pub thread_multiple: i32,
    /// `MPI_MAX_PROCESSOR_NAME`.
    pub max_processor_name: usize,
    /// `MPI_MAX_LIBRARY_VERSION_STRING`.
    pub max_library_version: usize,
    /// Keyvals of the attributes that MPI predefines on its world.
    pub predefined: Predefined,
}

/// Handles of datatypes that contain the size of an element: those whose bits under `mask` equal
/// `kind`, in the byte that starts at bit `shift`.
#[derive(Debug)]
pub struct SizedTypes {
    /// Bits that hold the kind of a handle; 0 if no handle contains a size.
    pub mask: usize,
    /// Value of these bits.
    pub kind: usize,
    /// Position of the size in bits.
    pub shift: u32,
}

impl SizedTypes {
    /// Descriptor for families in which no handle contains a size.
    pub const NONE: SizedTypes = SizedTypes {
        mask: 0,
        kind: 1,
        shift: 0,
    };
}

/// `MPI_ERR_BUFFER`, in every family.
pub const ERR_BUFFER: i32 = 1;

/// `MPI_ERR_COUNT`, in every family.
pub const ERR_COUNT: i32 = 2;

impl Abi {
    /// Returns the bytes of an element of `datatype`, if its handle contains them.
    #[inline(always)]
    pub fn type_size(&self, datatype: usize) -> Option<u64> {
        let sized = &self.sized_types;
        (datatype & sized.mask == sized.kind).then_some((datatype >> sized.shift & 0xff) as u64)
    }
}

/// Keyvals of predefined attributes.
#[derive(Debug)]
pub struct Predefined {
    /// `MPI_TAG_UB`.
    pub tag_ub: i32,
    /// `MPI_HOST`.
    pub host: i32,
    /// `MPI_IO`.
    pub io: i32,
    /// `MPI_WTIME_IS_GLOBAL`.
    pub wtime_is_global: i32,
    /// `MPI_UNIVERSE_SIZE`.
    pub universe_size: i32,
    /// `MPI_APPNUM`.
    pub appnum: i32,
    /// `MPI_LASTUSEDCODE`.
    pub last_used_code: i32,
}

impl Predefined {
    /// True if MPI itself, and not the application, sets this attribute.
    pub fn contains(&self, keyval: i32) -> bool {
        [
            self.tag_ub,
            self.host,
            self.io,
            self.wtime_is_global,
            self.universe_size,
            self.appnum,
            self.last_used_code,
        ]
        .contains(&keyval)
    }
}
