//! Values of ours that hang on communicators as attributes, and end with them, whoever ends them.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::attributes::never_copied;
use super::error::NativeError;
use super::mpi::Native;
use crate::{Comm, Handle, SUCCESS, Word, c_int};

/// Number of attachments that have ended, and 1.
static ENDED: AtomicUsize = AtomicUsize::new(1);

/// A value that hangs on a communicator.
pub trait Attached: Send + Sync + 'static {
    /// Ends it: its communicator is about to end.
    fn end(&self);
}

/// The attribute by which values hang on communicators.
#[derive(Debug)]
pub struct Attachment<T> {
    keyval: c_int,
    value: PhantomData<fn() -> T>,
}

/// A value that was found on a communicator; out of date as soon as any value has ended.
#[derive(Debug)]
pub struct Finding<T> {
    ended: usize,
    comm: Word,
    value: *const T,
}

impl<T> Clone for Finding<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Finding<T> {}

impl<T> Finding<T> {
    /// A finding of nothing.
    pub const NONE: Finding<T> = Finding {
        ended: 0,
        comm: 0,
        value: std::ptr::null(),
    };

    /// Acts on the value, if it is that of `comm`, and still there.
    #[inline(always)]
    pub fn with<R>(&self, comm: Comm, act: impl FnOnce(&T) -> R) -> Option<R> {
        let is_it = (self.ended, self.comm) == (ENDED.load(Ordering::Relaxed), comm.word());
        // SAFETY: the value lives until its communicator ends, and none has ended since it was
        // found. MPI lets nobody free a communicator on which a call of another thread is going
        // on, and `act` is not left while that call is.
        is_it.then(|| act(unsafe { &*self.value }))
    }
}

impl<T: Attached> Attachment<T> {
    /// A new attribute, whose values are not copied with communicators.
    ///
    /// # Errors
    /// A native call that failed.
    pub fn new(native: &Native) -> Result<Self, NativeError> {
        let keyval = native.new_keyval(never_copied, ended::<T>)?;
        Ok(Attachment {
            keyval,
            value: PhantomData,
        })
    }

    /// Hangs a value on `comm`, which has none.
    ///
    /// # Errors
    /// A native call that failed; the value is dropped.
    pub fn attach(&self, native: &Native, comm: Comm, value: T) -> Result<(), NativeError> {
        let value = Box::into_raw(Box::new(value));
        let set = native.set_attribute_to(comm, self.keyval, value as Word);
        if set.is_err() {
            // SAFETY: made above, and known to nobody else.
            drop(unsafe { Box::from_raw(value) });
        }
        set
    }

    /// Acts on the value of `comm`, if it has one, which the MPI is asked for; `act` also gets the
    /// finding, by which the next call may do without.
    pub fn with<R>(
        &self,
        native: &Native,
        comm: Comm,
        act: impl FnOnce(&T, Finding<T>) -> R,
    ) -> Option<R> {
        let ended = ENDED.load(Ordering::Relaxed);
        let value = native.attribute(comm, self.keyval) as *const T;
        let found = Finding {
            ended,
            comm: comm.word(),
            value,
        };
        // SAFETY: the attribute is null, or a value of ours that lives until its communicator
        // ends, which it does not do in a call on it, as in `Finding::with`.
        unsafe { value.as_ref() }.map(|value| act(value, found))
    }

    /// Ends the value of `comm`, if it has one.
    pub fn detach(&self, native: &Native, comm: Comm) {
        if native.attribute(comm, self.keyval) != 0 {
            native.delete_attribute(comm, self.keyval);
        }
    }
}

/// `MPI_Comm_delete_attr_function` of an attachment.
unsafe extern "C" fn ended<T: Attached>(
    _comm: Comm,
    _keyval: c_int,
    value: Word,
    _extra: Word,
) -> c_int {
    ENDED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the value is a box that `attach` made, and the MPI hands it on once.
    unsafe { Box::from_raw(value as *mut T) }.end();
    SUCCESS
}
