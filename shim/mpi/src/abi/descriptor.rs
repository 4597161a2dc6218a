//! The constants and layouts of a family's binary interface.

/// A predefined handle: a number, or the address of an object in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    /// The handle is this number.
    Value(usize),
    /// The handle is the address of this symbol.
    Symbol(&'static std::ffi::CStr),
}

/// Libraries whose `mpi.h` agree on everything that is in [`Abi`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH 3.4 to 5 and its relatives: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// The standard ABI of MPI 5.0, whichever library stands behind it.
    Standard,
}

/// The binary interface of one family.
#[derive(Debug)]
pub struct Abi {
    /// Which family this describes.
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
    /// Which handles of predefined datatypes say their size; none where the mask is 0.
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
    /// Where `MPI_ERROR` is in an `MPI_Status`, in bytes.
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
    /// The keyvals of the attributes that MPI predefines on its world.
    pub predefined: Predefined,
}

/// Handles of datatypes that hold the size of an element: those whose bits under
/// `mask` are `kind`, in the byte that starts at the bit `shift`.
#[derive(Debug)]
pub struct SizedTypes {
    /// Bits that tell the kind of a handle; 0 where no handle holds a size.
    pub mask: usize,
    /// What these bits are.
    pub kind: usize,
    /// Where the size is.
    pub shift: u32,
}

impl SizedTypes {
    /// No handle holds a size.
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
    /// Bytes of an element of `datatype`, where its handle says so.
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
    /// Whether MPI itself, and not the application, set this attribute.
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
