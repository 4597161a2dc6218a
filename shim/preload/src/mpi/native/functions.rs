//! The native functions that Treepie calls, by their `PMPI_` names.

use std::ffi::{CStr, c_char, c_void};

use super::NativeError;
use crate::mpi::lookup::find;
use crate::mpi::{Comm, Datatype, Errhandler, Group, Op, Request, Win, Word, c_int};

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
    abort: PMPI_Abort(Comm, c_int);
    allgather: PMPI_Allgather(*const u8, c_int, Datatype, *mut u8, c_int, Datatype, Comm);
    allreduce: PMPI_Allreduce(*const u64, *mut u64, c_int, Datatype, Op, Comm);
    bcast: PMPI_Bcast(*mut u8, c_int, Datatype, c_int, Comm);
    cart_shift: PMPI_Cart_shift(Comm, c_int, c_int, *mut c_int, *mut c_int);
    cartdim_get: PMPI_Cartdim_get(Comm, *mut c_int);
    comm_call_errhandler: PMPI_Comm_call_errhandler(Comm, c_int);
    comm_create_errhandler: PMPI_Comm_create_errhandler(ErrorCallback, *mut Errhandler);
    comm_create_keyval: PMPI_Comm_create_keyval(CopyCallback, DeleteCallback, *mut c_int, Word);
    comm_delete_attr: PMPI_Comm_delete_attr(Comm, c_int);
    comm_free: PMPI_Comm_free(*mut Comm);
    comm_get_attr: PMPI_Comm_get_attr(Comm, c_int, *mut Word, *mut c_int);
    comm_get_errhandler: PMPI_Comm_get_errhandler(Comm, *mut Errhandler);
    comm_get_parent: PMPI_Comm_get_parent(*mut Comm);
    comm_group: PMPI_Comm_group(Comm, *mut Group);
    comm_rank: PMPI_Comm_rank(Comm, *mut c_int);
    comm_remote_group: PMPI_Comm_remote_group(Comm, *mut Group);
    comm_set_attr: PMPI_Comm_set_attr(Comm, c_int, Word);
    comm_set_errhandler: PMPI_Comm_set_errhandler(Comm, Errhandler);
    comm_set_name: PMPI_Comm_set_name(Comm, *const c_char);
    comm_size: PMPI_Comm_size(Comm, *mut c_int);
    comm_split: PMPI_Comm_split(Comm, c_int, c_int, *mut Comm);
    comm_test_inter: PMPI_Comm_test_inter(Comm, *mut c_int);
    dist_graph_neighbors: PMPI_Dist_graph_neighbors(Comm, c_int, *mut c_int, *mut c_int, c_int, *mut c_int, *mut c_int);
    dist_graph_neighbors_count: PMPI_Dist_graph_neighbors_count(Comm, *mut c_int, *mut c_int, *mut c_int);
    errhandler_free: PMPI_Errhandler_free(*mut Errhandler);
    error_string: PMPI_Error_string(c_int, *mut c_char, *mut c_int);
    get_library_version: PMPI_Get_library_version(*mut c_char, *mut c_int);
    get_processor_name: PMPI_Get_processor_name(*mut c_char, *mut c_int);
    get_version: PMPI_Get_version(*mut c_int, *mut c_int);
    graph_neighbors: PMPI_Graph_neighbors(Comm, c_int, c_int, *mut c_int);
    graph_neighbors_count: PMPI_Graph_neighbors_count(Comm, c_int, *mut c_int);
    group_free: PMPI_Group_free(*mut Group);
    group_incl: PMPI_Group_incl(Group, c_int, *const c_int, *mut Group);
    group_size: PMPI_Group_size(Group, *mut c_int);
    group_translate_ranks: PMPI_Group_translate_ranks(Group, c_int, *const c_int, Group, *mut c_int);
    irecv: PMPI_Irecv(Word, c_int, Datatype, c_int, c_int, Comm, *mut Request);
    isend: PMPI_Isend(Word, c_int, Datatype, c_int, c_int, Comm, *mut Request);
    op_commutative: PMPI_Op_commutative(Op, *mut c_int);
    recv: PMPI_Recv(*mut u8, c_int, Datatype, c_int, c_int, Comm, *mut u64);
    reduce_local: PMPI_Reduce_local(Word, Word, c_int, Datatype, Op);
    send: PMPI_Send(*const u8, c_int, Datatype, c_int, c_int, Comm);
    sendrecv: PMPI_Sendrecv(Word, c_int, Datatype, c_int, c_int, Word, c_int, Datatype, c_int, c_int, Comm, *mut u64);
    test_cancelled: PMPI_Test_cancelled(Word, *mut c_int);
    testsome: PMPI_Testsome(c_int, *mut Request, *mut c_int, *mut c_int, *mut u8);
    topo_test: PMPI_Topo_test(Comm, *mut c_int);
    type_commit: PMPI_Type_commit(*mut Datatype);
    type_create_hindexed: PMPI_Type_create_hindexed(c_int, *const c_int, *const i64, Datatype, *mut Datatype);
    type_free: PMPI_Type_free(*mut Datatype);
    type_get_envelope: PMPI_Type_get_envelope(Datatype, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    type_get_extent: PMPI_Type_get_extent(Datatype, *mut i64, *mut i64);
    type_get_true_extent: PMPI_Type_get_true_extent(Datatype, *mut i64, *mut i64);
    type_size: PMPI_Type_size(Datatype, *mut c_int);
    type_size_x: PMPI_Type_size_x(Datatype, *mut i64);
    win_get_group: PMPI_Win_get_group(Win, *mut Group);
}

/// `MPI_Comm_errhandler_function`: the addresses of a communicator and of an error
/// code; what an MPI adds is not looked at.
pub type ErrorCallback = unsafe extern "C" fn(*mut Comm, *mut c_int);

/// `MPI_Comm_delete_attr_function`.
pub type DeleteCallback = unsafe extern "C" fn(Comm, c_int, Word, Word) -> c_int;

/// `MPI_Comm_copy_attr_function`.
pub type CopyCallback = unsafe extern "C" fn(Comm, c_int, Word, Word, Word, *mut c_int) -> c_int;
