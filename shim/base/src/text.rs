//! Reading and writing of complete text files.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::atomic::write_atomically;
use crate::budget;
use crate::error::{FileError, FileErrorKind};
use crate::input::{self, LARGEST_TEXT};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Reads the text of a file; in a command also of a pipe or a device.
///
/// # Errors
/// A file that is missing or unreadable, or that is not text.
pub fn read(path: &Path) -> Result<String, FileError> {
    text(path, input::bytes(path, LARGEST_TEXT))
}

/// Reads the text of a regular file only, as a job does.
///
/// # Errors
/// Those of [`read`].
pub fn read_file(path: &Path) -> Result<String, FileError> {
    let file = input::open(path).map_err(|error| FileError::reading(path, &error))?;
    of_open_file(path, file)
}

/// Reads the text of an open file; `path` is for messages.
///
/// # Errors
/// Those of [`read`].
pub fn of_open_file(path: &Path, file: File) -> Result<String, FileError> {
    text(path, input::to_the_end(file, LARGEST_TEXT))
}

fn text(path: &Path, bytes: io::Result<Vec<u8>>) -> Result<String, FileError> {
    let bytes = bytes.map_err(|error| FileError::reading(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        FileError::new(path, FileErrorKind::NotText(offset))
    })
}

/// Reads an input incrementally, with the memory that a file of its size may take. A pipe or a
/// device, whose size is unknown, may take that of the largest text.
///
/// # Errors
/// An input that cannot be opened; those of `read`.
pub fn read_with<T>(
    path: &Path,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let refused = |error: io::Error| FileError::reading(path, &error);
    let (file, length) = match input::waits() && input::is_stream(path) {
        true => (File::open(path).map_err(refused)?, LARGEST_TEXT),
        false => {
            let file = input::open(path).map_err(refused)?;
            let length = file.metadata().map_err(refused)?.len();
            (file, length)
        }
    };
    let mut reader = BufReader::with_capacity(BUFFER, file);
    budget::within(length as usize, || read(&mut reader))
}

/// Writes a text file, completely or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), FileError> {
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    #[test]
    fn a_missing_file_a_directory_and_bytes_that_are_no_text_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing.yaml");
        assert_eq!(
            read(&missing).unwrap_err().to_string(),
            format!(
                "{}: there is no such file; check its name and the current directory",
                missing.display()
            )
        );
        assert_eq!(
            read(directory.path()).unwrap_err().to_string(),
            format!(
                "{}: cannot be read: Is a directory; check its permissions",
                directory.path().display()
            )
        );
        let binary = directory.path().join("binary.yaml");
        fs::write(&binary, b"treepie\xff\xfe").unwrap();
        assert_eq!(
            read(&binary).unwrap_err().to_string(),
            format!(
                "{}: is not text: byte 7 is not UTF-8; a YAML file of treepie was expected",
                binary.display()
            )
        );
    }
}
