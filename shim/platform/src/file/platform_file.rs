//! Platform files.

use std::path::Path;

use serde::{Deserializer, Serialize, Serializer};

use crate::description::Platform;
use crate::file::platform_text::PlatformText;
use crate::partial::{GivenPlatform, PartialPlatform};
use treepie_base::{File, FileError, Header, Kind, convert, file, text};

/// A platform with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct PlatformFile {
    /// Origin of the file.
    pub header: Header,
    /// Version text of the MPI used for the measurement.
    pub mpi: Option<String>,
    /// The platform in the file.
    pub platform: Platform,
}

impl PlatformFile {
    /// Reads and checks a platform.
    ///
    /// # Errors
    /// The file cannot be read, is not a platform, or is inconsistent.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        PlatformFile::from_text(path, &text::read(path)?)
    }

    /// Parses the platform from the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// The text is not a platform, or is inconsistent.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        let File { header, body } = File::<PlatformText>::from_text(path, text)?;
        let mpi = body.mpi.clone();
        let platform = body
            .build()
            .map_err(|error| FileError::field(path, error.field, error.problem))?;
        Ok(PlatformFile {
            header,
            mpi,
            platform,
        })
    }

    /// Parses the platform of a file for a job; links of clusters and ranks of hosts may be
    /// missing.
    ///
    /// # Errors
    /// The text is not a platform, or is inconsistent.
    pub fn given(path: &Path, text: &str) -> Result<GivenPlatform, FileError> {
        let File { body, .. } = File::<PlatformText>::from_text(path, text)?;
        let given = body.checked(GivenPlatform::new);
        given.map_err(|error| FileError::field(path, error.field, error.problem))
    }

    /// Writes clusters whose links may be missing, atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_partial(
        path: &Path,
        header: &Header,
        partial: &PartialPlatform,
    ) -> Result<(), FileError> {
        let body = PlatformText::new(partial.contents(), None);
        text::write(path, &file::to_text(path, Kind::Platform, header, &body)?)
    }

    /// Writes the platform atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        text::write(path, &self.to_text(path)?)
    }

    /// Formats the text of the file; `path` is for messages.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        let body = PlatformText::new(self.platform.contents(), self.mpi.clone());
        file::to_text(path, Kind::Platform, &self.header, &body)
    }
}

/// For `#[serde(with = "treepie_platform::file")]`: writes a platform within another file.
///
/// # Errors
/// Errors of the writer.
pub fn serialize<S: Serializer>(platform: &Platform, out: S) -> Result<S::Ok, S::Error> {
    let file = File {
        header: Header::default(),
        body: PlatformText::new(platform.contents(), None),
    };
    file.serialize(out)
}

/// For `#[serde(with = "treepie_platform::file")]`: reads a platform within another file.
///
/// # Errors
/// The lines do not describe a platform.
pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Platform, D::Error> {
    convert::mapping(input, |file: File<PlatformText>| file.build())
}
