//! Profiles on disk: the YAML, and the matrices beside it.

use std::path::Path;

use serde::Serialize;
use serde::de::MapAccess;

use crate::layers::{self, LayerFiles};
use crate::phases::{self, Phase, PhaseFiles};
use crate::profile::Profile;
use treepie_base::{File, FileContents, FileError, Joined, Kind, SideFields, file, text};

/// Lines of a profile about its matrices. `complete` is the last one: without it the file was cut
/// off.
#[derive(Serialize)]
struct ProfileFiles<P> {
    layers: Vec<LayerFiles>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    phases: Vec<Joined<P, PhaseFiles>>,
    complete: bool,
}

impl<P> Default for ProfileFiles<P> {
    fn default() -> Self {
        ProfileFiles {
            layers: Vec::new(),
            phases: Vec::new(),
            complete: false,
        }
    }
}

impl SideFields for ProfileFiles<Phase> {
    const NAMES: &'static [&'static str] = &["layers", "phases", "complete"];

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, lines: &mut A) -> Result<(), A::Error> {
        match name {
            "layers" => self.layers = lines.next_value()?,
            "phases" => self.phases = lines.next_value()?,
            _ => self.complete = lines.next_value()?,
        }
        Ok(())
    }
}

impl FileContents for Profile {
    const KIND: Kind = Kind::Profile;
}

impl Profile {
    /// Writes the matrices beside `path` and then the YAML at `path`, each completely or not at
    /// all. `app.profile.yaml` gets `app.profile.point-to-point.bytes.mtx` and so on; layers
    /// without traffic, except point-to-point, get no files. A pipe, a device or a standard stream
    /// has none.
    ///
    /// # Errors
    /// A profile that contradicts itself, and a file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let side = ProfileFiles {
            layers: layers::write(path, None, &self.matrices())?,
            phases: phases::write(path, &self.phases)?,
            complete: true,
        };
        let body = Joined { body: self, side };
        let text = file::to_text(path, Kind::Profile, &self.header, &body)?;
        text::write(path, &text)
    }

    /// Reads and checks a profile and the matrices beside it.
    ///
    /// # Errors
    /// A file that cannot be read, is not a profile, or contradicts itself or its matrices.
    pub fn read(path: &Path) -> Result<Profile, FileError> {
        Profile::from_text(path, &text::read(path)?)
    }

    /// Reads the profile in the text of the YAML file at `path`, with the matrices that are beside
    /// it.
    ///
    /// # Errors
    /// Those of [`Profile::read`].
    pub fn from_text(path: &Path, text: &str) -> Result<Profile, FileError> {
        let file = File::<Joined<Profile, ProfileFiles<Phase>>>::from_text(path, text)?;
        let Joined {
            body: mut profile,
            side: files,
        } = file.body;
        profile.header = file.header;
        if !files.complete {
            let problem = "is missing or false; take the profile again";
            return Err(FileError::field(path, "complete", problem));
        }
        // Checked first, so that no matrix is allocated for an invalid number of ranks.
        profile.check_description(path)?;
        let ranks = profile.ranks;
        let mut matrices = profile.matrices_mut();
        layers::read(path, "layers", &files.layers, &mut matrices, ranks)?;
        profile.phases = phases::read(path, files.phases, ranks)?;
        profile.check(path)?;
        Ok(profile)
    }
}
