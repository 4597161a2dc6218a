//! Platforms that jobs have measured, in a store, for the next job on the same hosts.
//!
//! A platform belongs to hosts and an MPI, independent of the application. Its key is a hash of
//! these; in the file hosts are numbered in the order of their names, which the job that reads it
//! knows.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::key::{Key, Salt};
use super::store::{Store, StoreError, began, seconds};
use treepie_base::FileError;
use treepie_guard::learning::{MAX_AGE_SECONDS, MAX_AHEAD_SECONDS};
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;

/// Ending of the name of a platform's file.
const PLATFORM: &str = ".platform.yaml";

/// Platform in a store.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptPlatform {
    /// Key of its hosts and MPI.
    pub key: Key,
    /// Time of the measurement, in seconds since 1970.
    pub made: u64,
    /// Platform; hosts have numbers for names.
    pub file: PlatformFile,
}

impl KeptPlatform {
    /// Returns the time until which it is used, in seconds since 1970.
    pub fn until(&self) -> u64 {
        self.made.saturating_add(MAX_AGE_SECONDS)
    }

    /// Returns the platform with the names of these hosts, on which it was measured.
    ///
    /// # Errors
    /// Another number of hosts, which does not occur.
    pub fn on(&self, hosts: &[String]) -> Result<PlatformFile, FileError> {
        let names = sorted(hosts);
        renamed(&self.file, |name| {
            let number: Option<usize> = name.parse().ok();
            number.and_then(|number| names.get(number).cloned())
        })
    }
}

/// Returns the key of the platform of these hosts with this MPI in a store, independent of the
/// order of ranks on them.
pub fn platform_key(salt: Salt, library: &str, hosts: &[String]) -> Key {
    salt.key(&("platform", library, sorted(hosts)))
}

fn sorted(hosts: &[String]) -> Vec<String> {
    let mut names = hosts.to_vec();
    names.sort();
    names.dedup();
    names
}

/// Returns the platform with other names of hosts, and without any other names.
fn renamed(
    file: &PlatformFile,
    name_of: impl Fn(&str) -> Option<String>,
) -> Result<PlatformFile, FileError> {
    let mut contents = file.platform.contents().clone();
    for host in &mut contents.hosts {
        let unknown = || FileError::field(Path::new("platform"), "hosts", "are others".to_owned());
        host.name = name_of(&host.name).ok_or_else(unknown)?;
    }
    for (number, cluster) in contents.clusters.iter_mut().enumerate() {
        cluster.name = format!("cluster{number}");
    }
    if let Some(probing) = &mut contents.probing {
        probing.left_out.clear();
    }
    let platform = Platform::new(contents)
        .map_err(|error| FileError::field(Path::new("platform"), error.field, error.problem))?;
    Ok(PlatformFile {
        header: file.header.clone(),
        // Some contain the name of their builder, and the place.
        mpi: None,
        platform,
    })
}

impl Store {
    /// Keeps the measurements of the run `name` on these hosts; they replace earlier ones.
    ///
    /// # Errors
    /// A store that cannot be written, or is not the user's.
    pub fn keep_platform(
        &self,
        key: Key,
        name: &str,
        (hosts, file): (&[String], &PlatformFile),
    ) -> Result<(), StoreError> {
        let names = sorted(hosts);
        let number = |name: &str| names.iter().position(|host| host == name);
        let file = renamed(file, |name| number(name).map(|number| number.to_string()))?;
        let older = self.platform_files(key);
        let path = self.directory(key).join(format!("{name}{PLATFORM}"));
        self.write_text(&path, &file.to_text(&path)?)?;
        self.remove(older.iter().filter(|older| **older != path));
        Ok(())
    }

    /// Returns the newest platform of this key that is not too old at this time; a file that cannot
    /// be read is skipped.
    pub fn platform(&self, key: Key, now: SystemTime) -> Option<KeptPlatform> {
        let now = seconds(now);
        let mut files = self.platform_files(key);
        files.sort();
        files.iter().rev().find_map(|path| {
            let made = began(path)?;
            let is_known = made <= now.saturating_add(MAX_AHEAD_SECONDS)
                && made.saturating_add(MAX_AGE_SECONDS) > now;
            let text = self.owner.read(path).ok().filter(|_| is_known)?;
            let file = PlatformFile::from_text(path, &text).ok()?;
            Some(KeptPlatform { key, made, file })
        })
    }

    /// Returns all platforms of the user's own store that are valid at this time.
    pub fn platforms(&self, now: SystemTime) -> Vec<KeptPlatform> {
        let keys = self.applications().into_iter();
        keys.filter_map(|key| self.platform(key, now)).collect()
    }

    fn platform_files(&self, key: Key) -> Vec<PathBuf> {
        let names = std::fs::read_dir(self.directory(key));
        let files = names.into_iter().flatten().flatten().map(|it| it.path());
        let is_platform = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.ends_with(PLATFORM))
        };
        let mut files: Vec<PathBuf> = files.filter(is_platform).collect();
        files.retain(|_| self.is_trusted(&self.directory(key)));
        files
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;

    use super::*;

    const TWO: &str = "treepie: platform\nversion: 1\nmpi: built by ann on b7\nhosts:\n\
        - {name: b7, ranks: 0-1}\n- {name: a9, ranks: 2-3}\nclusters:\n\
        - {name: b, hosts: [b7], leader: 0}\n- {name: a, hosts: [a9], leader: 2}\nlinks:\n\
        - {from: b, to: a, latency_us: 5000, samples: ['0 5', '1048576 90000']}\n";

    fn names(all: [&str; 4]) -> Vec<String> {
        all.map(str::to_owned).to_vec()
    }

    #[test]
    fn the_next_job_on_the_same_hosts_finds_it_and_nobody_reads_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let user = std::fs::metadata("/proc/self").unwrap().uid();
        let store = Store::new(directory.path().join("store").to_str().unwrap(), user);
        let salt = store.salt([1; 16]).unwrap();
        let (hosts, dealt) = (
            names(["b7", "b7", "a9", "a9"]),
            names(["a9", "b7", "a9", "b7"]),
        );
        let key = platform_key(salt, "MPI 4", &hosts);
        assert_eq!(key, platform_key(salt, "MPI 4", &dealt));
        assert_ne!(key, platform_key(salt, "MPI 5", &hosts));
        assert_ne!(
            key,
            platform_key(salt, "MPI 4", &names(["b7", "b7", "a8", "a8"]))
        );

        let measured = PlatformFile::from_text(Path::new("two.yaml"), TWO).unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let made = 1_795_000_000;
        for began in [made - 50, made] {
            let name = super::super::run_name(at(began), 1);
            store
                .keep_platform(key, &name, (&hosts, &measured))
                .unwrap();
        }
        assert_eq!(store.platform_files(key).len(), 1);
        let text = std::fs::read_to_string(&store.platform_files(key)[0]).unwrap();
        assert!(
            !["b7", "a9", "ann"].iter().any(|name| text.contains(name)),
            "{text}"
        );

        let kept = store.platform(key, at(made + 10)).unwrap();
        assert_eq!((kept.made, store.platforms(at(made)).len()), (made, 1));
        let found = kept.on(&dealt).unwrap().platform;
        let wanted = measured.platform.for_job(&dealt).unwrap();
        let of_job = found.for_job(&dealt).unwrap();
        assert_eq!(of_job.contents().hosts, wanted.contents().hosts);
        assert_eq!(of_job.contents().links, wanted.contents().links);
        // It expires, and a clock may be wrong.
        assert_eq!(store.platform(key, at(kept.until())), None);
        assert_eq!(store.platform(key, at(5)), None);
    }
}
