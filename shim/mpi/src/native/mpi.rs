//! Functions of the native MPI, looked up once, with the constants of its family.

use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use once_cell::sync::OnceCell;

use super::super::abi::{self, Abi, MPICH, OPEN_MPI, STANDARD};
use super::super::lookup::{find, find_variable};
use super::super::{Comm, Datatype, Errhandler, Handle, Op, Request, c_int, elf, words::Word};
use super::error::NativeError;
use super::functions::Functions;
use super::predefined_types::PredefinedTypes;

/// Limit in bytes below which the stack of a program's first thread, and its heap, are assumed to
/// be.
pub(super) const LARGEST_STACK: usize = 64 << 20;
pub(super) const LARGEST_HEAP: usize = 1 << 40;

/// Native MPI.
pub struct Native {
    /// Its binary interface.
    pub abi: &'static Abi,
    /// True if it is Open MPI, with any interface: others are of the MPICH family.
    pub is_open_mpi: bool,
    /// Its `MPI_COMM_WORLD`.
    pub world: Comm,
    /// Its `MPI_COMM_SELF`.
    pub comm_self: Comm,
    pub(super) byte: Datatype,
    pub(super) int64: Datatype,
    pub(super) datatype_null: Datatype,
    comm_null: Comm,
    request_null: Request,
    /// `MPI_ERRORS_ARE_FATAL`.
    pub errors_are_fatal: Errhandler,
    pub(super) errors_return: Errhandler,
    no_op: Op,
    pub(super) op_null: Op,
    pub(super) min: Op,
    /// Handler that replaces `MPI_ERRORS_ARE_FATAL`; 0 while there is none.
    pub stand_in: AtomicUsize,
    pub(super) predefined_types: PredefinedTypes,
    /// Variables of the program itself, among which the linker puts variables of libraries that it
    /// names.
    program_variables: Range<usize>,
    /// End of the heap when it was last examined, and of the first thread's stack; 0 if unknown.
    heap_end: AtomicUsize,
    stack_end: Word,
    pub(super) functions: Functions,
}

pub(super) static NATIVE: OnceCell<Native> = OnceCell::new();

/// Returns the ABI of the native MPI, once it is known.
pub fn abi() -> Option<&'static Abi> {
    NATIVE.get().map(|native| native.abi)
}

/// Returns the native MPI, once [`Native::load`] succeeded.
#[inline(always)]
pub fn native() -> Option<&'static Native> {
    NATIVE.get()
}

/// Variable that only Open MPI has, with each of its interfaces.
pub(super) const OF_OPEN_MPI: &CStr = c"ompi_mpi_comm_world";

/// Returns the interface of the MPI in this process, by its symbols.
pub(crate) fn family() -> Option<&'static Abi> {
    if let Some(address) = find(c"MPI_Abi_get_version") {
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: MPI_Abi_get_version(int *, int *), callable before MPI_Init. Libraries that have
        // the name without the standard ABI return -1.
        unsafe {
            let version = std::mem::transmute::<
                *mut c_void,
                unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
            >(address);
            version(&mut major, &mut minor);
        }
        if major >= 1 {
            return Some(&STANDARD);
        }
    }
    if find_variable(OF_OPEN_MPI).is_some() {
        return Some(&OPEN_MPI);
    }
    find(c"MPII_Comm_get_attr").map(|_| &MPICH)
}

/// Returns the predefined handle.
///
/// # Safety
/// It is of this type.
pub(crate) unsafe fn resolve<H: Handle>(handle: abi::Handle) -> Result<H, NativeError> {
    let word = match handle {
        abi::Handle::Value(value) => Ok(value),
        abi::Handle::Symbol(symbol) => find_variable(symbol)
            .map(|address| address as Word)
            .ok_or(NativeError::Missing(symbol.to_str().unwrap_or("handle"))),
    };
    // SAFETY: the caller's promise.
    word.map(|word| unsafe { H::from_word(word) })
}

