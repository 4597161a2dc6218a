//! Log of this process during the run: blocks in a file of its host, and a tail in memory.
//!
//! The ranks of a host share two files, which its lowest rank creates. Entries go to the rank's own
//! part of the file of tails, mapped memory that the system keeps if the process is killed. A full
//! tail becomes a compressed block, which is appended to the other file in one call. A tail holds
//! the number of blocks before it, so that a tail whose block has just been written is not read
//! twice.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use treepie_base::Rank;
use treepie_base::own_directory::{Access, NotOwn, OwnDirectory};
use treepie_jobstate::order::file::{
    self, OrderError, TAIL, TAIL_HEAD, block_file, bodies_of_host, directory_of, start_of_rank,
    tail_file,
};
use treepie_jobstate::order::{BLOCK, Totals};
use treepie_process::machine::file_limit;

/// Files of a host's ranks.
#[derive(Debug, Clone)]
pub struct HostFiles {
    directory: PathBuf,
    /// Lowest rank of the host.
    first: Rank,
    /// Number of ranks of the host.
    ranks: usize,
}

impl HostFiles {
    /// Returns the files for the order at `order` of a host's ranks, which are sorted.
    pub fn new(order: &Path, ranks: &[Rank]) -> HostFiles {
        HostFiles {
            directory: directory_of(order),
            first: ranks.first().copied().unwrap_or_default(),
            ranks: ranks.len(),
        }
    }

    fn names(&self) -> [String; 2] {
        [block_file(self.first), tail_file(self.first)]
    }

    fn open(&self) -> Result<OwnDirectory, NotOwn> {
        OwnDirectory::open(&*self.directory, Access::Umask)
    }

    /// Creates them, before any rank of the host begins its log; `start` is the beginning of a
    /// run's files.
    ///
    /// # Errors
    /// An error of the system, and a directory of another owner; no files are left then.
    pub fn create(&self, start: &[u8]) -> Result<(), NotOwn> {
        let directory = OwnDirectory::make(&*self.directory, Access::Umask)?;
        let [blocks, tails] = self.names();
        let made = directory
            .create(&tails, 0o666)
            .and_then(|_| directory.create(&blocks, 0o666)?.write_all(start));
        if made.is_err() {
            self.remove();
        }
        Ok(made?)
    }

