//! An MPI session, and messages between the ranks of its world.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use super::loading::LoadError;
use super::mpi::Mpi;
use crate::native::Failed;
use crate::{Comm, Handle, Request, StatusAddress};

/// Words of memory, larger than every family's `MPI_Status`.
const STATUS: usize = 8;

/// The time between `MPI_Init` and `MPI_Finalize`.
pub struct Session(Mpi);

/// Checks the end of a call: by default, an error ends the job in the MPI, so that none returns.
#[inline]
pub(super) fn done(result: Result<(), Failed>) {
    result.expect("the MPI ends the job at an error, by its default");
}

/// Returns a handle created by a call.
pub(super) fn made<H: Handle>(make: impl FnOnce(&mut H) -> Result<(), Failed>) -> H {
    let mut handle = H::ABSENT;
    done(make(&mut handle));
    handle
}

/// Returns a number that a call writes.
pub(super) fn number(write: impl FnOnce(&mut c_int) -> Result<(), Failed>) -> c_int {
    let mut number = 0;
    done(write(&mut number));
    number
}

/// Converts a length to MPI's type of counts.
pub(super) fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("what is measured is at most 256 MiB long")
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
    pub(super) fn world(&self) -> Comm {
        self.0.world
    }

    /// This process's rank in the world.
    pub fn rank(&self) -> c_int {
        number(|rank| self.0.functions.comm_rank(self.world(), rank))
    }

    /// The number of ranks in the world.
    pub fn size(&self) -> c_int {
        number(|size| self.0.functions.comm_size(self.world(), size))
    }

    /// Starts messages by `begin`, and waits for all of them in the order in which they were
    /// started: their buffers are borrowed until then.
    pub fn together<'b>(&self, begin: impl FnOnce(&mut Pending<'_, 'b>)) {
        let mut pending = Pending {
            mpi: &self.0,
            requests: Vec::new(),
            buffers: PhantomData,
        };
        begin(&mut pending);
    }

    /// Sends bytes.
    #[inline]
    pub fn send(&self, buffer: &[u8], to: c_int, tag: c_int) {
        let (address, length) = (buffer.as_ptr().cast::<c_void>(), int(buffer.len()));
        // SAFETY: the buffer lives through the call.
        done(unsafe {
            let functions = &self.0.functions;
            functions.send(address, length, self.0.byte, to, tag, self.world())
        });
    }

    /// Receives bytes.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8], from: c_int, tag: c_int) {
        let (length, address) = (int(buffer.len()), buffer.as_mut_ptr().cast::<c_void>());
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
        let functions = &self.0.functions;
        // SAFETY: the room is there until the end of this function. MPI fills the status, which is
        // large enough, if it sets the flag, and only then is the status read.
        let bytes = unsafe {
            let status = StatusAddress::of_room(&mut room);
            let world = self.world();
            if number(|flag| functions.iprobe(from, tag, world, flag, status)) == 0 {
                return None;
            }
            number(|bytes| functions.get_count(status, self.0.byte, bytes))
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

/// Messages in flight, of one call of [`Session::together`], which ends them: their buffers are
/// borrowed for longer than that call.
pub struct Pending<'s, 'b> {
    mpi: &'s Mpi,
    requests: Vec<Request>,
    buffers: PhantomData<&'b mut [u8]>,
}

impl<'b> Pending<'_, 'b> {
    /// Starts to send bytes.
    #[inline]
    pub fn send(&mut self, buffer: &'b [u8], to: c_int, tag: c_int) {
        let (address, length) = (buffer.as_ptr().cast::<c_void>(), int(buffer.len()));
        let mpi = self.mpi;
        // SAFETY: the buffer is borrowed until `Session::together` has waited for the request.
        self.requests.push(made(|request| unsafe {
            mpi.functions
                .isend(address, length, mpi.byte, to, tag, mpi.world, request)
        }));
    }

    /// Starts to receive bytes.
    #[inline]
    pub fn receive(&mut self, buffer: &'b mut [u8], from: c_int, tag: c_int) {
        let (length, address) = (int(buffer.len()), buffer.as_mut_ptr().cast::<c_void>());
        let mpi = self.mpi;
        // SAFETY: like `send`.
        self.requests.push(made(|request| unsafe {
            mpi.functions
                .irecv(address, length, mpi.byte, from, tag, mpi.world, request)
        }));
    }
}

impl Drop for Pending<'_, '_> {
    fn drop(&mut self) {
        for &request in &self.requests {
            wait(self.mpi, request);
        }
    }
}

/// Waits for a request, whose buffer still exists.
#[inline]
pub(super) fn wait(mpi: &Mpi, mut request: Request) {
    // SAFETY: MPI made the request, or checks it, and a status is not wanted.
    done(unsafe { mpi.functions.wait(&mut request, mpi.no_status()) });
}
