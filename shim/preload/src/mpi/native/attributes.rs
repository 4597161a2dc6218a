//! Attributes that the library gives to communicators.

use super::calls::{check, integer};
use super::functions::{CopyCallback, DeleteCallback};
use super::{Native, NativeError};
use crate::mpi::{Comm, SUCCESS, Word, c_int};

/// Attributes of communicators.
///
/// SAFETY of all calls here: as in `calls`.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Native {
    /// Has `callback` called when `MPI_COMM_SELF` is freed: the first thing that
    /// `MPI_Finalize` does, with MPI still whole, in the reverse order of
    /// setting (MPI-4.1, section 11.2.4).
    pub fn at_finalize(&self, callback: DeleteCallback) -> Result<(), NativeError> {
        let keyval = self.new_keyval(never_copied, callback)?;
        self.set_attribute(self.comm_self, keyval)
    }

    /// `MPI_Comm_create_keyval`.
    pub(super) fn new_keyval(
        &self,
        copy: CopyCallback,
        delete: DeleteCallback,
    ) -> Result<c_int, NativeError> {
        integer("MPI_Comm_create_keyval", |keyval| unsafe {
            (self.functions.comm_create_keyval)(copy, delete, keyval, 0)
        })
    }

    /// A new keyval whose attributes say no more than that they are there; they
    /// go with `MPI_Comm_dup`.
    pub fn new_mark(&self) -> Result<c_int, NativeError> {
        self.new_keyval(always_copied, forgotten)
    }

    /// `MPI_Comm_set_attr`, with no value.
    pub fn set_attribute(&self, comm: Comm, keyval: c_int) -> Result<(), NativeError> {
        let code = unsafe { (self.functions.comm_set_attr)(comm, keyval, 0) };
        check("MPI_Comm_set_attr", code)
    }

    /// Whether `comm` has an attribute (`MPI_Comm_get_attr`).
    pub fn has_attribute(&self, comm: Comm, keyval: c_int) -> bool {
        let (mut value, mut flag) = (0, 0);
        let code = unsafe { (self.functions.comm_get_attr)(comm, keyval, &mut value, &mut flag) };
        code == SUCCESS && flag != 0
    }
}

/// `MPI_Comm_copy_attr_function` that leaves the attribute out of the copy.
pub(super) unsafe extern "C" fn never_copied(
    _comm: Comm,
    _keyval: c_int,
    _extra: Word,
    _value: Word,
    _copy: Word,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes the address of an int.
    unsafe { *flag = 0 };
    SUCCESS
}

/// `MPI_Comm_copy_attr_function` that hands the attribute on.
unsafe extern "C" fn always_copied(
    _comm: Comm,
    _keyval: c_int,
    _extra: Word,
    value: Word,
    copy: Word,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes the addresses of a pointer and of an int.
    unsafe {
        *(copy as *mut Word) = value;
        *flag = 1;
    }
    SUCCESS
}

/// `MPI_Comm_delete_attr_function` that has nothing to do.
unsafe extern "C" fn forgotten(_comm: Comm, _keyval: c_int, _value: Word, _extra: Word) -> c_int {
    SUCCESS
}
