//! Partial profile as a file, after an abnormal exit: a description of the run, the counts, and a
//! checksum. Files of one job are in the directory `X.parts` of the profile `X` that the job would
//! have written.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crc32fast::Hasher as Checksum;

use super::merge::merger::{Merged, Merger};
use super::partial_profile::PartialProfile;
use super::run_description::RunDescription;
use super::wire::decode::decode;
use treepie_base::input::to_the_end;
use treepie_base::own_directory::remove_files;
use treepie_base::{FileError, Rank, budget, open_no_link};

/// First bytes of every file.
const FIRST_LINE: &[u8] = b"treepie part 4\n";

/// Maximum size of a file in bytes.
const LARGEST: u64 = 1 << 32;

/// Bytes of memory for a rank in a profile, even for one without a partial profile.
const RANK: usize = 200;

/// Ending of the names of these files.
const ENDING: &str = ".part";

/// Returns the first bytes of every file of a run: an encoded partial profile follows.
pub fn start_of_file(run: &RunDescription) -> Vec<u8> {
    postcard::to_extend(run, FIRST_LINE.to_vec()).unwrap_or_default()
}

/// Returns the last bytes of a file with this checksum.
pub fn end_of_file(checksum: &Checksum) -> [u8; 4] {
    checksum.clone().finalize().to_le_bytes()
}

/// Returns the directory of the partial profiles of the profile at `output`.
pub fn directory_of(output: &Path) -> PathBuf {
    let mut name = OsString::from(output);
    name.push(".parts");
    name.into()
}

/// Returns the name of a rank's file.
pub fn file_name(rank: Rank) -> String {
    format!("rank-{rank}{ENDING}")
}

/// Returns the name of a rank's file while it is written: never read.
pub fn temporary_name(rank: Rank) -> String {
    format!(".rank-{rank}.tmp")
}

/// Reads one partial profile.
///
/// # Errors
/// A file that cannot be read, is not a partial profile, or is incomplete.
pub fn read_file(path: &Path) -> Result<(RunDescription, PartialProfile), FileError> {
    let bytes = open_no_link(path).and_then(|file| to_the_end(file, LARGEST));
    let bytes = bytes.map_err(|error| FileError::reading(path, &error))?;
    let wrong = |problem: &str| FileError::at(path, 0, problem);
    let Some(rest) = bytes.strip_prefix(FIRST_LINE) else {
        return Err(wrong(
            "is no partial profile that this treepie reads; one starts with the line `treepie part 4`",
        ));
    };
    let cut_off = || wrong("was cut off or changed: its checksum is not right; remove it");
    let (content, stated) = rest.split_last_chunk::<4>().ok_or_else(cut_off)?;
    let mut checksum = Checksum::default();
    checksum.update(&bytes[..bytes.len() - stated.len()]);
    if end_of_file(&checksum) != *stated {
        return Err(cut_off());
    }
    let read = RunDescription::take_from_bytes(content);
    let read = read.and_then(|(run, mut rest)| {
        let partial = decode(&mut rest)?;
        rest.is_empty().then_some((run, partial))
    });
    read.ok_or_else(|| wrong("has items of an unknown kind; use the treepie that the job ran with"))
}

/// Merges all partial profiles in a directory.
///
/// # Errors
/// No partial profiles, an invalid one, partial profiles of several runs, partial profiles that
/// contradict each other.
pub fn read_directory(directory: &Path) -> Result<Merged, FileError> {
    let files = files_in(directory).map_err(|error| FileError::reading(directory, &error))?;
    let length = |path: &PathBuf| fs::symlink_metadata(path).map_or(0, |file| file.len());
    let bytes: u64 = files.iter().map(length).sum();
    budget::within(bytes as usize, || merge_files(directory, files))
}

