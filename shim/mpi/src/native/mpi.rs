//! The native MPI's functions, found once, with the constants of its family.

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

/// The stack of a program's first thread, and its heap, are taken to be smaller.
pub(super) const LARGEST_STACK: usize = 64 << 20;
pub(super) const LARGEST_HEAP: usize = 1 << 40;

/// The native MPI.
pub struct Native {
    /// Its binary interface.
    pub abi: &'static Abi,
    /// Whether it is Open MPI, whichever its interface: others are of the MPICH family.
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
    /// The handler that stands for `MPI_ERRORS_ARE_FATAL`; 0 while there is none.
    pub stand_in: AtomicUsize,
    pub(super) predefined_types: PredefinedTypes,
    /// The program's own variables, among which the linker puts those of a library that it names.
    program_variables: Range<usize>,
    /// The end of the heap when it was last looked at, and of the first thread's stack; 0 where
    /// that is not known.
    heap_end: AtomicUsize,
    stack_end: Word,
    pub(super) functions: Functions,
}

pub(super) static NATIVE: OnceCell<Native> = OnceCell::new();

/// The ABI of the native MPI, once it is known.
pub fn abi() -> Option<&'static Abi> {
    NATIVE.get().map(|native| native.abi)
}

/// The native MPI, once [`Native::load`] succeeded.
#[inline(always)]
pub fn native() -> Option<&'static Native> {
    NATIVE.get()
}

/// A variable that Open MPI alone has, behind each of its interfaces.
pub(super) const OF_OPEN_MPI: &CStr = c"ompi_mpi_comm_world";

/// The interface of the MPI in this process, by the symbols that it has.
pub(crate) fn family() -> Option<&'static Abi> {
    if let Some(address) = find(c"MPI_Abi_get_version") {
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: MPI_Abi_get_version(int *, int *), callable before MPI_Init.
        // Libraries that carry the name without the standard ABI answer -1.
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

/// The handle that the MPI predefines.
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
            // SAFETY: each field of the ABI is the handle that its name says, and the C library
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

    /// Whether this is the handle of a datatype or a reduction that the MPI itself defines, so that
    /// it stands for the same as long as the process lasts. Of some that it defines it is not seen.
    pub fn is_lasting(&self, handle: Word) -> bool {
        match self.abi.family {
            // Variables of the library or of the program.
            abi::Family::OpenMpi => {
                self.predefined_types.contains(handle) || self.program_variables.contains(&handle)
            }
            // The kind of a handle stands in its two highest bits: 1 for what is built in.
            abi::Family::Mpich => handle as u32 >> 30 == 1,
            // Numbers of ten bits (MPI 5.0, 20.2).
            abi::Family::Standard => handle < 1 << 10,
        }
    }

    /// Whether an address is in the program's variables, in the heap behind them or in the stack,
    /// where an accelerator has no memory. Of some that are it is not seen: those of other threads'
    /// stacks, and of large blocks.
    #[inline]
    pub fn is_ordinary(&self, address: Word) -> bool {
        let here = &raw const address as Word;
        let heap = self.program_variables.start..self.heap_end.load(Ordering::Relaxed);
        let is_main_stack = self.stack_end.saturating_sub(here) < LARGEST_STACK;
        heap.contains(&address) || is_main_stack && (here..self.stack_end).contains(&address)
    }

    /// Looks how far the heap goes: it grows.
    pub fn look_at_heap(&self) {
        // SAFETY: an increment of nothing changes nothing.
        let end = unsafe { libc::sbrk(0) } as Word;
        // Elsewhere, where the program was started by name of the linker.
        if end.saturating_sub(self.program_variables.end) < LARGEST_HEAP {
            self.heap_end.fetch_max(end, Ordering::Relaxed);
        }
    }

    /// The bits of a word that belong to a handle: where handles are `int`s, the
    /// upper half of a register means nothing.
    #[inline(always)]
    pub fn handle_mask(&self) -> Word {
        match self.abi.handle_bytes {
            4 => 0xffff_ffff,
            _ => Word::MAX,
        }
    }

    /// The handle without the bits that mean nothing: the same for the same object.
    #[inline(always)]
    pub fn plain<H: Handle>(&self, handle: H) -> H {
        // SAFETY: the native MPI does not look at the other bits.
        unsafe { H::from_word(handle.word() & self.handle_mask()) }
    }

    /// The handle stored at `address`.
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

    /// Whether `comm` is `MPI_COMM_NULL`.
    pub fn is_null_communicator(&self, comm: Comm) -> bool {
        self.plain(comm) == self.comm_null
    }

    /// `MPI_REQUEST_NULL`, as a word.
    pub fn request_null(&self) -> Word {
        self.request_null.word()
    }

    /// Whether `op` is `MPI_NO_OP`.
    pub fn is_no_op(&self, op: Op) -> bool {
        self.plain(op) == self.no_op
    }

    /// Whether `datatype` is `MPI_DATATYPE_NULL`.
    pub fn is_null_datatype(&self, datatype: Datatype) -> bool {
        self.plain(datatype) == self.datatype_null
    }
}
