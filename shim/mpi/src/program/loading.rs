//! Opening of the MPI library of a job.

use std::ffi::{CStr, CString, c_void};

use thiserror::Error;

use crate::native::NativeError;

/// Reason why a program has no MPI.
#[derive(Debug, Error)]
pub enum LoadError {
    /// None of the named libraries exists here.
    #[error(
        "no MPI library could be opened: {0}; name the job's libmpi in TREEPIE_MPI_LIBRARY, or put \
         its directory into LD_LIBRARY_PATH on every host"
    )]
    NoLibrary(String),
    /// Several libraries exist here, and the job's is not known.
    #[error("{0} are here; name the one of the job's MPI in TREEPIE_MPI_LIBRARY")]
    Ambiguous(String),
    /// The library is not a known MPI.
    #[error(transparent)]
    Unusable(#[from] NativeError),
}

/// Opens the first existing library of the only family that has one, globally for this process:
/// objects that the MPI opens itself find it. Names are paths, or names that the dynamic linker
/// searches for.
pub(super) fn open(libraries: &str) -> Result<(), LoadError> {
    let mut refused = Vec::new();
    let mut found = Vec::new();
    for family in libraries.split('|') {
        found.extend(family.split(':').find_map(|name| {
            // A variable contains no zero.
            let text = CString::new(name).ok()?;
            match dlopen(&text, libc::RTLD_LAZY | libc::RTLD_LOCAL) {
                Ok(_) => Some(text),
                Err(reason) => {
                    refused.push(reason);
                    None
                }
            }
        }));
    }
    match found.as_slice() {
        [only] => dlopen(only, libc::RTLD_NOW | libc::RTLD_GLOBAL)
            .map(|_| ())
            .map_err(LoadError::NoLibrary),
        [] => Err(LoadError::NoLibrary(refused.join("; "))),
        several => {
            let names = several.iter().map(|name| name.to_string_lossy());
            let names: Vec<_> = names.collect();
            Err(LoadError::Ambiguous(names.join(" and ")))
        }
    }
}

fn dlopen(name: &CStr, flags: i32) -> Result<*mut c_void, String> {
    // SAFETY: the name ends in NUL; the library's initialisation is the same in every program that
    // is linked to it.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: the text is this thread's until its next call of these functions.
    let reason = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    Err(reason.unwrap_or_else(|| name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_opened_is_told_with_the_remedy() {
        let said = open("libmpi_of_nobody.so.1").expect_err("it is not there");
        let said = said.to_string();
        assert!(said.contains("libmpi_of_nobody.so.1"), "{said}");
        assert!(said.contains("TREEPIE_MPI_LIBRARY"), "{said}");
    }

    #[test]
    fn of_one_family_the_first_is_taken_and_of_two_none_is_guessed() {
        open("libmpi_of_nobody.so.1:libc.so.6:libm.so.6").expect("the second is there");
        let said = open("libc.so.6|libm.so.6").expect_err("both are there");
        assert!(
            said.to_string().contains("libc.so.6 and libm.so.6"),
            "{said}"
        );
    }
}
