//! What our own MPI programs share: an MPI session that ends with its owner,
//! and the few calls that they make, in Rust's types.
//!
//! These programs are built once for each MPI, since `mpi-sys` links to one;
//! `scripts/build` does it. They call the C interface by its `MPI_` names, as
//! any application does, so a preloaded library sees them.

pub mod clocks;
pub mod communicator;
pub mod controls;
pub mod layers;
pub mod ways;

use mpi_sys::{
    MPI_Comm, MPI_Request, RSMPI_COMM_WORLD, RSMPI_REQUEST_NULL, RSMPI_STATUS_IGNORE,
    RSMPI_STATUSES_IGNORE, RSMPI_UINT8_T,
};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Between `MPI_Init` and `MPI_Finalize`.
#[derive(Debug)]
pub struct Session(());

impl Session {
    /// Calls `MPI_Init`. One session at most may be started in a process.
    pub fn start() -> Self {
        // SAFETY: null pointers stand for absent arguments; errors are fatal
        // by MPI's default.
        unsafe { mpi_sys::MPI_Init(ptr::null_mut(), ptr::null_mut()) };
        Session(())
    }

    /// Calls `MPI_Init_thread` for `MPI_THREAD_MULTIPLE`, as [`Session::start`].
    ///
    /// # Errors
    /// What an MPI says that cannot have several threads in it.
    pub fn start_for_threads() -> Result<Self, String> {
        let (multiple, mut provided) = (mpi_sys::MPI_THREAD_MULTIPLE as c_int, 0);
        // SAFETY: as in `start`.
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
        // SAFETY: as in `rank`.
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
        // SAFETY: as in `isend`.
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

    /// Whether all these requests are complete; those are null then.
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

    /// A request that is none.
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

    /// Whether a message is waiting.
    pub fn has_message(&self, from: c_int, tag: c_int) -> bool {
        let mut flag = 0;
        // SAFETY: MPI writes the flag only.
        unsafe { mpi_sys::MPI_Iprobe(from, tag, self.world(), &mut flag, RSMPI_STATUS_IGNORE) };
        flag != 0
    }

    /// The length in bytes of the message that is waiting, if one is.
    pub fn waiting_bytes(&self, from: c_int, tag: c_int) -> Option<usize> {
        let mut flag = 0;
        let mut status = std::mem::MaybeUninit::uninit();
        let mut bytes: c_int = 0;
        // SAFETY: MPI fills the status if it sets the flag, and only then is the
        // status read.
        unsafe {
            mpi_sys::MPI_Iprobe(from, tag, self.world(), &mut flag, status.as_mut_ptr());
            if flag == 0 {
                return None;
            }
            mpi_sys::MPI_Get_count(status.as_ptr(), RSMPI_UINT8_T, &mut bytes);
        }
        usize::try_from(bytes).ok()
    }

    /// Makes a communicator of all ranks, in the order that they have, and leaves it.
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

/// What the MPI calls this process's host.
pub fn processor_name() -> String {
    text_of(mpi_sys::MPI_MAX_PROCESSOR_NAME as usize, |text, length| {
        // SAFETY: the buffer has the length that MPI asks for.
        unsafe { mpi_sys::MPI_Get_processor_name(text, length) };
    })
}

/// What the MPI calls itself: the first line of it.
pub fn library_version() -> String {
    let all = text_of(
        mpi_sys::MPI_MAX_LIBRARY_VERSION_STRING as usize,
        |text, length| {
            // SAFETY: the buffer has the length that MPI asks for.
            unsafe { mpi_sys::MPI_Get_library_version(text, length) };
        },
    );
    let line = all.lines().next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that MPI writes into a buffer of at most `longest` characters.
fn text_of(longest: usize, write: impl FnOnce(*mut std::ffi::c_char, *mut c_int)) -> String {
    let mut buffer = vec![0_u8; longest + 1];
    let mut length: c_int = 0;
    write(buffer.as_mut_ptr().cast(), &mut length);
    buffer.truncate(usize::try_from(length).unwrap_or(0).min(longest));
    String::from_utf8_lossy(&buffer)
        .trim_end_matches('\0')
        .trim()
        .to_owned()
}

/// The numbers of the cores that this process may run on; empty if nobody knows.
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: all zeros is an empty set of cores.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as large as it is said to be.
    let failed = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    if failed != 0 {
        return Vec::new();
    }
    let cores = 0..libc::CPU_SETSIZE as usize;
    // SAFETY: the numbers are below the size of the set.
    cores
        .filter(|&core| unsafe { libc::CPU_ISSET(core, &set) })
        .collect()
}
