//! Maker and version of an MPI: there are tables of algorithms for known ones.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use thiserror::Error;

use treepie_base::from_name;

/// Maker of an MPI with selectable algorithms.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Maker {
    /// Open MPI.
    OpenMpi,
    /// MPICH itself, not its relatives.
    Mpich,
    /// Intel MPI.
    IntelMpi,
}

from_name!(Maker, "MPI library");

/// Major number, minor number, and release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version(major, minor, release) = self;
        write!(out, "{major}.{minor}.{release}")
    }
}

/// MPI library, of a version whose algorithms are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Library {
    /// Its maker.
    pub maker: Maker,
    /// Its version.
    pub version: Version,
}

/// Library whose algorithms are not known here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{said}: treepie does not know the algorithms of this MPI; it knows those of {KNOWN}")]
pub struct UnknownLibrary {
    /// Its own version text.
    pub said: String,
}

/// First known version, and the first later one that is not known.
const RANGES: [(Maker, Version, Version); 3] = [
    (Maker::OpenMpi, Version(4, 1, 0), Version(6, 1, 0)),
    (Maker::Mpich, Version(4, 0, 0), Version(5, 1, 0)),
    (Maker::IntelMpi, Version(2021, 0, 0), Version(2022, 0, 0)),
];

const KNOWN: &str = "Open MPI 4.1 to 6.0, MPICH 4.0 to 5.0 and Intel MPI 2021";

impl Library {
    /// Returns the library with the version text `text` (`MPI_Get_library_version`), complete or
    /// only its first line.
    ///
    /// # Errors
    /// A library, or a version, whose algorithms are not known.
    pub fn from_version_text(text: &str) -> Result<Library, UnknownLibrary> {
        let unknown = || UnknownLibrary {
            said: shortened(text),
        };
        let library = Library::called(text).ok_or_else(unknown)?;
        library.known().ok_or_else(unknown)
    }

    /// Returns the library with this version text, even if its algorithms are not known.
    pub fn called(text: &str) -> Option<Library> {
        let starts = [
            ("Open MPI v", Maker::OpenMpi),
            ("Intel(R) MPI Library ", Maker::IntelMpi),
            ("MPICH Version:", Maker::Mpich),
        ];
        starts.into_iter().find_map(|(start, maker)| {
            let rest = text.trim_start().strip_prefix(start)?;
            let version = version(rest)?;
            Some(Library { maker, version })
        })
    }

    fn known(self) -> Option<Library> {
        let is_in = |(maker, from, to): &(Maker, Version, Version)| {
            *maker == self.maker && (*from..*to).contains(&self.version)
        };
        RANGES.iter().any(is_in).then_some(self)
    }

    /// True if both make the same decisions: the same maker, major and minor number. Tables, and
    /// measurements, are valid for one such series.
    pub fn is_like(self, other: Library) -> bool {
        let series = |library: Library| (library.maker, library.version.0, library.version.1);
        series(self) == series(other)
    }
}

/// Parses the version at the beginning of a text: `4.1.4, package: ...`, `4.2`.
fn version(text: &str) -> Option<Version> {
    let is_of_it = |letter: char| letter.is_ascii_digit() || letter == '.';
    let text = text.trim_start();
    let end = text.find(|letter| !is_of_it(letter)).unwrap_or(text.len());
    let mut numbers = text[..end].split('.').map(|number| number.parse().ok());
    let major = numbers.next()??;
    let mut next = || numbers.next().flatten().unwrap_or(0);
    Some(Version(major, next(), next()))
}

/// Returns the first words of a text, on one line.
fn shortened(text: &str) -> String {
    let line: String = text.chars().take(60).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.is_empty() {
        true => "(nothing)".to_owned(),
        false => words.join(" ").escape_debug().to_string(),
    }
}

impl fmt::Display for Library {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.maker, self.version)
    }
}

impl FromStr for Library {
    type Err = UnknownLibrary;

    /// Parses the displayed form: `open-mpi 4.1.4`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownLibrary {
            said: shortened(text),
        };
        let (maker, rest) = text.trim().split_once(' ').ok_or_else(unknown)?;
        let maker = maker.parse().map_err(|_| unknown())?;
        let version = version(rest).ok_or_else(unknown)?;
        Library { maker, version }.known().ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_what_they_call_themselves() {
        for (text, expected) in [
            (
                "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4",
                "open-mpi 4.1.4",
            ),
            ("Open MPI v5.0.11rc1", "open-mpi 5.0.11"),
            (
                "MPICH Version:      4.0.2\nMPICH Release date: Thu",
                "mpich 4.0.2",
            ),
            ("MPICH Version: 4.2", "mpich 4.2.0"),
            (
                "Intel(R) MPI Library 2021.18 for Linux* OS",
                "intel-mpi 2021.18.0",
            ),
        ] {
            let found = Library::from_version_text(text).unwrap();
            assert_eq!(found.to_string(), expected);
            assert_eq!(expected.parse(), Ok(found));
        }
    }

    #[test]
    fn relatives_and_versions_that_are_not_known_are_named() {
        for text in [
            "MVAPICH Version: 4.0",
            "MPI VERSION    : CRAY MPICH version 8.1.28",
            "Open MPI v6.1.0",
            "Open MPI v4.0.7",
            "MPICH Version: 5.2.0",
            "",
            "Open MPI v",
            "MPICH Version: four",
        ] {
            let error = Library::from_version_text(text).unwrap_err().to_string();
            assert!(
                error.ends_with("and Intel MPI 2021") && !error.contains('\n'),
                "{error}"
            );
        }
        assert!("open-mpi".parse::<Library>().is_err());
        assert!("mpich 99999999999999999999".parse::<Library>().is_err());
    }

    #[test]
    fn releases_of_one_series_decide_alike() {
        let of = |text: &str| text.parse::<Library>().unwrap();
        assert!(of("mpich 4.0.2").is_like(of("mpich 4.0.3")));
        assert!(!of("mpich 4.0.2").is_like(of("mpich 4.1.0")));
        assert!(!of("open-mpi 4.1.4").is_like(of("mpich 4.1.4")));
    }
}
