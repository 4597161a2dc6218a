//! MPI's tool interface: its control variables, as far as they are whole numbers.

use std::ffi::{CString, c_int, c_void};

use mpi_sys::MPI_T_cvar_handle;

/// The tool interface, from here to the end of the process. MPI was started before: an MPI whose
/// tool interface comes first may not look at its environment any more.
#[derive(Debug)]
pub struct Controls(());

/// A control variable.
#[derive(Debug, Clone, Copy)]
pub struct Control(MPI_T_cvar_handle);

impl Controls {
    /// Starts it.
    pub fn start() -> Option<Self> {
        let (single, mut provided) = (mpi_sys::MPI_THREAD_SINGLE as c_int, 0);
        // SAFETY: MPI writes the level.
        let code = unsafe { mpi_sys::MPI_T_init_thread(single, &mut provided) };
        (code == 0).then_some(Controls(()))
    }

    /// The variable of this name.
    pub fn find(&self, name: &str) -> Option<Control> {
        let name = CString::new(name).ok()?;
        let (mut index, mut count) = (0, 0);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the name ends with a zero; MPI fills the index, the handle and the number of
        // its elements. A variable of algorithms is bound to no object.
        let code = unsafe {
            match mpi_sys::MPI_T_cvar_get_index(name.as_ptr(), &mut index) {
                0 => mpi_sys::MPI_T_cvar_handle_alloc(
                    index,
                    std::ptr::null_mut(),
                    &mut handle,
                    &mut count,
                ),
                error => error,
            }
        };
        (code == 0 && count == 1).then_some(Control(handle))
    }
}

impl Control {
    /// Its value.
    pub fn read(self) -> Option<i32> {
        let mut value: c_int = 0;
        // SAFETY: the variables that are looked for are ints, of which there is one.
        let code = unsafe {
            mpi_sys::MPI_T_cvar_read(self.0, std::ptr::from_mut(&mut value).cast::<c_void>())
        };
        (code == 0).then_some(value)
    }

    /// Sets it; whether the MPI allows that.
    pub fn write(self, value: i32) -> bool {
        // SAFETY: as in `read`.
        let code = unsafe {
            mpi_sys::MPI_T_cvar_write(self.0, std::ptr::from_ref(&value).cast::<c_void>())
        };
        code == 0
    }
}
