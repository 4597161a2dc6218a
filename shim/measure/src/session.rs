//! An MPI session, and messages between the ranks of its world.

use std::ffi::{c_int, c_void};
use std::ptr;

use treepie_mpi::native::Failed;
use treepie_mpi::program::{LoadError, Mpi};
use treepie_mpi::{Comm, Handle, Request, StatusAddress};

/// Words of memory, larger than every family's `MPI_Status`.
const STATUS: usize = 8;

/// The time between `MPI_Init` and `MPI_Finalize`.
pub struct Session(Mpi);

/// Checks the end of a call: by default, an error ends the job in the MPI, so that none returns.
#[inline]
pub(crate) fn done(result: Result<(), Failed>) {
    result.expect("the MPI ends the job at an error, by its default");
}

/// Returns a handle created by a call.
pub(crate) fn made<H: Handle>(make: impl FnOnce(&mut H) -> Result<(), Failed>) -> H {
    let mut handle = H::ABSENT;
    done(make(&mut handle));
    handle
}

/// Returns a number that a call writes.
pub(crate) fn told(tell: impl FnOnce(&mut c_int) -> Result<(), Failed>) -> c_int {
    let mut number = 0;
    done(tell(&mut number));
    number
}

impl Session {
    /// Opens one of `libraries` and calls `MPI_Init`. At most one session may be started in a
    /// process.
    ///
    /// # Errors
    /// None of the libraries can be used.
    pub fn start(libraries: &str) -> Result<Self, LoadError> {
        let mpi = Mpi::open(libraries)?;
        // SAFETY: null pointers stand for absent arguments.
        done(unsafe { mpi.functions.init(ptr::null_mut(), ptr::null_mut()) });
        Ok(Session(mpi))
    }

    /// The MPI, which runs during the lifetime of this session.
    pub fn mpi(&self) -> &Mpi {
        &self.0
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> Comm {
        self.0.world
    }

    /// This process's rank in the world.
    pub fn rank(&self) -> c_int {
        told(|rank| self.0.functions.comm_rank(self.world(), rank))
    }

    /// The number of ranks in the world.
    pub fn size(&self) -> c_int {
        told(|size| self.0.functions.comm_size(self.world(), size))
    }

    /// Starts to send bytes. The buffer must live until the request is waited
    /// for.
    #[inline]
    pub fn isend(&self, buffer: &[u8], to: c_int, tag: c_int) -> Request {
        let (address, length) = (buffer.as_ptr().cast::<c_void>(), length(buffer));
        let (byte, world) = (self.0.byte, self.world());
        // SAFETY: the buffer is borrowed for the call and kept by the caller until `wait`.
        made(|request| unsafe {
            let functions = &self.0.functions;
            functions.isend(address, length, byte, to, tag, world, request)
        })
    }

    /// Starts to receive bytes. The buffer must live until the request is
    /// waited for.
    #[inline]
    pub fn irecv(&self, buffer: &mut [u8], from: c_int, tag: c_int) -> Request {
        let (length, address) = (length(buffer), buffer.as_mut_ptr().cast::<c_void>());
        let (byte, world) = (self.0.byte, self.world());
        // SAFETY: like `isend`.
        made(|request| unsafe {
            let functions = &self.0.functions;
            functions.irecv(address, length, byte, from, tag, world, request)
        })
    }

    /// Waits for a request.
    #[inline]
    pub fn wait(&self, mut request: Request) {
        // SAFETY: the request was made by MPI and is used once.
        done(unsafe { self.0.functions.wait(&mut request, self.0.no_status()) });
    }

    /// Sends bytes.
    #[inline]
    pub fn send(&self, buffer: &[u8], to: c_int, tag: c_int) {
        let (address, length) = (buffer.as_ptr().cast::<c_void>(), length(buffer));
        // SAFETY: the buffer lives through the call.
        done(unsafe {
            let functions = &self.0.functions;
            functions.send(address, length, self.0.byte, to, tag, self.world())
        });
    }

    /// Receives bytes.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8], from: c_int, tag: c_int) {
        let (length, address) = (length(buffer), buffer.as_mut_ptr().cast::<c_void>());
        let (byte, status) = (self.0.byte, self.0.no_status());
        // SAFETY: the buffer lives through the call.
        done(unsafe {
            let functions = &self.0.functions;
            functions.recv(address, length, byte, from, tag, self.world(), status)
        });
    }

    /// The length in bytes of a waiting message, if there is one.
    pub fn waiting_bytes(&self, from: c_int, tag: c_int) -> Option<usize> {
        let mut room = [0; STATUS];
        let status = StatusAddress::of_room(&mut room);
        let functions = &self.0.functions;
        // SAFETY: MPI fills the status, which is large enough, if it sets the flag, and only then
        // is the status read.
        let bytes = unsafe {
            let world = self.world();
            if told(|flag| functions.iprobe(from, tag, world, flag, status)) == 0 {
                return None;
            }
            told(|bytes| functions.get_count(status, self.0.byte, bytes))
        };
        usize::try_from(bytes).ok()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing of MPI is used after this.
        let _ = self.0.functions.finalize();
    }
}

fn length(buffer: &[u8]) -> c_int {
    c_int::try_from(buffer.len()).expect("what is measured is at most 256 MiB long")
}

/// The numbers of the cores that this process may use; empty if not known.
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: all zeros is an empty set of cores.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set has the given size.
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
