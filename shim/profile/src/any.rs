//! Files of any kind, for commands that accept several.

use std::path::Path;

use crate::experience::ExperienceFile;
use crate::profile::Profile;
use crate::settings::Settings;
use crate::site::SitePolicy;
use treepie_base::{FileError, FileErrorKind, Kind, OtherRanks, header, text};
use treepie_native::tuning::file::TuningFile;
use treepie_placement::file::PlacementFile;
use treepie_platform::file::PlatformFile;
use treepie_platform::grid::Grid;
use treepie_topology::networks::Site;
use treepie_topology::{Topology, file, formats};

/// Contents of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyFile {
    /// Traffic between ranks.
    Profile(Box<Profile>),
    /// Placement of ranks on cores.
    Placement(Box<PlacementFile>),
    /// Topology of a machine or a cluster.
    Topology(Box<Topology>),
    /// Settings of a run.
    Configuration(Box<Settings>),
    /// Site policy.
    Site(Box<SitePolicy>),
    /// Clusters, and the speed of messages within and between them.
    Platform(Box<PlatformFile>),
    /// Grid to emulate.
    Grid(Box<Grid>),
    /// Experience with an application.
    Experience(Box<ExperienceFile>),
    /// Measurements of an MPI's own algorithms.
    Tuning(Box<TuningFile>),
    /// Network that is not a tree, and its hosts.
    Network(Box<Site>),
}

impl AnyFile {
    /// Returns its kind.
    pub fn kind(&self) -> Kind {
        match self {
            AnyFile::Profile(_) => Kind::Profile,
            AnyFile::Placement(_) => Kind::Placement,
            AnyFile::Topology(_) => Kind::Topology,
            AnyFile::Configuration(_) => Kind::Configuration,
            AnyFile::Site(_) => Kind::Site,
            AnyFile::Platform(_) => Kind::Platform,
            AnyFile::Grid(_) => Kind::Grid,
            AnyFile::Experience(_) => Kind::Experience,
            AnyFile::Tuning(_) => Kind::Tuning,
            AnyFile::Network(_) => Kind::Network,
        }
    }
}

/// Reads a file of treepie by the kind in its first lines.
///
/// # Errors
/// A file that cannot be read, does not state its kind, or is invalid.
pub fn read_any(path: &Path) -> Result<AnyFile, FileError> {
    from_text(path, &text::read(path)?)
}

/// Reads the text of the file at `path`. The matrices of a profile are read from beside `path`.
///
/// # Errors
/// Those of [`read_any`].
pub fn from_text(path: &Path, text: &str) -> Result<AnyFile, FileError> {
    Ok(match header::check(path, text, None)? {
        Kind::Profile => AnyFile::Profile(Box::new(Profile::from_text(path, text)?)),
        Kind::Placement => AnyFile::Placement(Box::new(PlacementFile::from_text(path, text)?)),
        Kind::Topology => AnyFile::Topology(Box::new(file::from_text(path, text)?)),
        Kind::Configuration => AnyFile::Configuration(Box::new(Settings::from_text(path, text)?)),
        Kind::Site => AnyFile::Site(Box::new(SitePolicy::from_text(path, text)?)),
        Kind::Platform => AnyFile::Platform(Box::new(PlatformFile::from_text(path, text)?)),
        Kind::Grid => AnyFile::Grid(Box::new(Grid::from_text(path, text)?)),
        Kind::Experience => AnyFile::Experience(Box::new(ExperienceFile::from_text(path, text)?)),
        Kind::Tuning => AnyFile::Tuning(Box::new(TuningFile::from_text(path, text)?)),
        Kind::Network => AnyFile::Network(Box::new(formats::from_text(path, text, None)?)),
    })
}

/// Input of a replay.
#[derive(Debug, Clone, PartialEq)]
pub enum Replayable {
    /// Placement of ranks on cores.
    Placement(Box<PlacementFile>),
    /// Traffic between ranks, to be placed where the job runs.
    Profile(Box<Profile>),
}

