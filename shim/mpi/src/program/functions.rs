//! Procedures that Treepie's own programs call, by their `MPI_` names.

use std::ffi::{CStr, c_char, c_void};

use crate::lookup::find_variable;
use crate::native::NativeError;
use crate::procedures::procedures;
use crate::{Comm, Datatype, Group, Info, Op, Request, StatusAddress, Win, c_int};

/// Returns the address of the procedure of this name, which ends in NUL: searched from the program
/// on, as the linker does for an application, so that a preloaded library comes first.
fn address(name: &'static str) -> Result<*mut c_void, NativeError> {
    let text = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
    find_variable(text).ok_or(NativeError::Missing(name.trim_end_matches('\0')))
}

procedures! {
    /// Addresses of the procedures of an MPI.
    pub(super) struct Functions, "MPI_", address;
    safe {
        barrier: Barrier(comm: Comm);
        comm_create_group: Comm_create_group(comm: Comm, group: Group, tag: c_int, made: &mut Comm);
        comm_dup: Comm_dup(comm: Comm, made: &mut Comm);
        comm_dup_with_info: Comm_dup_with_info(comm: Comm, info: Info, made: &mut Comm);
        comm_free: Comm_free(comm: &mut Comm);
        comm_group: Comm_group(comm: Comm, group: &mut Group);
        comm_rank: Comm_rank(comm: Comm, rank: &mut c_int);
        comm_size: Comm_size(comm: Comm, size: &mut c_int);
        comm_split: Comm_split(comm: Comm, color: c_int, key: c_int, made: &mut Comm);
        finalize: Finalize();
        group_free: Group_free(group: &mut Group);
        ibarrier: Ibarrier(comm: Comm, request: &mut Request);
        info_create: Info_create(info: &mut Info);
        info_free: Info_free(info: &mut Info);
        type_commit: Type_commit(datatype: &mut Datatype);
        type_free: Type_free(datatype: &mut Datatype);
        type_vector: Type_vector(count: c_int, length: c_int, stride: c_int, datatype: Datatype, made: &mut Datatype);
        win_complete: Win_complete(window: Win);
        win_fence: Win_fence(assertion: c_int, window: Win);
        win_flush: Win_flush(target: c_int, window: Win);
        win_free: Win_free(window: &mut Win);
        win_lock: Win_lock(kind: c_int, target: c_int, assertion: c_int, window: Win);
        win_lock_all: Win_lock_all(assertion: c_int, window: Win);
        win_post: Win_post(group: Group, assertion: c_int, window: Win);
        win_start: Win_start(group: Group, assertion: c_int, window: Win);
        win_unlock: Win_unlock(target: c_int, window: Win);
        win_unlock_all: Win_unlock_all(window: Win);
        win_wait: Win_wait(window: Win);
    }
    raw {
        accumulate: Accumulate(origin: *const c_void, count: c_int, datatype: Datatype, target: c_int, displacement: i64, target_count: c_int, target_type: Datatype, op: Op, window: Win);
        allgather: Allgather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, comm: Comm);
        allgatherv: Allgatherv(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, counts: *const c_int, places: *const c_int, receive_type: Datatype, comm: Comm);
        allreduce: Allreduce(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm);
        alltoall: Alltoall(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, comm: Comm);
        bcast: Bcast(buffer: *mut c_void, count: c_int, datatype: Datatype, root: c_int, comm: Comm);
        comm_set_name: Comm_set_name(comm: Comm, name: *const c_char);
        exscan: Exscan(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm);
        gather: Gather(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, root: c_int, comm: Comm);
        get: Get(origin: *mut c_void, count: c_int, datatype: Datatype, target: c_int, displacement: i64, target_count: c_int, target_type: Datatype, window: Win);
        get_count: Get_count(status: StatusAddress, datatype: Datatype, count: &mut c_int);
        get_library_version: Get_library_version(text: *mut c_char, length: &mut c_int);
        get_processor_name: Get_processor_name(text: *mut c_char, length: &mut c_int);
        group_incl: Group_incl(group: Group, count: c_int, ranks: *const c_int, made: &mut Group);
        info_set: Info_set(info: Info, key: *const c_char, value: *const c_char);
        init: Init(count: *mut c_int, words: *mut c_void);
        iprobe: Iprobe(source: c_int, tag: c_int, comm: Comm, flag: &mut c_int, status: StatusAddress);
        irecv: Irecv(buffer: *mut c_void, count: c_int, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, request: &mut Request);
        isend: Isend(buffer: *const c_void, count: c_int, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm, request: &mut Request);
        put: Put(origin: *const c_void, count: c_int, datatype: Datatype, target: c_int, displacement: i64, target_count: c_int, target_type: Datatype, window: Win);
        recv: Recv(buffer: *mut c_void, count: c_int, datatype: Datatype, source: c_int, tag: c_int, comm: Comm, status: StatusAddress);
        reduce: Reduce(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, root: c_int, comm: Comm);
        reduce_scatter: Reduce_scatter(send: *const c_void, receive: *mut c_void, counts: *const c_int, datatype: Datatype, op: Op, comm: Comm);
        reduce_scatter_block: Reduce_scatter_block(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm);
        scan: Scan(send: *const c_void, receive: *mut c_void, count: c_int, datatype: Datatype, op: Op, comm: Comm);
        scatter: Scatter(send: *const c_void, send_count: c_int, send_type: Datatype, receive: *mut c_void, receive_count: c_int, receive_type: Datatype, root: c_int, comm: Comm);
        send: Send(buffer: *const c_void, count: c_int, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm);
        test: Test(request: &mut Request, flag: &mut c_int, status: StatusAddress);
        type_create_hindexed: Type_create_hindexed(count: c_int, lengths: *const c_int, starts: *const i64, datatype: Datatype, made: &mut Datatype);
        wait: Wait(request: &mut Request, status: StatusAddress);
        win_create: Win_create(memory: *mut c_void, bytes: i64, unit: c_int, info: Info, comm: Comm, window: &mut Win);
    }
}
