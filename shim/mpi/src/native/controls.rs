//! Integer control variables of the MPI, by which its algorithms are selected.
//!
//! | MPI | access |
//! |---|---|
//! | Open MPI 4 and 5 | the functions of `libopen-pal` that its tool interface calls |
//! | MPICH family, also with the standard ABI | the tool interface, `MPI_T` |
//!
//! Open MPI's tool interface opens all components of the library when it starts, including fabrics,
//! which takes up to 0.2 s; those of collectives, the only ones set here, are open anyway.

use std::ffi::{CStr, CString, c_char, c_void};

use super::error::Failed;
use super::mpi::Native;
use crate::lookup::{find, find_in_opal};
use crate::{SUCCESS, Word, c_int};

/// `MPI_THREAD_SINGLE`, in every family.
const THREAD_SINGLE: c_int = 0;

/// `MCA_BASE_VAR_SOURCE_SET`: the value was set by a call.
const SOURCE_SET: c_int = 4;

/// Access to control variables: lookup, reading and writing.
pub struct Controls(Interface);

enum Interface {
    /// The tool interface, started. MPI counts its starts.
    Tool {
        finalize: unsafe extern "C" fn() -> c_int,
        get_index: unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int,
        allocate: unsafe extern "C" fn(c_int, *mut c_void, *mut Word, *mut c_int) -> c_int,
        read: unsafe extern "C" fn(Word, *mut c_int) -> c_int,
        write: unsafe extern "C" fn(Word, *const c_int) -> c_int,
    },
    /// The functions that Open MPI's tool interface calls itself.
    Opal {
        find_by_name: unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int,
        get_value:
            unsafe extern "C" fn(c_int, *mut *const Value, *mut c_void, *mut c_void) -> c_int,
        set_value: unsafe extern "C" fn(c_int, *const Value, usize, c_int, *const c_char) -> c_int,
    },
}

/// `mca_base_var_storage_t`: the variable's type determines the field.
#[repr(C)]
union Value {
    number: c_int,
    text: *const c_char,
}

/// Control variable, valid as long as its [`Controls`]: a handle, or Open MPI's index.
#[derive(Debug, Clone, Copy)]
pub struct Variable(Word);

/// Returns the function at this address.
///
/// # Safety
/// It has the type `F`.
unsafe fn function<F: Copy>(address: Option<*mut c_void>) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a function is its address, and has the type `F` by the caller's promise.
    address.map(|address| unsafe { std::mem::transmute_copy(&address) })
}

impl Controls {
    /// Returns the control variables of this MPI, which is running; `None` if their interface is
    /// unknown.
    pub fn start(native: &Native) -> Option<Controls> {
        match native.is_open_mpi {
            true => Controls::of_opal(),
            false => Controls::of_tool(),
        }
    }

    fn of_opal() -> Option<Controls> {
        // SAFETY: these versions of the library declare them in this way; a pointer to a value's
        // address is passed as `const void *`.
        unsafe {
            Some(Controls(Interface::Opal {
                find_by_name: function(find_in_opal(c"mca_base_var_find_by_name"))?,
                get_value: function(find_in_opal(c"mca_base_var_get_value"))?,
                set_value: function(find_in_opal(c"mca_base_var_set_value"))?,
            }))
        }
    }

    fn of_tool() -> Option<Controls> {
        type Start = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
        // SAFETY: the functions of these names have these parameters: handles of variables are
        // pointers, and a variable's value is written to or read from an address.
        let (start, tool) = unsafe {
            let start: Start = function(find(c"MPI_T_init_thread"))?;
            let tool = Interface::Tool {
                finalize: function(find(c"MPI_T_finalize"))?,
                get_index: function(find(c"MPI_T_cvar_get_index"))?,
                allocate: function(find(c"MPI_T_cvar_handle_alloc"))?,
                read: function(find(c"MPI_T_cvar_read"))?,
                write: function(find(c"MPI_T_cvar_write"))?,
            };
            (start, tool)
        };
        let mut provided = 0;
        // SAFETY: MPI writes the level of threads.
        match unsafe { start(THREAD_SINGLE, &mut provided) } {
            SUCCESS => Some(Controls(tool)),
            _ => None,
        }
    }

    /// Ends it. Later calls have no effect.
    pub fn end(&self) {
        if let Interface::Tool { finalize, .. } = &self.0 {
            // SAFETY: it was started once for this; MPI itself checks that it still is.
            unsafe { finalize() };
        }
    }

