//! Files that a job has written under a name with placeholders.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use treepie_base::own_directory::NotOwn;
use treepie_base::{note, own_directory};

/// True if the ranks of a job of this user can have written a directory. A directory of another
/// user is reported, and nothing in it is read or removed.
pub fn is_ours(directory: &Path) -> bool {
    match own_directory::check(directory) {
        Err(refused @ NotOwn::Strange) => {
            note!("{}: {refused}; it is left out", directory.display());
            false
        }
        _ => true,
    }
}

/// Watches a directory for files that match a template such as `run-%j.profile.yaml`.
#[derive(Debug)]
pub struct Watch {
    directory: PathBuf,
    pieces: Vec<Piece>,
    before: BTreeMap<PathBuf, Stamp>,
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `%n` and `%p`: a number.
    Number,
    /// `%j`: any name of a job.
    Any,
}

/// Identity of a version of a file: number and time.
type Stamp = (u64, i64, i64);

impl Watch {
    /// Records the files that exist before the job starts.
    pub fn new(template: &Path) -> Self {
        let name = template.file_name().unwrap_or_default().to_string_lossy();
        let mut watch = Watch {
            directory: template.parent().unwrap_or(Path::new(".")).to_owned(),
            pieces: pieces(&name),
            before: BTreeMap::new(),
        };
        watch.before = watch.matching();
        watch
    }

    /// The files that are new or were written since, the latest last.
    pub fn written(&self) -> Vec<PathBuf> {
        let mut files: Vec<(PathBuf, Stamp)> = self.matching().into_iter().collect();
        files.retain(|(path, stamp)| self.before.get(path) != Some(stamp));
        files.sort_by_key(|(_, (_, seconds, nanoseconds))| (*seconds, *nanoseconds));
        files.into_iter().map(|(path, _)| path).collect()
    }

    fn matching(&self) -> BTreeMap<PathBuf, Stamp> {
        let Ok(entries) = std::fs::read_dir(&self.directory) else {
            return BTreeMap::new();
        };
        entries
            .flatten()
            .filter(|entry| self.fits(&entry.file_name()))
            .filter_map(|entry| {
                let data = entry.path().metadata().ok()?;
                Some((entry.path(), (data.ino(), data.mtime(), data.mtime_nsec())))
            })
            .collect()
    }

    fn fits(&self, name: &OsString) -> bool {
        name.to_str().is_some_and(|name| fits(name, &self.pieces))
    }
}

fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut letters = template.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let piece = match letters.next() {
            Some('n' | 'p') => Piece::Number,
            Some('j') => Piece::Any,
            other => {
                text.push(other.unwrap_or('%'));
                continue;
            }
        };
        pieces.push(Piece::Text(std::mem::take(&mut text)));
        pieces.push(piece);
    }
    pieces.push(Piece::Text(text));
    pieces
}

fn fits(name: &str, pieces: &[Piece]) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return name.is_empty();
    };
    match first {
        Piece::Text(text) => name
            .strip_prefix(text.as_str())
            .is_some_and(|name| fits(name, rest)),
        Piece::Any => (0..=name.len())
            .filter(|&end| name.is_char_boundary(end))
            .any(|end| fits(&name[end..], rest)),
        Piece::Number => {
            let digits = name.chars().take_while(char::is_ascii_digit).count();
            (1..=digits).any(|end| fits(&name[end..], rest))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn placeholders_stand_for_what_the_library_puts_there() {
        for (template, name, expected) in [
            ("a.yaml", "a.yaml", true),
            ("a.yaml", "a.yaml.mtx", false),
            ("treepie-%n.profile.yaml", "treepie-16.profile.yaml", true),
            ("treepie-%n.profile.yaml", "treepie-x.profile.yaml", false),
            ("treepie-%n.profile.yaml", "treepie-.profile.yaml", false),
            ("%j-%p.yaml", "job.7-12.yaml", true),
            ("%n%n.yaml", "12.yaml", true),
            ("100%%.yaml", "100%.yaml", true),
        ] {
            assert_eq!(fits(name, &pieces(template)), expected, "{template} {name}");
        }
    }

    #[test]
    fn only_files_that_were_written_since_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("old-1.yaml"), "").unwrap();
        std::fs::write(file("old-2.yaml"), "").unwrap();
        let watch = Watch::new(&file("old-%n.yaml"));
        assert_eq!(watch.written(), Vec::<PathBuf>::new());
        std::fs::remove_file(file("old-2.yaml")).unwrap();
        std::fs::write(file("keeps-the-number"), "").unwrap();
        std::fs::write(file("old-2.yaml"), "again").unwrap();
        std::fs::write(file("old-3.yaml"), "").unwrap();
        std::fs::write(file("other-3.yaml"), "").unwrap();
        assert_eq!(watch.written(), [file("old-2.yaml"), file("old-3.yaml")]);
    }
}
