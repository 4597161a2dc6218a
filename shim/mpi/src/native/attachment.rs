//! Values that are attached to communicators as attributes, and end with them, whoever frees these.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::attributes::never_copied;
use super::error::NativeError;
use super::mpi::Native;
use crate::{Comm, Handle, SUCCESS, Word, c_int};

/// Number of attachments that have ended, plus 1.
static ENDED: AtomicUsize = AtomicUsize::new(1);

/// Value that is attached to a communicator.
pub trait Attached: Send + Sync + 'static {
    /// Ends it, since its communicator is about to end.
    fn end(&self);
}

/// Attribute by which values are attached to communicators.
#[derive(Debug)]
pub struct Attachment<T> {
    keyval: c_int,
    value: PhantomData<fn() -> T>,
}

/// Value that was found on a communicator; out of date as soon as any value has ended.
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
    /// Finding without a value.
    pub const NONE: Finding<T> = Finding {
        ended: 0,
        comm: 0,
        value: std::ptr::null(),
    };

    /// Calls `act` with the value, if it is that of `comm`, and still exists.
    #[inline(always)]
    pub fn with<R>(&self, comm: Comm, act: impl FnOnce(&T) -> R) -> Option<R> {
        let is_it = (self.ended, self.comm) == (ENDED.load(Ordering::Relaxed), comm.word());
        // SAFETY: the value lives until its communicator ends, and none has ended since it was
        // found. MPI forbids freeing a communicator during a call of another thread on it, and
        // `act` returns before that call does.
        is_it.then(|| act(unsafe { &*self.value }))
    }
}

impl<T: Attached> Attachment<T> {
    /// Creates an attribute, whose values are not copied with communicators.
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

    /// Attaches a value to `comm`, which has none.
    ///
    /// # Errors
    /// A native call that failed; the value is dropped.
    pub fn attach(&self, native: &Native, comm: Comm, value: T) -> Result<(), NativeError> {
        let value = Box::into_raw(Box::new(value));
        let set = native.set_attribute_to(comm, self.keyval, value as Word);
        if set.is_err() {
            // SAFETY: made above, and not shared yet.
            drop(unsafe { Box::from_raw(value) });
        }
        set
    }

    /// Calls `act` with the value of `comm`, if it has one, by a query of the MPI; `act` also gets
    /// the finding, which saves the next call the query.
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
        // SAFETY: the attribute is null, or a value of this type that lives until its communicator
        // ends, which it does not do during a call on it, as in `Finding::with`.
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
    // SAFETY: the value is a box that `attach` made, and the MPI passes it once.
    unsafe { Box::from_raw(value as *mut T) }.end();
    SUCCESS
}
