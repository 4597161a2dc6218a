//! Table of MPI procedures that a part of Treepie calls.

use crate::native::Failed;
use crate::{SUCCESS, c_int};

/// Defines the procedures, each with its parameters as every family has them. Those in `safe` take
/// handles, numbers, texts and references to memory that they read or write: types that guarantee
/// the procedure's preconditions. Those in `raw` take addresses of memory whose length other
/// arguments give. Names begin with the prefix, and `$address` finds them.
macro_rules! procedures {
    (
        $(#[$comment:meta])*
        $vis:vis struct $table:ident, $prefix:literal, $address:ident;
        safe { $($safe:ident: $safe_name:ident($($argument:ident: $type:ty),*);)* }
        raw { $($raw:ident: $raw_name:ident($($raw_argument:ident: $raw_type:ty),*);)* }
    ) => {
        $(#[$comment])*
        $vis struct $table {
            $($safe: unsafe extern "C" fn($($type),*) -> c_int,)*
            $($raw: unsafe extern "C" fn($($raw_type),*) -> c_int,)*
        }

        impl $table {
            /// Looks all of them up.
            pub(super) fn find() -> Result<Self, $crate::native::NativeError> {
                use std::ffi::c_void;
                // SAFETY: each address is that of the MPI procedure named, whose parameters are
                // those declared, in every family.
                Ok(unsafe { $table {
                    $($safe: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn($($type),*) -> c_int,
                    >($address(concat!($prefix, stringify!($safe_name), "\0"))?),)*
                    $($raw: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn($($raw_type),*) -> c_int,
                    >($address(concat!($prefix, stringify!($raw_name), "\0"))?),)*
                } })
            }

            $(
                #[doc = concat!("`MPI_", stringify!($safe_name), "`.")]
                #[inline(always)]
                $vis fn $safe(&self, $($argument: $type),*) -> Result<(), $crate::native::Failed> {
                    // SAFETY: a handle is one that this MPI returned, and checks itself; memory
                    // that is read or written is behind a reference of its type.
                    let code = unsafe { (self.$safe)($($argument),*) };
                    $crate::procedures::check(concat!("MPI_", stringify!($safe_name)), code)
                }
            )*

            $(
                #[doc = concat!("`MPI_", stringify!($raw_name), "`.")]
                /// # Safety
                /// The addresses are of live memory with the length given by counts and datatypes,
                /// until the procedure no longer needs it.
                #[allow(clippy::too_many_arguments)] // they are MPI's
                #[inline(always)]
                $vis unsafe fn $raw(
                    &self,
                    $($raw_argument: $raw_type),*
                ) -> Result<(), $crate::native::Failed> {
                    // SAFETY: the caller's promise; handles as above.
                    let code = unsafe { (self.$raw)($($raw_argument),*) };
                    $crate::procedures::check(concat!("MPI_", stringify!($raw_name)), code)
                }
            )*
        }
    };
}
pub(crate) use procedures;

/// Returns the error of a procedure that returned this code.
pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Failed> {
    match code {
        SUCCESS => Ok(()),
        code => Err(Failed { call, code }),
    }
}
