//! MPI's tool interface (`MPI_T`): control variables that are whole numbers.

use std::ffi::{CString, c_char, c_void};

use super::Failed;
use crate::mpi::lookup::find;
use crate::mpi::{SUCCESS, Word, c_int};

/// `MPI_THREAD_SINGLE`, in every family.
const THREAD_SINGLE: c_int = 0;

/// The tool interface, started. MPI counts who has started it.
pub struct Tool {
    finalize: unsafe extern "C" fn() -> c_int,
    get_index: unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int,
    allocate: unsafe extern "C" fn(c_int, *mut c_void, *mut Word, *mut c_int) -> c_int,
    read: unsafe extern "C" fn(Word, *mut c_int) -> c_int,
    write: unsafe extern "C" fn(Word, *const c_int) -> c_int,
}

/// A control variable, for as long as the tool interface is started.
#[derive(Debug, Clone, Copy)]
pub struct Variable(Word);

/// The function of this name.
///
/// # Safety
/// It has the type `F`.
unsafe fn function<F: Copy>(name: &'static std::ffi::CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a function is the address of it, and has the type `F` by the caller's promise.
    find(name).map(|address| unsafe { std::mem::transmute_copy(&address) })
}

impl Tool {
    /// Starts the tool interface; `None` where the MPI has none, or does not start it.
    pub fn start() -> Option<Tool> {
        type Start = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
        // SAFETY: the functions of these names have these parameters in every family: handles of
        // variables are pointers, and a variable's value is written to or read from an address.
        let (start, tool) = unsafe {
            let start: Start = function(c"MPI_T_init_thread")?;
            let tool = Tool {
                finalize: function(c"MPI_T_finalize")?,
                get_index: function(c"MPI_T_cvar_get_index")?,
                allocate: function(c"MPI_T_cvar_handle_alloc")?,
                read: function(c"MPI_T_cvar_read")?,
                write: function(c"MPI_T_cvar_write")?,
            };
            (start, tool)
        };
        let mut provided = 0;
        // SAFETY: MPI writes the level of threads.
        match unsafe { start(THREAD_SINGLE, &mut provided) } {
            SUCCESS => Some(tool),
            _ => None,
        }
    }

    /// Ends it. What is called afterwards has no effect.
    pub fn end(&self) {
        // SAFETY: it was started once for this; MPI looks itself whether it still is.
        unsafe { (self.finalize)() };
    }

    /// The variable of this name: one that is a whole number, and bound to no object.
    pub fn find(&self, name: &str) -> Option<Variable> {
        let (variable, count) = self.find_any(name)?;
        (count == 1).then_some(variable)
    }

    /// Whether the variable of this name, a text, is empty; so is one that is not there.
    pub fn is_empty(&self, name: &str) -> bool {
        let Some((variable, length)) = self.find_any(name) else {
            return true;
        };
        // Aligned as the function's type says, though MPI writes characters.
        let mut text = vec![0 as c_int; usize::try_from(length).unwrap_or(0) + 1];
        // SAFETY: the handle is that of a text of this length, while this lives.
        let code = unsafe { (self.read)(variable.0, text.as_mut_ptr()) };
        code == SUCCESS && text[0] == 0
    }

    /// The variable of this name, and the number of its elements.
    fn find_any(&self, name: &str) -> Option<(Variable, c_int)> {
        let name = CString::new(name).ok()?;
        let (mut index, mut count, mut handle) = (0, 0, 0);
        // SAFETY: the name ends in NUL; MPI writes the index, the handle and the number of elements
        // to these. Variables of algorithms are bound to no object.
        let code = unsafe {
            match (self.get_index)(name.as_ptr(), &mut index) {
                SUCCESS => (self.allocate)(index, std::ptr::null_mut(), &mut handle, &mut count),
                code => code,
            }
        };
        (code == SUCCESS).then_some((Variable(handle), count))
    }

    /// Its value.
    pub fn read(&self, variable: Variable) -> Option<c_int> {
        let mut value = 0;
        // SAFETY: the handle is that of a variable which is one `int`, while this lives.
        let code = unsafe { (self.read)(variable.0, &mut value) };
        (code == SUCCESS).then_some(value)
    }

    /// Sets it.
    ///
    /// # Errors
    /// The MPI does not let it be set now.
    pub fn write(&self, variable: Variable, value: c_int) -> Result<(), Failed> {
        // SAFETY: as in `read`.
        match unsafe { (self.write)(variable.0, &value) } {
            SUCCESS => Ok(()),
            code => Err(Failed {
                call: "MPI_T_cvar_write",
                code,
            }),
        }
    }
}
