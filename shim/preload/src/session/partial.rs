//! The partial profile of this rank: a file, written at an abnormal exit and whenever counts are
//! saved.
//! Everything that needs memory is prepared when the job starts, so that a signal handler can write
//! as well.

use std::cell::UnsafeCell;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libc::pid_t;
use once_cell::sync::OnceCell;
use treepie_base::Rank;
use treepie_base::own_directory::{Access, NotOwn, OwnDirectory};
use treepie_mpi::system::with_signals_blocked;
use treepie_process::log;
use treepie_process::machine::{WRITING, within};
use treepie_profile::partial_profiles::{
    Checksum, Sink, directory_of, end_of_file, file_name, start_of_file, temporary_name,
};
use treepie_record::{Limited, stream};

use super::decision::Recording;

/// Destination of the partial profile, and its header.
struct PartialFile {
    /// Header of the file.
    start: Vec<u8>,
    directory: CString,
    /// Its names: while it is written, and afterwards.
    temporary: CString,
    name: CString,
    /// Message about a directory of another owner, logged once.
    refusal: String,
    is_refused: AtomicBool,
    /// Process that it belongs to: a fork of it has none.
    process: pid_t,
}

/// Partial profile of this process.
struct Partial {
    file: OnceCell<PartialFile>,
    /// True if an end of this process would lose counts.
    armed: AtomicBool,
    /// True while a thread writes: that one owns the buffer.
    writing: AtomicBool,
    buffer: UnsafeCell<[u8; BUFFER]>,
}

// SAFETY: only the thread that has set `writing` touches the buffer, until it resets it; all other
// fields are `Sync`.
unsafe impl Sync for Partial {}

static PARTIAL: Partial = Partial {
    file: OnceCell::new(),
    armed: AtomicBool::new(false),
    writing: AtomicBool::new(false),
    buffer: UnsafeCell::new([0; BUFFER]),
};

/// Maximum number of attempts of a thread that wants to write, and the pause between them.
const MOST_TRIES: u32 = 2_000;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

const BUFFER: usize = 16 * 1024;

/// Prepares the partial profile of this rank, and enables writing it.
pub fn arm(recording: &Recording, rank: Rank) {
    let path = directory_of(Path::new(&recording.output));
    let (Ok(directory), Ok(temporary), Ok(name)) = (
        CString::new(path.as_os_str().as_bytes()),
        CString::new(temporary_name(rank)),
        CString::new(file_name(rank)),
    ) else {
        return; // a name with a NUL cannot have been given
    };
    let file = PartialFile {
        start: start_of_file(&recording.run),
        directory,
        temporary,
        name,
        refusal: log::line_of_warning(&refusal(&path, &format!("rank {rank} has"))),
        is_refused: AtomicBool::new(false),
        process: process(),
    };
    let _ = PARTIAL.file.set(file);
    PARTIAL.armed.store(true, Ordering::Release);
}

/// Returns the message about a directory for partial profiles that belongs to another owner; `who`
/// are the ranks whose counts may be lost.
pub fn refusal(directory: &Path, who: &str) -> String {
    format!(
        "{}: {}, or choose another output; what {who} counted is lost if the job does not reach \
         MPI_Finalize",
        directory.display(),
        NotOwn::Strange
    )
}

/// Disables writing the partial profile.
pub fn disarm() {
    PARTIAL.armed.store(false, Ordering::Release);
}

/// True if an end of this process would lose counts.
pub fn is_armed() -> bool {
    armed_file().is_some()
}

fn armed_file() -> Option<&'static PartialFile> {
    let is_armed = PARTIAL.armed.load(Ordering::Acquire);
    let file = PARTIAL.file.get().filter(|_| is_armed)?;
    (file.process == process()).then_some(file)
}

fn process() -> pid_t {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// Writes the partial profile, completely or not at all, if it is armed; true on success. Callable
/// in a signal handler. Signals are blocked meanwhile.
pub fn write() -> bool {
    let Some(file) = armed_file() else {
        return false;
    };
    with_signals_blocked(|| {
        // The thread that writes now takes no signals: it is not the interrupted one, and it will
        // finish.
        let mut tries = 0;
        while PARTIAL.writing.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries > MOST_TRIES {
                return false;
            }
            thread::sleep(BETWEEN_TRIES);
        }
        // SAFETY: `writing` was not set: no other thread uses the buffer until it is reset below.
        let buffer = unsafe { &mut *PARTIAL.buffer.get() };
        let written = file.write(buffer);
        PARTIAL.writing.store(false, Ordering::Release);
        written
    })
}

impl PartialFile {
    fn write(&self, buffer: &mut [u8; BUFFER]) -> bool {
        match OwnDirectory::make(&*self.directory, Access::Umask) {
            Ok(directory) => self.write_in(&directory, buffer).is_ok(),
            Err(NotOwn::System(_)) => false,
            Err(NotOwn::Strange) => {
                if !self.is_refused.swap(true, Ordering::Relaxed) {
                    log::write_line(&self.refusal);
                }
                false
            }
        }
    }

    /// Makes only calls that are allowed in signal handlers, and allocates no memory.
    fn write_in(&self, directory: &OwnDirectory, buffer: &mut [u8; BUFFER]) -> io::Result<()> {
        let mut sink = FileSink {
            file: directory.create(&*self.temporary, 0o666)?,
            buffer,
            used: 0,
            checksum: Checksum::default(),
            written: Ok(()),
        };
        sink.put(&self.start);
        stream::encode(Limited, &mut sink);
        let end = end_of_file(&sink.checksum);
        sink.put(&end);
        sink.flush();
        sink.written?;
        sink.file.sync_all()?;
        directory.rename(&*self.temporary, &*self.name)
    }
}

/// Writes to a descriptor, through a buffer.
struct FileSink<'a> {
    file: File,
    buffer: &'a mut [u8; BUFFER],
    used: usize,
    checksum: Checksum,
    written: io::Result<()>,
}

impl Sink for FileSink<'_> {
    fn put(&mut self, mut bytes: &[u8]) {
        self.checksum.update(bytes);
        while !bytes.is_empty() {
            if self.used == BUFFER {
                self.flush();
            }
            let fits = bytes.len().min(BUFFER - self.used);
            let (now, later) = bytes.split_at(fits);
            self.buffer[self.used..self.used + fits].copy_from_slice(now);
            self.used += fits;
            bytes = later;
        }
    }
}

impl FileSink<'_> {
    fn flush(&mut self) {
        if self.written.is_ok() {
            self.written = self.file.write_all(&self.buffer[..self.used]);
        }
        self.used = 0;
    }
}

/// Writes the partial profile of this rank, if others cannot be waited for.
pub fn leave_partial() {
    within(WRITING, "writing a partial profile", write);
}
