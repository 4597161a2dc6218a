//! MPI of a program, opened and started.

use std::ffi::{c_char, c_int};

use super::functions::Functions;
use super::loading::{LoadError, open};
use crate::abi::Abi;
use crate::native::{Failed, NativeError, family, resolve};
use crate::{Comm, Datatype, Op, StatusAddress};

/// MPI library that this program has opened, and handles that it predefines.
pub struct Mpi {
    /// Its binary interface.
    pub(super) abi: &'static Abi,
    /// Its `MPI_COMM_WORLD`.
    pub(super) world: Comm,
    /// Its `MPI_BYTE`.
    pub(super) byte: Datatype,
    /// Its `MPI_DOUBLE`.
    pub(super) double: Datatype,
    /// Its `MPI_SUM`.
    pub(super) sum: Op,
    /// Its `MPI_MAX`.
    pub(super) max: Op,
    /// Its procedures.
    pub(super) functions: Functions,
}

impl Mpi {
    /// Opens the job's MPI by its names in `libraries`: those of one family are separated by
    /// colons, families by bars.
    ///
    /// # Errors
    /// None exists here, or those of two families do, or it is not a known MPI.
    pub(super) fn open(libraries: &str) -> Result<Mpi, LoadError> {
        open(libraries)?;
        let abi = family().ok_or(NativeError::UnknownFamily)?;
        // SAFETY: each field of the ABI is the handle that its name states.
        Ok(unsafe {
            Mpi {
                abi,
                world: resolve(abi.comm_world)?,
                byte: resolve(abi.byte)?,
                double: resolve(abi.double)?,
                sum: resolve(abi.sum)?,
                max: resolve(abi.max)?,
                functions: Functions::find()?,
            }
        })
    }

    /// Returns the MPI's name for this process's host.
    pub fn processor_name(&self) -> String {
        self.text(self.abi.max_processor_name, |text, length| {
            // SAFETY: `text` is large enough for the longest name of this MPI.
            unsafe { self.functions.get_processor_name(text, length) }
        })
    }

    /// Returns the first line of the MPI's name for itself.
    pub fn library_version(&self) -> String {
        let text = self.text(self.abi.max_library_version, |text, length| {
            // SAFETY: `text` is large enough for the longest version of this MPI.
            unsafe { self.functions.get_library_version(text, length) }
        });
        let line = text.lines().next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn text(
        &self,
        room: usize,
        get: impl FnOnce(*mut c_char, &mut c_int) -> Result<(), Failed>,
    ) -> String {
        let mut text = vec![0_u8; room + 1];
        let mut length = 0;
        let got = get(text.as_mut_ptr().cast(), &mut length);
        text.truncate(usize::try_from(length).unwrap_or(0).min(room));
        let text = String::from_utf8_lossy(&text);
        match got {
            Ok(()) => text.trim_end_matches('\0').trim().to_owned(),
            Err(_) => String::new(),
        }
    }

    /// `MPI_STATUS_IGNORE`.
    pub(super) fn no_status(&self) -> StatusAddress {
        StatusAddress::ignored(self.abi.status_ignore)
    }
}
