//! Native error handlers of communicators, and the MPI's error texts.

use std::sync::atomic::Ordering;

use super::calls::handle;
use super::error::NativeError;
use super::functions::ErrorCallback;
use super::mpi::Native;
use crate::{Comm, Errhandler, Handle, SUCCESS, c_int};

/// Length that exceeds every family's `MPI_MAX_ERROR_STRING`.
const LONGEST_TEXT: usize = 4096;

/// Error handlers.
impl Native {
    /// Sets the error handler of `from` on `to`.
    pub fn copy_error_handler(&self, from: Comm, to: Comm) -> Result<(), NativeError> {
        let handler = self.error_handler(from)?;
        let result = self.set_error_handler(to, handler);
        self.free_error_handler(handler);
        result
    }

    /// `MPI_Comm_get_errhandler`.
    pub fn error_handler(&self, comm: Comm) -> Result<Errhandler, NativeError> {
        handle(|handler| self.functions.comm_get_errhandler(comm, handler))
    }

    /// `MPI_Errhandler_free` of a handler from [`Native::error_handler`].
    pub fn free_error_handler(&self, mut handler: Errhandler) {
        let _ = self.functions.errhandler_free(&mut handler);
    }

    /// `MPI_Comm_create_errhandler`.
    pub fn create_error_handler(&self, function: ErrorCallback) -> Result<Errhandler, NativeError> {
        handle(|handler| self.functions.comm_create_errhandler(function, handler))
    }

    /// Sets the handler that replaces `MPI_ERRORS_ARE_FATAL` from now on.
    pub fn stands_for_fatal(&self, handler: Errhandler) {
        self.stand_in.store(handler.word(), Ordering::Release);
    }

    /// True if this handler is the one that replaces `MPI_ERRORS_ARE_FATAL`.
    pub fn is_stand_in(&self, handler: Errhandler) -> bool {
        // SAFETY: only handlers of `stands_for_fatal` are stored there.
        let stand_in = unsafe { Errhandler::from_word(self.stand_in.load(Ordering::Acquire)) };
        !stand_in.is_absent() && self.plain(handler) == self.plain(stand_in)
    }

    /// True if this handler ends the job on errors.
    pub fn is_fatal(&self, handler: Errhandler) -> bool {
        self.plain(handler) == self.errors_are_fatal || self.is_stand_in(handler)
    }

    /// `MPI_Comm_set_errhandler`.
    pub fn set_error_handler(&self, comm: Comm, handler: Errhandler) -> Result<(), NativeError> {
        Ok(self.functions.comm_set_errhandler(comm, handler)?)
    }

    /// `MPI_Comm_call_errhandler`.
    pub fn call_error_handler(&self, comm: Comm, error: c_int) {
        let _ = self.functions.comm_call_errhandler(comm, error);
    }

    /// Returns the code that an MPI procedure on `comm` returns, after its error handler was called
    /// for an error, which may free `comm`.
    pub fn returned(&self, comm: Comm, code: c_int) -> c_int {
        if code != SUCCESS {
            self.call_error_handler(comm, code);
        }
        code
    }

    /// Makes errors on `comm` return instead of ending the job.
    pub fn return_errors(&self, comm: Comm) -> Result<(), NativeError> {
        self.set_error_handler(comm, self.errors_return)
    }

    /// True if a code means that errors are in statuses.
    pub fn is_in_status(&self, error: c_int) -> bool {
        let mut class = error;
        self.functions.error_class(error, &mut class).is_ok() && class == self.abi.err_in_status
    }

    /// `MPI_Error_string`.
    pub fn error_text(&self, error: c_int) -> String {
        let text = self.text(LONGEST_TEXT, |text, length| {
            // SAFETY: `text` is larger than every MPI's longest.
            unsafe { self.functions.error_string(error, text, length) }
        });
        text.unwrap_or_else(|| format!("error {error}"))
    }
}