    /// Reads the logs of all ranks of the host, which must all have ended.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn bodies(&self) -> Result<Vec<u8>, OrderError> {
        bodies_of_host(&self.directory, self.first)
    }

    /// Removes them, and the directory with the last ones: the job's order has been written.
    pub fn remove(&self) {
        if let Ok(directory) = self.open() {
            self.names().iter().for_each(|name| directory.remove(name));
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

/// Log of this process.
pub struct Journal {
    rank: Rank,
    /// The file of blocks, to which the other ranks of the host append as well.
    file: File,
    tail: Tail,
    /// Bytes of entries in the tail.
    length: usize,
    blocks: u64,
}

impl Journal {
    /// Begins the log of a rank, the `place`-th of its host, whose files exist.
    ///
    /// # Errors
    /// An error of the system, and a directory of another owner.
    pub fn begin(files: &HostFiles, rank: Rank, place: usize) -> Result<Journal, NotOwn> {
        let directory = files.open()?;
        let [blocks, tails] = files.names();
        let journal = Journal {
            rank,
            file: directory.append_to(&blocks)?,
            tail: Tail::new(&directory.open_file(&tails)?, files.ranks, place)?,
            length: 0,
            blocks: 0,
        };
        // A rank without entries has a log, too.
        journal.append(&start_of_rank(rank))?;
        journal.tail.begin(rank);
        Ok(journal)
    }

    /// Adds whole entries.
    ///
    /// # Errors
    /// An error of the system; entries that are longer than a block.
    pub fn put(&mut self, entries: &[u8]) -> io::Result<()> {
        if self.length + entries.len() > BLOCK {
            self.end_block()?;
        }
        if entries.len() > BLOCK {
            return Err(io::Error::other("a call of too many requests"));
        }
        self.tail.write(self.length, entries);
        self.length += entries.len();
        self.tail.set_length(self.length);
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.length > 0 {
            let block = file::block(&self.tail.entries(self.length));
            self.append(&[start_of_rank(self.rank), block].concat())?;
            self.blocks += 1;
            self.length = 0;
            self.tail.empty(self.blocks);
        }
        Ok(())
    }

    /// Ends the log.
    ///
    /// # Errors
    /// An error of the system.
    pub fn end(&mut self, totals: &Totals) -> io::Result<()> {
        self.end_block()?;
        self.append(&[start_of_rank(self.rank), file::end_of_rank(totals)].concat())
    }

    /// Appends frames in one call, since other ranks may append theirs next. A frame that a full
    /// disk has cut off is invalid, and readers skip it.
    fn append(&self, frames: &[u8]) -> io::Result<()> {
        let length = self.file.metadata()?.len() + frames.len() as u64;
        if length > file_limit() {
            return Err(limited());
        }
        loop {
            match (&self.file).write(frames) {
                Ok(written) if written == frames.len() => return Ok(()),
                Ok(_) => return Err(ErrorKind::StorageFull.into()),
                Err(problem) if problem.kind() == ErrorKind::Interrupted => (),
                Err(problem) => return Err(problem),
            }
        }
    }
}

fn limited() -> io::Error {
    io::Error::other("files may not be so large (ulimit -f)")
}

/// Words of a tail's header.
const HEAD: usize = TAIL_HEAD / 8;
/// Words of a tail.
const WORDS: usize = TAIL / 8;

/// Entries in shared memory, which only this process writes, one thread at a time: the rank plus 1,
/// the number of earlier blocks, the length, and the entries.
struct Tail(&'static [AtomicU64; WORDS]);

impl Tail {
    /// Returns the `place`-th of `tails` tails in a file.
    fn new(file: &File, tails: usize, place: usize) -> io::Result<Tail> {
        if (tails * TAIL) as u64 > file_limit() {
            return Err(limited());
        }
        // Memory that is only reserved would end the process if the system ran out of it.
        let (start, length) = ((place * TAIL) as libc::off_t, TAIL as libc::off_t);
        // SAFETY: this library owns the descriptor.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), start, length) } {
            0 => (),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (none, descriptor) = (std::ptr::null_mut(), file.as_raw_fd());
        let until = (place + 1) * TAIL;
        // SAFETY: a new mapping of a file that has this length: tails begin anywhere in a page of
        // memory, mappings do not.
        let base = unsafe { libc::mmap(none, until, access, libc::MAP_SHARED, descriptor, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping holds this many tails, of whole words; it is aligned to a page of
        // memory, never unmapped, and only accessed atomically.
        Ok(Tail(unsafe {
            &*base.cast::<[AtomicU64; WORDS]>().add(place)
        }))
    }

    /// Marks the tail as this rank's.
    fn begin(&self, rank: Rank) {
        self.0[0].store((rank.0 as u64 + 1).to_le(), Ordering::Release);
    }

    fn set_length(&self, length: usize) {
        self.0[2].store((length as u64).to_le(), Ordering::Release);
    }

    /// Sets the number of blocks, and the number of entries to 0. A tail that is left between the
    /// two stores has no entries, and they are in the block.
    fn empty(&self, blocks: u64) {
        self.set_length(0);
        self.0[1].store(blocks.to_le(), Ordering::Release);
    }

    /// Writes entries at byte `at`.
    fn write(&self, at: usize, entries: &[u8]) {
        for (at, &byte) in (at..).zip(entries) {
            let word = &self.0[HEAD + at / 8];
            let mut bytes = word.load(Ordering::Relaxed).to_ne_bytes();
            bytes[at % 8] = byte;
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
    }

    /// Returns a copy of the first `length` bytes of the entries.
    fn entries(&self, length: usize) -> Vec<u8> {
        let words = &self.0[HEAD..HEAD + length.div_ceil(8)];
        let word = |word: &AtomicU64| word.load(Ordering::Relaxed).to_ne_bytes();
        let mut bytes: Vec<u8> = words.iter().flat_map(word).collect();
        bytes.truncate(length);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use treepie_jobstate::order::file::{Order, Program, start_of_file};
    use treepie_profile::partial_profiles::RunDescription;

    type Checked = Result<(), Box<dyn std::error::Error>>;

    /// Match of the oldest receive, with the same source as the one before.
    const ENTRY: [u8; 1] = [0];

    /// Returns a directory for one test, and the files of a host with ranks 2 and 5 of 6.
    fn host(name: &str) -> Result<(PathBuf, HostFiles), NotOwn> {
        let name = format!("treepie-journal-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory)?;
        let files = HostFiles::new(&directory.join("a.order"), &[2, 5].map(Rank));
        let run = RunDescription {
            ranks: 6,
            ..RunDescription::default()
        };
        files.create(&start_of_file(&run, &Program::default()))?;
        Ok((directory, files))
    }

    fn matches(order: &Order) -> Vec<u64> {
        order.logs.iter().map(|log| log.counts.matches).collect()
    }

    #[test]
    fn what_was_recorded_before_the_disk_was_full_is_kept() -> Checked {
        let (directory, files) = host("full")?;
        let mut journal = Journal::begin(&files, Rank(2), 0)?;
        let many = vec![0; BLOCK];
        journal.put(&many)?;
        journal.put(&ENTRY)?;
        assert_eq!(journal.blocks, 1);
        journal.file = OpenOptions::new().write(true).open("/dev/full")?;
        journal.put(&many[1..])?;
        let problem = journal.put(&ENTRY).err().map(|problem| problem.kind());
        assert_eq!(problem, Some(ErrorKind::StorageFull));
        assert!(journal.end(&Totals::default()).is_err());
        let kept = Order::read(&files.directory)?;
        let _ = fs::remove_dir_all(&directory);
        assert_eq!(kept.early(), [0, 1, 2, 3, 4, 5].map(Rank));
        assert_eq!(matches(&kept), [0, 0, 2 * BLOCK as u64, 0, 0, 0]);
        Ok(())
    }

    #[test]
    fn ranks_of_a_host_share_two_files_and_one_that_dies_in_a_write_takes_its_own_alone() -> Checked
    {
        let (directory, files) = host("shared")?;
        let mut journals = [(2, 0), (5, 1)]
            .map(|(rank, place)| Journal::begin(&files, Rank(rank), place))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let many = vec![0; BLOCK];
        for journal in &mut journals {
            journal.put(&many)?;
            journal.put(&ENTRY)?;
        }
        // Rank 2 is killed while it appends a block; rank 5 continues.
        let block = [start_of_rank(Rank(2)), file::block(&many)].concat();
        journals[0].append(&block[..block.len() - 1])?;
        journals[1].put(&many)?;
        assert_eq!(fs::read_dir(&files.directory)?.count(), 2);
        let left = Order::read(&files.directory)?;
        let block = BLOCK as u64;
        assert_eq!(matches(&left), [0, 0, block + 1, 0, 0, 2 * block + 1]);
        journals[1].end(&Totals::default())?;
        let left = Order::read(&files.directory)?;
        let _ = fs::remove_dir_all(&directory);
        assert_eq!(left.early(), [0, 1, 2, 3, 4].map(Rank));
        assert_eq!(matches(&left), [0, 0, block + 1, 0, 0, 2 * block + 1]);
        Ok(())
    }
}
