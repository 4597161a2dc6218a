//! The partial profile of this rank: a file, written at an abnormal exit and at each checkpoint.
//! Everything that needs memory is prepared when the job starts, so that a signal handler can write
//! as well.

use std::cell::UnsafeCell;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libc::pid_t;
use once_cell::sync::OnceCell;
use treepie_core::files::partial_profiles::{
    Checksum, Sink, directory_of, end_of_file, file_name, start_of_file, temporary_name,
};

use super::decision::Recording;
use crate::machine::with_signals_blocked;
use crate::record::{Limited, stream};

/// Where the partial profile goes, and how it begins.
struct PartialFile {
    /// The beginning of the file.
    start: Vec<u8>,
    directory: CString,
    temporary: CString,
    path: CString,
    /// The process that it is of: a fork of it has none.
    process: pid_t,
}

/// The partial profile of this process.
struct Partial {
    file: OnceCell<PartialFile>,
    /// Whether an end of this process would lose what was counted.
    armed: AtomicBool,
    /// Whether a thread writes: that one has the buffer.
    writing: AtomicBool,
    buffer: UnsafeCell<[u8; BUFFER]>,
}

// SAFETY: the buffer is touched by the thread that has set `writing`, until it resets it; all else
// is `Sync`.
unsafe impl Sync for Partial {}

static PARTIAL: Partial = Partial {
    file: OnceCell::new(),
    armed: AtomicBool::new(false),
    writing: AtomicBool::new(false),
    buffer: UnsafeCell::new([0; BUFFER]),
};

/// How often, and after which time, a thread that wants to write tries again.
const MOST_TRIES: u32 = 2_000;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

const BUFFER: usize = 16 * 1024;

/// Prepares the partial profile of this rank, and has it written from now on.
pub fn arm(recording: &Recording, rank: usize) {
    let directory = directory_of(Path::new(&recording.output));
    let text = |path: &OsStr| CString::new(path.as_bytes()).ok();
    let (Some(folder), Some(temporary), Some(path)) = (
        text(directory.as_os_str()),
        text(directory.join(temporary_name(rank)).as_os_str()),
        text(directory.join(file_name(rank)).as_os_str()),
    ) else {
        return; // a name with a NUL cannot have been given
    };
    let file = PartialFile {
        start: start_of_file(&recording.run),
        directory: folder,
        temporary,
        path,
        process: process(),
    };
    let _ = PARTIAL.file.set(file);
    PARTIAL.armed.store(true, Ordering::Release);
}

/// Has no partial profile written any more.
pub fn disarm() {
    PARTIAL.armed.store(false, Ordering::Release);
}

/// Whether an end of this process would lose what was counted.
pub fn is_armed() -> bool {
    armed_file().is_some()
}

fn armed_file() -> Option<&'static PartialFile> {
    let is_armed = PARTIAL.armed.load(Ordering::Acquire);
    let file = PARTIAL.file.get().filter(|_| is_armed)?;
    (file.process == process()).then_some(file)
}

fn process() -> pid_t {
    // SAFETY: getpid has no conditions.
    unsafe { libc::getpid() }
}

/// Writes the partial profile, whole or not at all, if it is armed. Callable in a signal handler.
/// Signals are blocked meanwhile.
pub fn write() -> bool {
    let Some(file) = armed_file() else {
        return false;
    };
    with_signals_blocked(|| {
        // The thread that writes now takes no signals: it is not the one that
        // was interrupted, and it comes to an end.
        let mut tries = 0;
        while PARTIAL.writing.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries > MOST_TRIES {
                return false;
            }
            thread::sleep(BETWEEN_TRIES);
        }
        // SAFETY: `writing` was not set: nobody else has the buffer until it is reset below.
        let buffer = unsafe { &mut *PARTIAL.buffer.get() };
        let written = file.write(buffer);
        PARTIAL.writing.store(false, Ordering::Release);
        written
    })
}

impl PartialFile {
    /// Only calls that are allowed in signal handlers, and no memory.
    fn write(&self, buffer: &mut [u8; BUFFER]) -> bool {
        // SAFETY: the paths end in NUL; the descriptor is ours until closed.
        unsafe {
            libc::mkdir(self.directory.as_ptr(), 0o777);
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
            let descriptor = libc::open(self.temporary.as_ptr(), flags, 0o666);
            if descriptor < 0 {
                return false;
            }
            let mut sink = FileSink {
                descriptor,
                buffer,
                used: 0,
                checksum: Checksum::default(),
                failed: false,
            };
            sink.put(&self.start);
            stream::encode(Limited, &mut sink);
            let end = end_of_file(&sink.checksum);
            sink.put(&end);
            sink.flush();
            let whole = !sink.failed && libc::fsync(descriptor) == 0;
            libc::close(descriptor);
            whole && libc::rename(self.temporary.as_ptr(), self.path.as_ptr()) == 0
        }
    }
}

/// Writes to a descriptor, through a buffer.
struct FileSink<'a> {
    descriptor: libc::c_int,
    buffer: &'a mut [u8; BUFFER],
    used: usize,
    checksum: Checksum,
    failed: bool,
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
        let mut rest = &self.buffer[..self.used];
        while !rest.is_empty() && !self.failed {
            // SAFETY: `rest` is live for the call.
            let written = unsafe { libc::write(self.descriptor, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) if written > 0 => rest = &rest[written..],
                // Signals are blocked: nothing interrupts.
                _ => self.failed = true,
            }
        }
        self.used = 0;
    }
}
