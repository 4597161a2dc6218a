//! Requests of this library's own operations: generalized requests, and persistent receives from
//! oneself; and objects that the application may free during such an operation.

use std::sync::Arc;

use super::mpi::{Native, native};
use crate::{
    Comm, Datatype, Handle, HandleAddress, IntAddress, Op, Request, SUCCESS, StatusAddress, Word,
    c_int,
};

/// Operation behind a generalized request.
pub trait Generalized: Send + Sync + 'static {
    /// Notes that its request is freed.
    fn freed(&self);
}

/// `MPI_Grequest_query_function`.
unsafe extern "C" fn query(_state: Word, status: StatusAddress) -> c_int {
    if let Some(native) = native() {
        native.set_empty(status);
    }
    SUCCESS
}

/// `MPI_Grequest_free_function`.
unsafe extern "C" fn free<T: Generalized>(state: Word) -> c_int {
    // SAFETY: the state of `start_generalized`, which is freed once.
    let operation = unsafe { Arc::from_raw(state as *const T) };
    operation.freed();
    SUCCESS
}

/// `MPI_Grequest_cancel_function`.
unsafe extern "C" fn refuse(_state: Word, _is_complete: c_int) -> c_int {
    SUCCESS
}

impl Native {
    /// `MPI_Grequest_start`: a request that is complete after [`Native::complete_generalized`], and
    /// can't be cancelled.
    pub fn start_generalized<T: Generalized>(&self, operation: Arc<T>) -> Result<Request, c_int> {
        let state = Arc::into_raw(operation);
        let mut request = Request::ABSENT;
        let (free, word) = (free::<T>, state as Word);
        // SAFETY: the state is held until the request is freed.
        let started = unsafe {
            self.functions
                .grequest_start(query, free, refuse, word, &mut request)
        };
        if let Err(failed) = started {
            // SAFETY: made above, and not shared.
            drop(unsafe { Arc::from_raw(state) });
            return Err(failed.code);
        }
        Ok(request)
    }

    /// `MPI_Grequest_complete`.
    pub fn complete_generalized(&self, request: Request) -> Result<(), c_int> {
        Ok(self.functions.grequest_complete(request)?)
    }

    /// Fills in the status of a collective: nothing was received, and nothing cancelled.
    pub fn set_empty(&self, status: StatusAddress) {
        // MPI_SOURCE, MPI_TAG and MPI_ERROR are consecutive in every family.
        let Some(place) = status.error(self) else {
            return;
        };
        // SAFETY: a status is there, and statuses may be written.
        unsafe {
            place.sub(2).write(self.abi.undefined);
            place.sub(1).write(self.abi.undefined);
            let _ = self.functions.status_set_elements(status, self.byte, 0);
            let _ = self.functions.status_set_cancelled(status, 0);
        }
    }

    /// `MPI_Recv_init` of an empty message from this process, which is `rank` in `comm`.
    pub fn prepare_marker(
        &self,
        (comm, rank, tag): (Comm, usize, c_int),
    ) -> Result<Request, c_int> {
        let mut request = Request::ABSENT;
        let byte = self.byte;
        // SAFETY: nothing is received.
        unsafe {
            self.functions
                .recv_init(0, 0, byte, rank as c_int, tag, comm, &mut request)?
        };
        Ok(request)
    }

    /// Sends the message of [`Native::prepare_marker`], which completes that request.
    pub fn send_marker(&self, (comm, rank, tag): (Comm, usize, c_int)) -> Result<(), c_int> {
        let nothing = std::ptr::null();
        // SAFETY: nothing is sent.
        unsafe {
            self.functions
                .send(nothing, 0, self.byte, rank as c_int, tag, comm)?
        };
        Ok(())
    }

    /// `MPI_Start`.
    pub fn start(&self, mut request: Request) -> Result<(), c_int> {
        Ok(self.functions.start(&mut request)?)
    }

    /// `MPI_Request_free`.
    pub fn free_request(&self, mut request: Request) {
        let _ = self.functions.request_free(&mut request);
    }

    /// Returns `MPI_INT64_T` and `MPI_MIN`.
    pub fn least_of_numbers(&self) -> (Datatype, Op) {
        (self.int64, self.min)
    }

    /// `MPI_Testany`: true if a request was completed, or none is active.
    pub fn test_any(
        &self,
        count: c_int,
        requests: HandleAddress<Request>,
        index: IntAddress,
        status: StatusAddress,
    ) -> Result<bool, c_int> {
        let mut flag = 0;
        let (requests, index) = (requests.word(), index.word());
        // SAFETY: that many requests are there, and whoever made them keeps their memory; an `int`,
        // and a status or the value for none.
        unsafe {
            self.functions
                .testany(count, requests, index, &mut flag, status)?
        };
        Ok(flag != 0)
    }

    /// `MPI_Testsome`: true if requests were completed, or none is active.
    pub fn test_some(
        &self,
        count: c_int,
        requests: HandleAddress<Request>,
        (completed, indices): (IntAddress, IntAddress),
        statuses: StatusAddress,
    ) -> Result<bool, c_int> {
        let mut number = completed.read();
        // SAFETY: that many requests, indices and statuses are there, or the value for no statuses;
        // whoever made the requests keeps their memory.
        let tested = unsafe {
            self.functions.testsome(
                count,
                requests.word() as *mut Request,
                &mut number,
                indices.word() as *mut c_int,
                statuses.word() as *mut u8,
            )
        };
        completed.write(number);
        tested?;
        Ok(number != 0)
    }
}

/// Object that the application frees by its handle.
pub trait Freed: Handle + Send + 'static {
    /// Returns the null handle.
    fn null(native: &Native) -> Self;

    /// Frees it.
    fn free(self, native: &Native);
}

impl Freed for Datatype {
    fn null(native: &Native) -> Self {
        native.datatype_null
    }

    fn free(self, native: &Native) {
        native.free_type(self);
    }
}

impl Freed for Op {
    fn null(native: &Native) -> Self {
        native.op_null
    }

    fn free(mut self, native: &Native) {
        let _ = native.functions.op_free(&mut self);
    }
}