impl Native {
    /// Finds the family and the functions of the MPI in this process.
    ///
    /// # Errors
    /// An MPI that is not known, or lacks a function that all have.
    pub fn load() -> Result<&'static Native, NativeError> {
        NATIVE.get_or_try_init(|| {
            let abi = family().ok_or(NativeError::UnknownFamily)?;
            // SAFETY: each field of the ABI is the handle that its name states, and the C library
            // keeps an address under its name.
            Ok(unsafe {
                Native {
                    abi,
                    is_open_mpi: find_variable(OF_OPEN_MPI).is_some(),
                    world: resolve(abi.comm_world)?,
                    comm_self: resolve(abi.comm_self)?,
                    byte: resolve(abi.byte)?,
                    int64: resolve(abi.int64)?,
                    datatype_null: resolve(abi.datatype_null)?,
                    comm_null: resolve(abi.comm_null)?,
                    request_null: resolve(abi.request_null)?,
                    errors_are_fatal: resolve(abi.errors_are_fatal)?,
                    errors_return: resolve(abi.errors_return)?,
                    no_op: resolve(abi.no_op)?,
                    op_null: resolve(abi.op_null)?,
                    min: resolve(abi.min)?,
                    stand_in: AtomicUsize::new(0),
                    predefined_types: PredefinedTypes::beside(match abi.byte {
                        abi::Handle::Symbol(symbol) => find_variable(symbol),
                        abi::Handle::Value(_) => None,
                    }),
                    program_variables: elf::program_variables(),
                    heap_end: AtomicUsize::new(0),
                    stack_end: find_variable(c"__libc_stack_end")
                        .map_or(0, |end| end.cast::<Word>().read()),
                    functions: Functions::find()?,
                }
            })
        })
    }

    /// True if this is the handle of a datatype or a reduction that the MPI predefines, so that its
    /// meaning never changes. Not all predefined ones are recognised.
    pub fn is_lasting(&self, handle: Word) -> bool {
        match self.abi.family {
            // Variables of the library or of the program.
            abi::Family::OpenMpi => {
                self.predefined_types.contains(handle) || self.program_variables.contains(&handle)
            }
            // The kind of a handle is in its two highest bits: 1 for predefined ones.
            abi::Family::Mpich => handle as u32 >> 30 == 1,
            // Numbers of ten bits (MPI 5.0, 20.2).
            abi::Family::Standard => handle < 1 << 10,
        }
    }

    /// True if an address is in the program's variables, in the heap after them or in the stack,
    /// which are never an accelerator's memory. Not all such addresses are recognised: other
    /// threads' stacks and large blocks are not.
    #[inline]
    pub fn is_ordinary(&self, address: Word) -> bool {
        let here = &raw const address as Word;
        let heap = self.program_variables.start..self.heap_end.load(Ordering::Relaxed);
        let is_main_stack = self.stack_end.saturating_sub(here) < LARGEST_STACK;
        heap.contains(&address) || is_main_stack && (here..self.stack_end).contains(&address)
    }

    /// Updates the end of the heap, which grows.
    pub fn look_at_heap(&self) {
        // SAFETY: an increment of 0 changes nothing.
        let end = unsafe { libc::sbrk(0) } as Word;
        // The heap is elsewhere if the program was started through the linker's name.
        if end.saturating_sub(self.program_variables.end) < LARGEST_HEAP {
            self.heap_end.fetch_max(end, Ordering::Relaxed);
        }
    }

    /// Returns the bits of a word that belong to a handle: if handles are `int`s, the upper half of
    /// a register is undefined.
    #[inline(always)]
    pub fn handle_mask(&self) -> Word {
        match self.abi.handle_bytes {
            4 => 0xffff_ffff,
            _ => Word::MAX,
        }
    }

    /// Returns the handle without the undefined bits: equal for the same object.
    #[inline(always)]
    pub fn plain<H: Handle>(&self, handle: H) -> H {
        // SAFETY: the native MPI ignores the other bits.
        unsafe { H::from_word(handle.word() & self.handle_mask()) }
    }

    /// Returns the handle stored at `address`.
    ///
    /// # Safety
    /// `address` must point to a handle of this type and MPI.
    pub unsafe fn read_handle<H: Handle>(&self, address: Word) -> H {
        // SAFETY: the caller's promise, and the family's handle width.
        unsafe {
            H::from_word(match self.abi.handle_bytes {
                4 => *(address as *const u32) as Word,
                _ => *(address as *const Word),
            })
        }
    }

    /// Writes a handle to `address`.
    ///
    /// # Safety
    /// `address` must point to a handle of this type and MPI that may be written.
    pub unsafe fn write_handle<H: Handle>(&self, address: Word, handle: H) {
        // SAFETY: the caller's promise, and the family's handle width.
        unsafe {
            match self.abi.handle_bytes {
                4 => *(address as *mut u32) = handle.word() as u32,
                _ => *(address as *mut Word) = handle.word(),
            }
        }
    }

    /// True if `comm` is `MPI_COMM_NULL`.
    pub fn is_null_communicator(&self, comm: Comm) -> bool {
        self.plain(comm) == self.comm_null
    }

    /// `MPI_REQUEST_NULL`, as a word.
    pub fn request_null(&self) -> Word {
        self.request_null.word()
    }

    /// True if `op` is `MPI_NO_OP`.
    pub fn is_no_op(&self, op: Op) -> bool {
        self.plain(op) == self.no_op
    }

    /// True if `datatype` is `MPI_DATATYPE_NULL`.
    pub fn is_null_datatype(&self, datatype: Datatype) -> bool {
        self.plain(datatype) == self.datatype_null
    }
}
