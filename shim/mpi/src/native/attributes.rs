//! Attributes that the library gives to communicators.

use super::calls::integer;
use super::error::NativeError;
use super::functions::{CopyCallback, DeleteCallback};
use super::mpi::Native;
use crate::{Comm, SUCCESS, Word, c_int};

/// Attributes of communicators.
impl Native {
    /// Sets `callback`, which is called when `MPI_COMM_SELF` is freed: the first action of
    /// `MPI_Finalize`, with MPI still intact, in the reverse order of setting (MPI-4.1, section
    /// 11.2.4).
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
        integer(|keyval| self.functions.comm_create_keyval(copy, delete, keyval, 0))
    }

    /// Creates a keyval whose attributes have no value other than their presence; `MPI_Comm_dup`
    /// copies them.
    pub fn new_mark(&self) -> Result<c_int, NativeError> {
        self.new_keyval(always_copied, forgotten)
    }

    /// `MPI_Comm_set_attr`, with no value.
    pub fn set_attribute(&self, comm: Comm, keyval: c_int) -> Result<(), NativeError> {
        self.set_attribute_to(comm, keyval, 0)
    }

    /// `MPI_Comm_set_attr`, to an address.
    pub(super) fn set_attribute_to(
        &self,
        comm: Comm,
        keyval: c_int,
        value: Word,
    ) -> Result<(), NativeError> {
        Ok(self.functions.comm_set_attr(comm, keyval, value)?)
    }

    /// True if `comm` has an attribute.
    pub fn has_attribute(&self, comm: Comm, keyval: c_int) -> bool {
        self.find_attribute(comm, keyval).is_some()
    }

    /// Returns the address in an attribute; 0 if it is not set.
    #[inline]
    pub fn attribute(&self, comm: Comm, keyval: c_int) -> Word {
        self.find_attribute(comm, keyval).unwrap_or(0)
    }

    /// `MPI_Comm_get_attr`.
    #[inline]
    fn find_attribute(&self, comm: Comm, keyval: c_int) -> Option<Word> {
        let (mut value, mut flag) = (0, 0);
        let found = self
            .functions
            .comm_get_attr(comm, keyval, &mut value, &mut flag);
        (found.is_ok() && flag != 0).then_some(value)
    }

    /// `MPI_Comm_delete_attr`.
    pub fn delete_attribute(&self, comm: Comm, keyval: c_int) {
        let _ = self.functions.comm_delete_attr(comm, keyval);
    }

    /// Returns the largest tag, `MPI_TAG_UB`; if the MPI does not provide it, the one that the
    /// standard guarantees.
    pub fn largest_tag(&self) -> u32 {
        let value = self.attribute(self.world, self.abi.predefined.tag_ub) as *const c_int;
        // SAFETY: the attribute is an address of an int that lives as long as the MPI.
        let largest = unsafe { value.as_ref() }.map_or(0, |&largest| largest);
        largest.max(32_767) as u32
    }
}

/// `MPI_Comm_copy_attr_function` that does not copy the attribute.
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

/// `MPI_Comm_copy_attr_function` that copies the attribute.
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

/// `MPI_Comm_delete_attr_function` that does nothing.
unsafe extern "C" fn forgotten(_comm: Comm, _keyval: c_int, _value: Word, _extra: Word) -> c_int {
    SUCCESS
}
