//! Native functions that Treepie calls, by their `PMPI_` names.

use std::ffi::{CStr, c_char, c_void};

use super::error::NativeError;
use crate::lookup::find;
use crate::procedures::procedures;
use crate::{
    Comm, Datatype, Errhandler, Group, Info, Op, Request, StatusAddress, Win, Word, c_int,
};

/// Returns the address of the function of this name, which ends in NUL.
fn address(name: &'static str) -> Result<*mut c_void, NativeError> {
    let text = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
    find(text).ok_or(NativeError::Missing(name.trim_end_matches('\0')))
}

procedures! {
    /// Addresses of the native functions.
    pub(super) struct Functions, "PMPI_", address;
    safe {
        abort: Abort(comm: Comm, code: c_int);
        cart_shift: Cart_shift(comm: Comm, dimension: c_int, steps: c_int, before: &mut c_int, after: &mut c_int);
        cartdim_get: Cartdim_get(comm: Comm, dimensions: &mut c_int);
        comm_call_errhandler: Comm_call_errhandler(comm: Comm, code: c_int);
        comm_create_group: Comm_create_group(comm: Comm, group: Group, tag: c_int, made: &mut Comm);
        comm_create_errhandler: Comm_create_errhandler(function: ErrorCallback, handler: &mut Errhandler);
        comm_create_keyval: Comm_create_keyval(copy: CopyCallback, delete: DeleteCallback, keyval: &mut c_int, extra: Word);
        comm_delete_attr: Comm_delete_attr(comm: Comm, keyval: c_int);
        comm_dup_with_info: Comm_dup_with_info(comm: Comm, info: Info, made: &mut Comm);
        comm_free: Comm_free(comm: &mut Comm);
        comm_get_attr: Comm_get_attr(comm: Comm, keyval: c_int, value: &mut Word, flag: &mut c_int);
        comm_get_errhandler: Comm_get_errhandler(comm: Comm, handler: &mut Errhandler);
        comm_get_parent: Comm_get_parent(parent: &mut Comm);
        comm_group: Comm_group(comm: Comm, group: &mut Group);
        comm_rank: Comm_rank(comm: Comm, rank: &mut c_int);
        comm_remote_group: Comm_remote_group(comm: Comm, group: &mut Group);
        comm_set_attr: Comm_set_attr(comm: Comm, keyval: c_int, value: Word);
        comm_set_errhandler: Comm_set_errhandler(comm: Comm, handler: Errhandler);
        comm_size: Comm_size(comm: Comm, size: &mut c_int);
        comm_split: Comm_split(comm: Comm, color: c_int, key: c_int, made: &mut Comm);
        comm_test_inter: Comm_test_inter(comm: Comm, flag: &mut c_int);
        error_class: Error_class(code: c_int, class: &mut c_int);
        dist_graph_neighbors_count: Dist_graph_neighbors_count(comm: Comm, incoming: &mut c_int, outgoing: &mut c_int, weighted: &mut c_int);
        errhandler_free: Errhandler_free(handler: &mut Errhandler);
        get_version: Get_version(major: &mut c_int, minor: &mut c_int);
        graph_neighbors_count: Graph_neighbors_count(comm: Comm, rank: c_int, count: &mut c_int);
        group_free: Group_free(group: &mut Group);
        group_size: Group_size(group: Group, size: &mut c_int);
        grequest_complete: Grequest_complete(request: Request);
        info_create: Info_create(info: &mut Info);
        info_free: Info_free(info: &mut Info);
        op_commutative: Op_commutative(op: Op, flag: &mut c_int);
        op_free: Op_free(op: &mut Op);
        query_thread: Query_thread(level: &mut c_int);
        request_free: Request_free(request: &mut Request);
        start: Start(request: &mut Request);
        topo_test: Topo_test(comm: Comm, topology: &mut c_int);
        type_commit: Type_commit(datatype: &mut Datatype);
        type_free: Type_free(datatype: &mut Datatype);
        type_get_envelope: Type_get_envelope(datatype: Datatype, integers: &mut c_int, addresses: &mut c_int, datatypes: &mut c_int, combiner: &mut c_int);
        type_get_extent: Type_get_extent(datatype: Datatype, bound: &mut i64, extent: &mut i64);
        type_get_true_extent: Type_get_true_extent(datatype: Datatype, bound: &mut i64, extent: &mut i64);
        type_size: Type_size(datatype: Datatype, size: &mut c_int);
        type_size_x: Type_size_x(datatype: Datatype, size: &mut i64);
        win_flush: Win_flush(target: c_int, window: Win);
        win_get_group: Win_get_group(window: Win, group: &mut Group);
    }
    raw {
        accumulate: Accumulate(origin: Word, count: c_int, datatype: Datatype, target: c_int, displacement: i64, target_count: c_int, target_type: Datatype, op: Op, window: Win);
        allgather: Allgather(send: *const u8, send_count: c_int, send_type: Datatype, receive: *mut u8, receive_count: c_int, receive_type: Datatype, comm: Comm);
        allreduce: Allreduce(send: *const u64, receive: *mut u64, count: c_int, datatype: Datatype, op: Op, comm: Comm);
        bcast: Bcast(buffer: *mut u8, count: c_int, datatype: Datatype, root: c_int, comm: Comm);
        comm_get_name: Comm_get_name(comm: Comm, name: *mut c_char, length: &mut c_int);
        comm_set_name: Comm_set_name(comm: Comm, name: *const c_char);
        dist_graph_neighbors: Dist_graph_neighbors(comm: Comm, incoming: c_int, sources: *mut c_int, source_weights: *mut c_int, outgoing: c_int, destinations: *mut c_int, weights: *mut c_int);
        error_string: Error_string(code: c_int, text: *mut c_char, length: &mut c_int);
        get_library_version: Get_library_version(text: *mut c_char, length: &mut c_int);
        get_processor_name: Get_processor_name(text: *mut c_char, length: &mut c_int);
        graph_neighbors: Graph_neighbors(comm: Comm, rank: c_int, most: c_int, neighbours: *mut c_int);
        grequest_start: Grequest_start(query: QueryCallback, free: FreeCallback, cancel: CancelCallback, state: Word, request: &mut Request);
        group_incl: Group_incl(group: Group, count: c_int, ranks: *const c_int, made: &mut Group);
        group_translate_ranks: Group_translate_ranks(group: Group, count: c_int, ranks: *const c_int, other: Group, translated: *mut c_int);
        iallreduce: Iallreduce(send: *const i64, receive: *mut i64, count: c_int, datatype: Datatype, op: Op, comm: Comm, request: &mut Request);
        irecv: Irecv(buffer: Word, count: c_int, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: &mut Request);
        isend: Isend(buffer: Word, count: c_int, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: &mut Request);
        info_set: Info_set(info: Info, key: *const c_char, value: *const c_char);
        put: Put(origin: Word, count: c_int, datatype: Datatype, target: c_int, displacement: i64, target_count: c_int, target_type: Datatype, window: Win);
        recv_init: Recv_init(buffer: Word, count: c_int, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: &mut Request);
        recv: Recv(buffer: *mut u8, count: c_int, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: *mut u64);
        reduce_local: Reduce_local(left: Word, right: Word, count: c_int, datatype: Datatype, op: Op);
        send: Send(buffer: *const u8, count: c_int, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm);
        sendrecv: Sendrecv(send: Word, send_count: c_int, send_type: Datatype, dest: c_int, send_tag: c_int, receive: Word, receive_count: c_int, receive_type: Datatype, source: c_int, receive_tag: c_int, comm: Comm, status: *mut u64);
        get_count: Get_count(status: StatusAddress, datatype: Datatype, count: &mut c_int);
        test_cancelled: Test_cancelled(status: StatusAddress, flag: &mut c_int);
        iprobe: Iprobe(source: c_int, tag: c_int, comm: Comm, flag: &mut c_int, status: *mut u64);
        test: Test(request: Word, flag: &mut c_int, status: StatusAddress);
        status_set_cancelled: Status_set_cancelled(status: StatusAddress, flag: c_int);
        status_set_elements: Status_set_elements(status: StatusAddress, datatype: Datatype, count: c_int);
        testany: Testany(count: c_int, requests: Word, index: Word, flag: &mut c_int, status: StatusAddress);
        testsome: Testsome(count: c_int, requests: *mut Request, completed: &mut c_int, indices: *mut c_int, statuses: *mut u8);
        type_create_hindexed_block: Type_create_hindexed_block(count: c_int, length: c_int, starts: *const i64, datatype: Datatype, made: &mut Datatype);
        type_create_hindexed: Type_create_hindexed(count: c_int, lengths: *const c_int, starts: *const i64, datatype: Datatype, made: &mut Datatype);
    }
}

/// `MPI_Comm_errhandler_function`: the addresses of a communicator and of an error code; additional
/// arguments of an MPI are ignored.
pub type ErrorCallback = unsafe extern "C" fn(*mut Comm, *mut c_int);

/// `MPI_Comm_delete_attr_function`.
pub type DeleteCallback = unsafe extern "C" fn(Comm, c_int, Word, Word) -> c_int;

/// `MPI_Comm_copy_attr_function`.
pub type CopyCallback = unsafe extern "C" fn(Comm, c_int, Word, Word, Word, *mut c_int) -> c_int;

/// `MPI_Grequest_query_function`.
pub type QueryCallback = unsafe extern "C" fn(Word, StatusAddress) -> c_int;

/// `MPI_Grequest_free_function`.
pub type FreeCallback = unsafe extern "C" fn(Word) -> c_int;

/// `MPI_Grequest_cancel_function`.
pub type CancelCallback = unsafe extern "C" fn(Word, c_int) -> c_int;