    /// Finds the variable of this name, if it is an integer, and bound to no object.
    pub fn find(&self, name: &str) -> Option<Variable> {
        let name = CString::new(name).ok()?;
        match &self.0 {
            Interface::Tool { .. } => {
                let (variable, count) = self.allocate(&name)?;
                (count == 1).then_some(variable)
            }
            Interface::Opal { .. } => self.index(&name),
        }
    }

    /// True if the text variable of this name is empty or does not exist.
    pub fn is_empty(&self, name: &str) -> bool {
        let Ok(name) = CString::new(name) else {
            return true;
        };
        match &self.0 {
            Interface::Tool { read, .. } => {
                let Some((variable, length)) = self.allocate(&name) else {
                    return true;
                };
                // Aligned as the function's type requires, though MPI writes characters.
                let mut text = vec![0 as c_int; usize::try_from(length).unwrap_or(0) + 1];
                // SAFETY: the handle is that of a text of this length, while this lives.
                let code = unsafe { read(variable.0, text.as_mut_ptr()) };
                code == SUCCESS && text[0] == 0
            }
            Interface::Opal { .. } => {
                let value = self.index(&name).and_then(|variable| self.value(variable));
                // SAFETY: the value is that of a text, which ends in NUL or is null.
                value.is_none_or(|value| unsafe {
                    value.text.is_null() || CStr::from_ptr(value.text).is_empty()
                })
            }
        }
    }

    /// Returns the handle of the variable of this name, and the number of its elements.
    fn allocate(&self, name: &CStr) -> Option<(Variable, c_int)> {
        let Interface::Tool {
            get_index,
            allocate,
            ..
        } = &self.0
        else {
            return None;
        };
        let (mut index, mut count, mut handle) = (0, 0, 0);
        // SAFETY: the name ends in NUL; MPI writes the index, the handle and the number of elements
        // to these. Variables of algorithms are bound to no object.
        let code = unsafe {
            match get_index(name.as_ptr(), &mut index) {
                SUCCESS => allocate(index, std::ptr::null_mut(), &mut handle, &mut count),
                code => code,
            }
        };
        (code == SUCCESS).then_some((Variable(handle), count))
    }

    /// Returns the variable of this name in Open MPI.
    fn index(&self, name: &CStr) -> Option<Variable> {
        let Interface::Opal { find_by_name, .. } = &self.0 else {
            return None;
        };
        let mut index = 0;
        // SAFETY: the name ends in NUL; the index is written.
        let code = unsafe { find_by_name(name.as_ptr(), &mut index) };
        let index = Word::try_from(index).ok()?;
        (code == SUCCESS).then_some(Variable(index))
    }

    /// Returns its value in Open MPI.
    fn value(&self, variable: Variable) -> Option<&Value> {
        let Interface::Opal { get_value, .. } = &self.0 else {
            return None;
        };
        let (mut value, none) = (std::ptr::null(), std::ptr::null_mut());
        // SAFETY: the index is that of a variable; the address of its value is written. Its source
        // is not requested.
        let code = unsafe { get_value(variable.0 as c_int, &mut value, none, none) };
        if code != SUCCESS {
            return None;
        }
        // SAFETY: the value lives in the component of the variable, as long as the MPI runs.
        unsafe { value.as_ref() }
    }

    /// Returns its value.
    pub fn read(&self, variable: Variable) -> Option<c_int> {
        match &self.0 {
            Interface::Tool { read, .. } => {
                let mut value = 0;
                // SAFETY: the handle is that of a variable which is one `int`, while this lives.
                let code = unsafe { read(variable.0, &mut value) };
                (code == SUCCESS).then_some(value)
            }
            // SAFETY: the variable is one `int`.
            Interface::Opal { .. } => self.value(variable).map(|value| unsafe { value.number }),
        }
    }

    /// Sets it.
    ///
    /// # Errors
    /// The MPI does not allow it to be set now.
    pub fn write(&self, variable: Variable, value: c_int) -> Result<(), Failed> {
        let (call, code) = match &self.0 {
            Interface::Tool { write, .. } => {
                // SAFETY: as in `read`.
                let code = unsafe { write(variable.0, &value) };
                ("MPI_T_cvar_write", code)
            }
            Interface::Opal { set_value, .. } => {
                let (value, size) = (Value { number: value }, size_of::<Value>());
                let index = variable.0 as c_int;
                // SAFETY: the index is that of a variable which is one `int`; only this much of the
                // value is copied.
                let code = unsafe { set_value(index, &value, size, SOURCE_SET, std::ptr::null()) };
                ("mca_base_var_set_value", code)
            }
        };
        match code {
            SUCCESS => Ok(()),
            code => Err(Failed { call, code }),
        }
    }
}
