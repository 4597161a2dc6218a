//! Checkpoints on disk, and detection of a stalled attempt.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use treepie_resilience::supervision::checkpoints::{Checkpoint, fits};

/// The files and directories whose paths match a pattern; `*` and `?` match characters of a name.
pub fn matching(pattern: &Path) -> Vec<Checkpoint> {
    let mut paths = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = component.as_os_str().to_string_lossy();
        paths = match component {
            Component::Normal(_) if name.contains(['*', '?']) => {
                paths.iter().flat_map(|path| entries(path, &name)).collect()
            }
            _ => paths.into_iter().map(|path| path.join(component)).collect(),
        };
    }
    paths.into_iter().filter_map(checkpoint).collect()
}

fn entries(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let here = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    let entries = fs::read_dir(here).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let fitting = names.filter(|name| fits(&name.to_string_lossy(), pattern));
    fitting.map(|name| directory.join(name)).collect()
}

/// Checkpoints on disk; a file may have been removed meanwhile.
fn checkpoint(path: PathBuf) -> Option<Checkpoint> {
    let data = path.metadata().ok()?;
    Some(Checkpoint {
        modified: data.modified().ok()?,
        bytes: data.len(),
        path,
    })
}

/// Returns a function that is true if `look` has returned the same value for too long; time in
/// which it returns `None` does not count.
pub fn stall<'a, T: PartialEq + 'a>(
    most: Duration,
    mut look: impl FnMut() -> Option<T> + 'a,
) -> Box<dyn FnMut() -> bool + 'a> {
    let mut still = Still::new(look(), Instant::now());
    Box::new(move || still.look(look(), Instant::now()) >= most)
}

/// Time for which an observed value has not changed.
struct Still<T> {
    seen: Option<T>,
    since: Instant,
}

impl<T: PartialEq> Still<T> {
    fn new(seen: Option<T>, since: Instant) -> Self {
        Still { seen, since }
    }

    fn look(&mut self, found: Option<T>, now: Instant) -> Duration {
        if found.is_none() || found != self.seen {
            *self = Still::new(found, now);
        }
        now.saturating_duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_cannot_be_seen_does_not_stand_still() {
        let start = Instant::now();
        let mut still = Still::new(None, start);
        let looks = [None, Some(1), Some(1), Some(2), Some(2), None, Some(2)];
        let times = (1..).zip(looks).map(|(second, found)| {
            let now = start + Duration::from_secs(second);
            still.look(found, now).as_secs()
        });
        assert_eq!(times.collect::<Vec<_>>(), [0, 0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn patterns_name_files_in_any_directory() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a1/run.1", "a2/run.2", "b/run.3", "a1/other"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let found = |pattern: &str| {
            let mut paths: Vec<PathBuf> = matching(&directory.path().join(pattern))
                .into_iter()
                .map(|one| one.path.strip_prefix(directory.path()).unwrap().to_owned())
                .collect();
            paths.sort();
            paths
        };
        assert_eq!(
            found("a?/run.*"),
            ["a1/run.1", "a2/run.2"].map(PathBuf::from)
        );
        assert_eq!(found("b/run.3"), [PathBuf::from("b/run.3")]);
        assert!(found("c/*").is_empty());
    }
}