fn merge_files(directory: &Path, files: Vec<PathBuf>) -> Result<Merged, FileError> {
    let mut merger: Option<(Merger, PathBuf)> = None;
    for path in files {
        let (run, partial) = read_file(&path)?;
        let wrong = |problem: String| FileError::at(&path, 0, problem);
        if merger.is_none() {
            take_ranks(&path, &run, RANK)?;
        }
        let (merger, first) =
            merger.get_or_insert_with(|| (Merger::new(run.clone()), path.clone()));
        if *merger.run() != run {
            return Err(wrong(format!(
                "is of another run ({}) than {} ({}); remove the files of one of them",
                run.date,
                first.file_name().unwrap_or_default().to_string_lossy(),
                merger.run().date
            )));
        }
        take_ranks(&path, &run, merger.bytes_of_a_rank(&partial))?;
        merger
            .add(partial)
            .map_err(|error| wrong(error.to_string()))?;
    }
    match merger {
        Some((merger, first)) => merger
            .finish()
            .map_err(|error| FileError::at(&first, 0, error)),
        None => {
            let name = file_name(Rank(0));
            let problem = format!("there are no partial profiles here, which are called {name}");
            Err(FileError::at(directory, 0, problem))
        }
    }
}

/// Reserves the memory of the ranks of a run, `bytes` bytes for each.
fn take_ranks(path: &Path, run: &RunDescription, bytes: usize) -> Result<(), FileError> {
    budget::draw("ranks", run.ranks, bytes).map_err(|problem| FileError::at(path, 0, problem))
}