impl Replayable {
    /// Reads a placement or a profile. Any other file is rejected as an invalid placement.
    ///
    /// # Errors
    /// Those of [`read_any`].
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = text::read(path)?;
        match header::check(path, &text, Some(Kind::Placement)) {
            Err(FileError {
                kind:
                    FileErrorKind::WrongKind {
                        found: Kind::Profile,
                        ..
                    },
                ..
            }) => {
                let profile = Profile::from_text(path, &text)?;
                Ok(Replayable::Profile(Box::new(profile)))
            }
            Err(error) => Err(error),
            Ok(_) => {
                let placement = PlacementFile::from_text(path, &text)?;
                Ok(Replayable::Placement(Box::new(placement)))
            }
        }
    }

    /// Reads one for a job of `ranks` ranks.
    ///
    /// # Errors
    /// Those of [`Replayable::read`], and a file for another number of ranks.
    pub fn read_for(path: &Path, ranks: usize) -> Result<Self, FileError> {
        let file = Replayable::read(path)?;
        file.require_ranks(path, ranks)?;
        Ok(file)
    }

    /// Checks that it is for a job of `ranks` ranks; `path` is for the message.
    ///
    /// # Errors
    /// It is for another number.
    pub fn require_ranks(&self, path: &Path, ranks: usize) -> Result<(), FileError> {
        let of_file = match self {
            Replayable::Placement(placement) => placement.ranks,
            Replayable::Profile(profile) => profile.ranks,
        };
        match of_file == ranks {
            true => Ok(()),
            false => Err(FileError::new(
                path,
                OtherRanks {
                    file: of_file,
                    job: ranks,
                },
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::PathBuf;

    use proptest::prelude::*;

    use strum::VariantArray;

    use super::*;

    fn ready_made() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
        paths.sort();
        paths
    }

    #[test]
    fn every_ready_made_file_is_accepted_as_what_its_name_says() {
        let mut kinds = Vec::new();
        for path in ready_made() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let kind = read_any(&path).unwrap().kind();
            let expected = match name.split('.').rev().nth(1) {
                Some("topology") => Kind::Topology,
                Some("placement") => Kind::Placement,
                Some("platform") => Kind::Platform,
                Some("grid") => Kind::Grid,
                Some("experience") => Kind::Experience,
                Some("tuning") => Kind::Tuning,
                Some("network") => Kind::Network,
                Some("site") => Kind::Site,
                Some("profile") if name.split('.').count() > 2 => Kind::Profile,
                _ => Kind::Configuration,
            };
            assert_eq!(kind, expected, "{name}");
            kinds.push(kind);
        }
        for &kind in Kind::VARIANTS {
            assert!(kinds.contains(&kind), "no ready-made {kind}");
        }
    }

    #[test]
    fn a_file_of_no_kind_is_answered_with_the_kinds() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.yaml");
        std::fs::write(&path, "mode: profile\n").unwrap();
        assert_eq!(
            read_any(&path).unwrap_err().to_string(),
            format!(
                "{}: does not state its kind; a file of treepie starts with the lines `treepie: \
                 profile|placement|topology|configuration|site|platform|grid|experience|tuning|network` \
                 and `version: 1`",
                path.display()
            )
        );
    }

    proptest! {
        #[test]
        fn changed_bytes_of_ready_made_files_never_panic(
            file in any::<prop::sample::Index>(),
            length in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..4)
        ) {
            let paths = ready_made();
            let path = &paths[file.index(paths.len())];
            let mut text: Vec<char> = std::fs::read_to_string(path).unwrap().chars().collect();
            text.truncate(text.len() / 2 + length.index(text.len()));
            for (at, letter) in changes {
                let at = at.index(text.len());
                text[at] = letter;
            }
            let text: String = text.into_iter().collect();
            if let Err(error) = from_text(path, &text) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }

        #[test]
        fn any_text_at_all_is_answered_in_one_line(text in "(?s).{0,200}") {
            let error = from_text(Path::new("a.yaml"), &text).unwrap_err().to_string();
            prop_assert!(error.starts_with("a.yaml"));
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }
}
