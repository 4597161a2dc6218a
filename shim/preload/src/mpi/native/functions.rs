//! The native functions that Treepie calls, by their `PMPI_` names.

use std::ffi::{CStr, c_char, c_void};

use super::NativeError;
use crate::mpi::lookup::find;
use crate::mpi::{Word, c_int};

macro_rules! host_functions {
    ($($field:ident: $name:ident($($argument:ty),*);)*) => {
        /// Addresses of the native functions, by their `PMPI_` names.
        pub(super) struct Functions { $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)* }

        impl Functions {
            pub(super) fn find() -> Result<Self, NativeError> {
                $(
                    let name = stringify!($name);
                    let symbol = CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
                        .map_err(|_| NativeError::Missing(name))?;
                    let $field = find(symbol).ok_or(NativeError::Missing(name))?;
                )*
                // SAFETY: each address is that of the MPI procedure named, whose
                // parameters are those declared, in every family.
                Ok(unsafe { Functions {
                    $($field: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn($($argument),*) -> c_int,
                    >($field),)*
                } })
            }
        }
    };
}

host_functions! {
    abort: PMPI_Abort(Word, c_int);
    allgather: PMPI_Allgather(*const u8, c_int, Word, *mut u8, c_int, Word, Word);
    allreduce: PMPI_Allreduce(*const u64, *mut u64, c_int, Word, Word, Word);
    bcast: PMPI_Bcast(*mut u8, c_int, Word, c_int, Word);
    cart_shift: PMPI_Cart_shift(Word, c_int, c_int, *mut c_int, *mut c_int);
    cartdim_get: PMPI_Cartdim_get(Word, *mut c_int);
    comm_call_errhandler: PMPI_Comm_call_errhandler(Word, c_int);
    comm_create_errhandler: PMPI_Comm_create_errhandler(ErrorCallback, *mut Word);
    comm_create_keyval: PMPI_Comm_create_keyval(CopyCallback, DeleteCallback, *mut c_int, Word);
    comm_delete_attr: PMPI_Comm_delete_attr(Word, c_int);
    comm_free: PMPI_Comm_free(*mut Word);
    comm_get_attr: PMPI_Comm_get_attr(Word, c_int, *mut Word, *mut c_int);
    comm_get_errhandler: PMPI_Comm_get_errhandler(Word, *mut Word);
    comm_get_parent: PMPI_Comm_get_parent(*mut Word);
    comm_group: PMPI_Comm_group(Word, *mut Word);
    comm_rank: PMPI_Comm_rank(Word, *mut c_int);
    comm_remote_group: PMPI_Comm_remote_group(Word, *mut Word);
    comm_set_attr: PMPI_Comm_set_attr(Word, c_int, Word);
    comm_set_errhandler: PMPI_Comm_set_errhandler(Word, Word);
    comm_set_name: PMPI_Comm_set_name(Word, *const c_char);
    comm_size: PMPI_Comm_size(Word, *mut c_int);
    comm_split: PMPI_Comm_split(Word, c_int, c_int, *mut Word);
    comm_test_inter: PMPI_Comm_test_inter(Word, *mut c_int);
    dist_graph_neighbors: PMPI_Dist_graph_neighbors(Word, c_int, *mut c_int, *mut c_int, c_int, *mut c_int, *mut c_int);
    dist_graph_neighbors_count: PMPI_Dist_graph_neighbors_count(Word, *mut c_int, *mut c_int, *mut c_int);
    errhandler_free: PMPI_Errhandler_free(*mut Word);
    error_string: PMPI_Error_string(c_int, *mut c_char, *mut c_int);
    get_library_version: PMPI_Get_library_version(*mut c_char, *mut c_int);
    get_processor_name: PMPI_Get_processor_name(*mut c_char, *mut c_int);
    get_version: PMPI_Get_version(*mut c_int, *mut c_int);
    graph_neighbors: PMPI_Graph_neighbors(Word, c_int, c_int, *mut c_int);
    graph_neighbors_count: PMPI_Graph_neighbors_count(Word, c_int, *mut c_int);
    group_free: PMPI_Group_free(*mut Word);
    group_incl: PMPI_Group_incl(Word, c_int, *const c_int, *mut Word);
    group_size: PMPI_Group_size(Word, *mut c_int);
    group_translate_ranks: PMPI_Group_translate_ranks(Word, c_int, *const c_int, Word, *mut c_int);
    irecv: PMPI_Irecv(Word, c_int, Word, c_int, c_int, Word, *mut Word);
    isend: PMPI_Isend(Word, c_int, Word, c_int, c_int, Word, *mut Word);
    op_commutative: PMPI_Op_commutative(Word, *mut c_int);
    pack: PMPI_Pack(Word, c_int, Word, Word, c_int, *mut c_int, Word);
    recv: PMPI_Recv(*mut u8, c_int, Word, c_int, c_int, Word, *mut u64);
    reduce_local: PMPI_Reduce_local(Word, Word, c_int, Word, Word);
    send: PMPI_Send(*const u8, c_int, Word, c_int, c_int, Word);
    sendrecv: PMPI_Sendrecv(Word, c_int, Word, c_int, c_int, Word, c_int, Word, c_int, c_int, Word, *mut u64);
    test_cancelled: PMPI_Test_cancelled(Word, *mut c_int);
    testsome: PMPI_Testsome(c_int, *mut Word, *mut c_int, *mut c_int, *mut u8);
    topo_test: PMPI_Topo_test(Word, *mut c_int);
    type_get_envelope: PMPI_Type_get_envelope(Word, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    type_get_extent: PMPI_Type_get_extent(Word, *mut i64, *mut i64);
    type_get_true_extent: PMPI_Type_get_true_extent(Word, *mut i64, *mut i64);
    type_size: PMPI_Type_size(Word, *mut c_int);
    type_size_x: PMPI_Type_size_x(Word, *mut i64);
    unpack: PMPI_Unpack(Word, c_int, *mut c_int, Word, c_int, Word, Word);
    win_get_group: PMPI_Win_get_group(Word, *mut Word);
}

/// `MPI_Comm_errhandler_function`: the addresses of a communicator and of an error
/// code; what an MPI adds is not looked at.
pub type ErrorCallback = unsafe extern "C" fn(*mut Word, *mut c_int);

/// `MPI_Comm_delete_attr_function`.
pub type DeleteCallback = unsafe extern "C" fn(Word, c_int, Word, Word) -> c_int;

/// `MPI_Comm_copy_attr_function`.
pub type CopyCallback = unsafe extern "C" fn(Word, c_int, Word, Word, Word, *mut c_int) -> c_int;
