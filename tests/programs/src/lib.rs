//! Parts shared by our own MPI programs: an MPI session that ends with its owner, and the few calls
//! that they make, with Rust types.
//!
//! These programs are built once for each MPI, since `mpi-sys` links to one; `scripts/build` does
//! it. They call the C interface by its `MPI_` names, like any application, so that a preloaded
//! library intercepts them.

pub mod layers;

use mpi_sys::{
    MPI_Comm, MPI_Request, RSMPI_COMM_WORLD, RSMPI_REQUEST_NULL, RSMPI_STATUS_IGNORE,
    RSMPI_STATUSES_IGNORE, RSMPI_UINT8_T,
};
use std::ffi::{c_int, c_void};
use std::ptr;

/// A session between `MPI_Init` and `MPI_Finalize`.
#[derive(Debug)]
pub struct Session(());

impl Session {
    /// Calls `MPI_Init`. At most one session may be started in a process.
    pub fn start() -> Self {
        // SAFETY: null pointers stand for absent arguments; errors are fatal
        // by MPI's default.
        unsafe { mpi_sys::MPI_Init(ptr::null_mut(), ptr::null_mut()) };
        Session(())
    }

    /// Calls `MPI_Init_thread` for `MPI_THREAD_MULTIPLE`, otherwise like [`Session::start`].
    ///
    /// # Errors
    /// Message of an MPI that does not support several threads.
    pub fn start_for_threads() -> Result<Self, String> {
        let (multiple, mut provided) = (mpi_sys::MPI_THREAD_MULTIPLE as c_int, 0);
        // SAFETY: like `start`.
        unsafe {
            mpi_sys::MPI_Init_thread(ptr::null_mut(), ptr::null_mut(), multiple, &mut provided)
        };
        match provided >= multiple {
            true => Ok(Session(())),
            false => Err(format!("this MPI allows threads of level {provided} only")),
        }
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> MPI_Comm {
        // SAFETY: a constant of mpi-sys's C part.
        unsafe { RSMPI_COMM_WORLD }
    }

    /// This process's rank in the world.
    pub fn rank(&self) -> c_int {
        let mut rank = 0;
        // SAFETY: MPI is running while `self` lives.
        unsafe { mpi_sys::MPI_Comm_rank(self.world(), &mut rank) };
        rank
    }

    /// The number of ranks in the world.
    pub fn size(&self) -> c_int {
        let mut size = 0;
        // SAFETY: like `rank`.
        unsafe { mpi_sys::MPI_Comm_size(self.world(), &mut size) };
        size
    }

    /// Starts to send bytes. The buffer must live until the request is waited
    /// for.
    #[inline]
    pub fn isend(&self, buffer: &[u8], to: c_int, tag: c_int) -> MPI_Request {
        let mut request = std::mem::MaybeUninit::uninit();
        // SAFETY: `Irecv`, `Isend` fill the request; the buffer is borrowed for the
        // call and kept by the caller until `wait`.
        unsafe {
            mpi_sys::MPI_Isend(
                buffer.as_ptr().cast::<c_void>(),
                length(buffer),
                RSMPI_UINT8_T,
                to,
                tag,
                self.world(),
                request.as_mut_ptr(),
            );
            request.assume_init()
        }
    }

    /// Starts to receive bytes. The buffer must live until the request is
    /// waited for.
    #[inline]
    pub fn irecv(&self, buffer: &mut [u8], from: c_int, tag: c_int) -> MPI_Request {
        let mut request = std::mem::MaybeUninit::uninit();
        // SAFETY: like `isend`.
        unsafe {
            mpi_sys::MPI_Irecv(
                buffer.as_mut_ptr().cast::<c_void>(),
                length(buffer),
                RSMPI_UINT8_T,
                from,
                tag,
                self.world(),
                request.as_mut_ptr(),
            );
            request.assume_init()
        }
    }

    /// Waits for a request.
    #[inline]
    pub fn wait(&self, mut request: MPI_Request) {
        // SAFETY: the request was made by MPI and is used once.
        unsafe { mpi_sys::MPI_Wait(&mut request, RSMPI_STATUS_IGNORE) };
    }

    /// True if all these requests are complete; they are then null.
    #[inline]
    pub fn test_all(&self, requests: &mut [MPI_Request]) -> bool {
        let mut flag = 0;
        let count = c_int::try_from(requests.len()).expect("these programs have a few requests");
        // SAFETY: the requests were made by MPI or are null; nothing else uses them.
        unsafe {
            mpi_sys::MPI_Testall(
                count,
                requests.as_mut_ptr(),
                &mut flag,
                RSMPI_STATUSES_IGNORE,
            )
        };
        flag != 0
    }

    /// A null request.
    pub fn no_request() -> MPI_Request {
        // SAFETY: a constant of mpi-sys's C part.
        unsafe { RSMPI_REQUEST_NULL }
    }

    /// Sends bytes.
    #[inline]
    pub fn send(&self, buffer: &[u8], to: c_int, tag: c_int) {
        // SAFETY: the buffer lives through the call.
        unsafe {
            mpi_sys::MPI_Send(
                buffer.as_ptr().cast::<c_void>(),
                length(buffer),
                RSMPI_UINT8_T,
                to,
                tag,
                self.world(),
            );
        }
    }

    /// Receives bytes.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8], from: c_int, tag: c_int) {
        // SAFETY: the buffer lives through the call.
        unsafe {
            mpi_sys::MPI_Recv(
                buffer.as_mut_ptr().cast::<c_void>(),
                length(buffer),
                RSMPI_UINT8_T,
                from,
                tag,
                self.world(),
                RSMPI_STATUS_IGNORE,
            );
        }
    }

    /// True if a message is waiting.
    pub fn has_message(&self, from: c_int, tag: c_int) -> bool {
        let mut flag = 0;
        // SAFETY: MPI only writes the flag.
        unsafe { mpi_sys::MPI_Iprobe(from, tag, self.world(), &mut flag, RSMPI_STATUS_IGNORE) };
        flag != 0
    }

    /// Creates a communicator of all ranks in their present order, and does not free it.
    /// Collective.
    pub fn split(&self) {
        let mut made = std::mem::MaybeUninit::uninit();
        // SAFETY: MPI fills the handle.
        unsafe { mpi_sys::MPI_Comm_split(self.world(), 0, self.rank(), made.as_mut_ptr()) };
    }

    /// Waits for all ranks.
    pub fn barrier(&self) {
        // SAFETY: MPI is running while `self` lives.
        unsafe { mpi_sys::MPI_Barrier(self.world()) };
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: MPI is running, and nothing of it is used after this.
        unsafe { mpi_sys::MPI_Finalize() };
    }
}

fn length(buffer: &[u8]) -> c_int {
    c_int::try_from(buffer.len()).expect("these programs send a few bytes")
}
