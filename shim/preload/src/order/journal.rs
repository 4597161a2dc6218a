//! The log of this process while it runs: a file of blocks, and a tail in shared memory.
//!
//! Entries go to the tail, memory of a file that the system keeps when the process is killed. A
//! full tail becomes a compressed block at the end of the other file. A tail tells how many blocks
//! were before it, so that one whose block was written just then is not read twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use treepie_core::files::order::{
    self, TAIL_HEAD, block_file, directory_of, start_of_rank, tail_file,
};
use treepie_core::order::{BLOCK, Totals};

use crate::machine::file_limit;

/// The log of this process.
pub struct Journal {
    /// The file of blocks, and the tail's.
    paths: [PathBuf; 2],
    file: File,
    tail: Tail,
    /// Bytes of entries in the tail.
    length: usize,
    blocks: u64,
}

impl Journal {
    /// Begins the log of a rank; `start` is what the files of a run begin with.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(order: &Path, start: Vec<u8>, rank: usize) -> io::Result<Journal> {
        let directory = directory_of(order);
        fs::create_dir_all(&directory)?;
        let paths = [block_file(rank), tail_file(rank)].map(|name| directory.join(name));
        let mut file = File::create(&paths[0])?;
        file.write_all(&[start, start_of_rank(rank)].concat())?;
        let tail = Tail::create(&paths[1])?;
        Ok(Journal {
            paths,
            file,
            tail,
            length: 0,
            blocks: 0,
        })
    }

    /// Adds whole entries.
    ///
    /// # Errors
    /// What the system says; entries that are longer than a block.
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
            let entries = self.tail.entries(self.length);
            self.file.write_all(&order::block(&entries))?;
            self.blocks += 1;
            self.length = 0;
            self.tail.empty(self.blocks);
        }
        Ok(())
    }

    /// Ends the log: its bytes, without what all ranks' have in front.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(&mut self, totals: &Totals) -> io::Result<Vec<u8>> {
        self.end_block()?;
        self.file.write_all(&order::end_of_rank(totals))?;
        let bytes = fs::read(&self.paths[0])?;
        Ok(order::body_of(&bytes).unwrap_or_default().to_vec())
    }

    /// What is in the log where it could not be written any more: whole blocks, and the tail.
    pub fn so_far(&self) -> Vec<u8> {
        let bytes = fs::read(&self.paths[0]).unwrap_or_default();
        let mut body = order::body_of(&bytes).unwrap_or_default().to_vec();
        if self.length > 0 && !body.is_empty() {
            body.extend(order::block(&self.tail.entries(self.length)));
        }
        body
    }
}

/// Removes the log of a rank: the job's order is written.
pub fn remove(order: &Path, rank: usize) {
    let directory = directory_of(order);
    for name in [block_file(rank), tail_file(rank)] {
        let _ = fs::remove_file(directory.join(name));
    }
    let _ = fs::remove_dir(directory);
}

/// Words of the head before the entries.
const HEAD: usize = TAIL_HEAD / 8;
/// Words of the whole.
const WORDS: usize = HEAD + BLOCK / 8;

/// Entries in shared memory, which this process alone writes, one thread at a time.
struct Tail(&'static [AtomicU64; WORDS]);

impl Tail {
    fn create(path: &Path) -> io::Result<Tail> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path)?;
        if (WORDS * 8) as u64 > file_limit() {
            return Err(io::Error::other("files may not be so large (ulimit -f)"));
        }
        // Memory that is only promised would end the process when there is none.
        // SAFETY: the descriptor is ours.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, (WORDS * 8) as libc::off_t) } {
            0 => (),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (none, descriptor) = (std::ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a new mapping of a file that is so long.
        let base = unsafe { libc::mmap(none, WORDS * 8, access, libc::MAP_SHARED, descriptor, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping is so long, aligned to a page of memory, never unmapped, and used by
        // atomic accesses alone.
        Ok(Tail(unsafe { &*base.cast() }))
    }

    fn set_length(&self, length: usize) {
        self.0[1].store((length as u64).to_le(), Ordering::Release);
    }

    /// So many blocks are written: there are no entries behind them yet. A tail that is left
    /// between the two stores has no entries, and they are in the block.
    fn empty(&self, blocks: u64) {
        self.set_length(0);
        self.0[0].store(blocks.to_le(), Ordering::Release);
    }

    /// Writes entries behind so many bytes.
    fn write(&self, at: usize, entries: &[u8]) {
        for (at, &byte) in (at..).zip(entries) {
            let word = &self.0[HEAD + at / 8];
            let mut bytes = word.load(Ordering::Relaxed).to_ne_bytes();
            bytes[at % 8] = byte;
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
    }

    /// The first bytes of the entries, which are copied.
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
    use treepie_core::files::order::{Order, Program, write_bodies};
    use treepie_core::files::partial_profiles::RunDescription;

    #[test]
    fn what_was_recorded_before_the_disk_was_full_is_kept() -> Result<(), Box<dyn std::error::Error>>
    {
        let name = format!("treepie-journal-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory)?;
        let order = directory.join("a.order");
        let run = RunDescription {
            ranks: 1,
            ..RunDescription::default()
        };
        let start = order::start_of_file(&run, &Program::default());
        let mut journal = Journal::create(&order, start, 0)?;
        // A match of the oldest receive, of the source of the one before.
        let entry = [0];
        let many = vec![0; BLOCK];
        journal.put(&many)?;
        journal.put(&entry)?;
        assert_eq!(journal.blocks, 1);
        journal.file = OpenOptions::new().write(true).open("/dev/full")?;
        journal.put(&many[1..])?;
        let problem = journal.put(&entry).err().map(|problem| problem.kind());
        assert_eq!(problem, Some(io::ErrorKind::StorageFull));
        assert!(journal.end(&Totals::default()).is_err());
        let written = directory.join("b.order");
        write_bodies(&written, &run, &Program::default(), &journal.so_far())?;
        let kept = Order::read(&written)?;
        let _ = fs::remove_dir_all(&directory);
        assert_eq!(kept.early(), [0]);
        assert_eq!(kept.logs[0].counts.matches, 2 * BLOCK as u64);
        Ok(())
    }
}