/// Returns the partial profiles in a directory, by name.
fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|ending| ending == &ENDING[1..])
        {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes the partial profiles in a directory, files that were being written when their process
/// ended, and the directory, if it is empty then. Does nothing if it does not exist.
pub fn remove_directory(directory: &Path) {
    // Not empty if others have put files there: those stay.
    remove_files(directory, |name| {
        let name = name.to_string_lossy();
        let is_partial = name.starts_with("rank-") && name.ends_with(ENDING);
        is_partial || name.starts_with(".rank-") && name.ends_with(".tmp")
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::MpiDescription;
    use crate::partial_profiles::kind::MessageKind;
    use crate::partial_profiles::wire::encode::Encoder;
    use treepie_base::Process;
    use treepie_traffic::Traffic;

    fn run() -> RunDescription {
        RunDescription {
            run: 7,
            ranks: 3,
            producer: "treepie 0.1.0".into(),
            date: "2026-11-21T04:03:48Z".into(),
            mpi: MpiDescription {
                family: "mpich".into(),
                library: "MPICH 4".into(),
                standard: "4.0".into(),
            },
            command: vec!["./app".into(), "-x".into()],
            notes: vec!["a note".into()],
            locality: None,
        }
    }

    fn file(run: &RunDescription, rank: usize, partner: usize) -> Vec<u8> {
        let mut bytes = start_of_file(run);
        let mut encoder = Encoder::new(&mut bytes);
        encoder.rank(Process(rank), Rank(rank), "node", "0-1", 5);
        encoder.counted(MessageKind::PointToPoint, Rank(partner), Traffic::new(1, 8));
        encoder.end();
        let mut checksum = Checksum::default();
        checksum.update(&bytes);
        bytes.extend(end_of_file(&checksum));
        bytes
    }

    fn message(files: &[(&str, Vec<u8>)]) -> String {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        let error = read_directory(directory.path()).unwrap_err().to_string();
        error.replace(&directory.path().display().to_string(), "X")
    }

    #[test]
    fn partial_profiles_of_some_ranks_are_merged_and_the_others_are_missing() {
        let directory = tempfile::tempdir().unwrap();
        for rank in [0, 2] {
            let path = directory.path().join(file_name(Rank(rank)));
            fs::write(path, file(&run(), rank, 1)).unwrap();
        }
        fs::write(directory.path().join(temporary_name(Rank(1))), "half").unwrap();
        let merged = read_directory(directory.path()).unwrap();
        assert_eq!(merged.profile.missing_ranks, [Rank(1)]);
        let sent = merged.profile.point_to_point.entries().collect::<Vec<_>>();
        let one = Traffic::new(1, 8);
        assert_eq!(sent, [(0, 1, one), (2, 1, one)]);
        assert_eq!(merged.profile.command, ["./app", "-x"]);
        merged.profile.check(Path::new("merged")).unwrap();
        remove_directory(directory.path());
        assert!(!directory.path().exists());
    }

    #[test]
    fn every_cut_off_file_is_refused() {
        let whole = file(&run(), 0, 1);
        for length in 0..whole.len() {
            let said = message(&[("rank-0.part", whole[..length].to_vec())]);
            let expected = match length < FIRST_LINE.len() {
                true => "X/rank-0.part: is no partial profile",
                false => "X/rank-0.part: was cut off or changed",
            };
            assert!(said.starts_with(expected), "{length}: {said}");
        }
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let whole = file(&run(), 0, 1);
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            message(&[("rank-0.part", changed)]);
        }
    }

    #[test]
    fn partial_profiles_of_two_runs_are_refused() {
        let mut other = run();
        other.run = 8;
        other.date = "2026-11-22T04:03:48Z".into();
        assert_eq!(
            message(&[
                ("rank-0.part", file(&run(), 0, 1)),
                ("rank-1.part", file(&other, 1, 0)),
            ]),
            "X/rank-1.part: is of another run (2026-11-22T04:03:48Z) than rank-0.part \
             (2026-11-21T04:03:48Z); remove the files of one of them"
        );
    }

    #[test]
    fn a_rank_twice_and_ranks_that_the_job_does_not_have_are_refused() {
        assert_eq!(
            message(&[
                ("rank-0.part", file(&run(), 0, 1)),
                ("rank-1.part", file(&run(), 0, 1)),
            ]),
            "X/rank-1.part: rank 0 has left two partial profiles; remove one of them"
        );
        assert_eq!(
            message(&[("rank-0.part", file(&run(), 0, 3))]),
            "X/rank-0.part: names rank 3, but the job had 3 ranks: they count from 0 to 2; remove it"
        );
        assert_eq!(
            message(&[("rank-0.part", file(&run(), 5, 1))]),
            "X/rank-0.part: names rank 5, but the job had 3 ranks: they count from 0 to 2; remove it"
        );
    }

    #[test]
    fn ranks_that_left_nothing_take_no_more_memory_than_files_are_worth() {
        for ranks in [1 << 20, 1 << 32, usize::MAX] {
            let run = RunDescription { ranks, ..run() };
            assert_eq!(
                message(&[("rank-0.part", file(&run, 0, 1))]),
                format!(
                    "X/rank-0.part: {ranks} ranks would take more than the 64 MiB of memory that a \
                     text of this size may; check this number, and that the text is whole"
                )
            );
        }
        let directory = tempfile::tempdir().unwrap();
        let run = RunDescription {
            ranks: 100_000,
            ..run()
        };
        let path = directory.path().join(file_name(Rank(0)));
        fs::write(path, file(&run, 0, 1)).unwrap();
        let merged = read_directory(directory.path()).unwrap();
        assert_eq!(merged.profile.missing_ranks.len(), 99_999);
    }

    #[test]
    fn texts_of_partial_profiles_do_nothing_where_they_are_shown() {
        let mut run = run();
        run.notes = vec!["\u{1b}[31m\nnote".into()];
        run.mpi.library = "MPI\u{9b}".into();
        let mut bytes = start_of_file(&run);
        let mut encoder = Encoder::new(&mut bytes);
        encoder.rank(Process(0), Rank(0), "node\n", "0-1", 5);
        encoder.end();
        let mut checksum = Checksum::default();
        checksum.update(&bytes);
        bytes.extend(end_of_file(&checksum));
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(file_name(Rank(0))), bytes).unwrap();
        let profile = read_directory(directory.path()).unwrap().profile;
        assert_eq!(profile.notes[0], "\\u{1b}[31m\\nnote");
        assert_eq!(profile.mpi.library, "MPI\\u{9b}");
        assert_eq!(profile.hosts[0].name, "node\\n");
    }

    #[test]
    fn an_empty_directory_is_refused() {
        assert_eq!(
            message(&[]),
            "X: there are no partial profiles here, which are called rank-0.part"
        );
    }
}
