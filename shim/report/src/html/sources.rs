//! The files from which a report is made, distinguished by their contents.

use std::path::{Path, PathBuf};

use treepie_placement::file::PlacementFile;
use treepie_platform::file::PlatformFile;
use treepie_profile::Profile;
use treepie_profile::any::{AnyFile, read_any};
use treepie_topology::Topology;
use treepie_topology::networks::Site;

use crate::input::traffic::{parts_in, profile_of_placement};
use crate::input::{network, topology};
use crate::words::pluralize;
use treepie_launch::error::CommandError;

/// A file and its contents.
pub type Read<T> = (PathBuf, T);

/// Sources of a report.
pub struct Sources {
    /// Profile of the run before.
    pub before: Read<Profile>,
    /// Profile of a replay.
    pub after: Option<Read<Profile>>,
    /// Placement.
    pub placement: Option<Read<PlacementFile>>,
    /// Platform with the speed of links.
    pub platform: Option<Read<PlatformFile>>,
    /// The machine, if given.
    pub topology: Option<Topology>,
    /// The network of the hosts, if given.
    pub network: Option<Read<Site>>,
}

impl Sources {
    /// Reads all files. The first profile is from before, a second one from after; for a placement
    /// alone, the profile from which it was computed is read.
    ///
    /// # Errors
    /// Files cannot be read or do not fit each other, or there are too many of a kind.
    pub fn read(
        paths: &[PathBuf],
        machine: Option<&str>,
        on: Option<&str>,
    ) -> Result<Self, CommandError> {
        let mut profiles = Vec::new();
        let (mut placement, mut platform, mut named) = (None, None, None);
        let site = |text: &str| Ok::<_, CommandError>((PathBuf::from(text), network::read(text)?));
        let mut network = on.map(site).transpose()?;
        for path in paths {
            if path.is_dir() {
                profiles.push((path.clone(), parts_in(path)?));
                continue;
            }
            let file = read_any(path)?;
            let kind = file.kind();
            let taken = match file {
                AnyFile::Profile(found) if profiles.len() < 2 => {
                    profiles.push((path.clone(), *found));
                    continue;
                }
                AnyFile::Placement(found) => placement.replace((path.clone(), *found)).is_some(),
                AnyFile::Platform(found) => platform.replace((path.clone(), *found)).is_some(),
                AnyFile::Topology(found) => named.replace(*found).is_some(),
                AnyFile::Network(found) => network.replace((path.clone(), *found)).is_some(),
                AnyFile::Profile(_) => true,
                _ => return Err(no_part(path, &kind.to_string())),
            };
            if taken {
                return Err(CommandError::usage(format!(
                    "{}: one {kind} too many; a report has two profiles, a placement, a \
                     platform, a topology and a network at most",
                    path.display()
                )));
            }
        }
        if let (true, Some((path, file))) = (profiles.is_empty(), &placement) {
            profiles.push(profile_of(path, file)?);
        }
        let mut profiles = profiles.into_iter();
        let before = profiles.next().ok_or_else(|| {
            CommandError::usage(
                "a report is about a job, and there is no profile among the files; name one",
            )
        })?;
        let sources = Sources {
            before,
            after: profiles.next(),
            placement,
            platform,
            topology: machine.map(topology::read).transpose()?.or(named),
            network,
        };
        sources.check()?;
        Ok(sources)
    }

    /// Refuses files of jobs of different sizes.
    fn check(&self) -> Result<(), CommandError> {
        let ranks = self.before.1.ranks;
        let after = self.after.iter().map(|(path, file)| (path, file.ranks));
        let placement = self.placement.iter().map(|(path, file)| (path, file.ranks));
        match after.chain(placement).find(|&(_, found)| found != ranks) {
            None => Ok(()),
            Some((path, found)) => Err(CommandError::failed(format!(
                "{}: is of {} and {} of {}; give files of the same job",
                path.display(),
                pluralize(found, "rank"),
                self.before.0.display(),
                pluralize(ranks, "rank")
            ))),
        }
    }
}

fn no_part(path: &Path, kind: &str) -> CommandError {
    CommandError::usage(format!(
        "{}: a {kind} is no part of a report; name profiles, a placement, a platform, a topology, a network",
        path.display()
    ))
}

/// The profile from which a placement was computed.
fn profile_of(path: &Path, file: &PlacementFile) -> Result<Read<Profile>, CommandError> {
    let named = file.profile.as_deref();
    let found = named.and_then(|named| profile_of_placement(path, named));
    let source = found.ok_or_else(|| {
        CommandError::usage(format!(
            "{}: its profile is not beside it, and is needed; name it with --profile",
            path.display()
        ))
    })?;
    let profile = Profile::read(&source)?;
    Ok((source, profile))
}
