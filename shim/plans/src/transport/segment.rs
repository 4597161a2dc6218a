//! Memory that the processes of a host share: without a name, so that it ends with the last of
//! them, even after a crash.
//!
//! ```text
//! | token, ranks, blocks, bytes of a block | way 0 to 0 | way 0 to 1 | ... | boards |
//! a way: | the reader's cursor | answers to offers | block 0 | block 1 | ... |
//! a board, of each rank: | reads of slot 0 | slot 0 | reads of slot 1 | slot 1 |
//! ```
//!
//! One process creates it with `memfd_create`, the others open its descriptor in `/proc`, while all
//! wait for each other. Its token identifies the right one: another process may have got the same
//! number in between, and process numbers differ between name spaces.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use thiserror::Error;
use treepie_process::machine::{file_limit, reserve, unnamed_file};

/// Distance in bytes between data written by different processes: two cache lines, which processors
/// fetch together.
const APART: usize = 128;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Number of blocks of a channel.
const BLOCKS: usize = 8;

/// Bytes of all blocks of a segment, if that leaves blocks of a sensible size.
const BUDGET: usize = 8 << 20;

/// Minimum and maximum bytes of a block: a fragment costs some 50 ns in addition to its copy.
const BLOCK_BYTES: (usize, usize) = (512, 16 << 10);

/// Bytes of a slot of a board. A longer message is copied from its sender's memory.
pub const SLOT_BYTES: usize = 32 << 10;

/// Number of slots of a board: one is read while the next is written.
const SLOTS: usize = 2;

/// Maximum number of ranks of one host that share a segment: more would need more than 90 MiB for
/// each communicator.
pub const MOST_RANKS: usize = 128;

/// Maximum number of offers of a channel that are not answered yet.
pub const ANSWERS: usize = 8;

/// Maximum bytes of the segments that a process makes at a time: each communicator has one.
const MOST_BYTES: usize = 256 << 20;

/// Bytes of the segments that this process has made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Reason why there is no segment.
#[derive(Debug, Error)]
pub enum SegmentError {
    /// A system call failed.
    #[error("{what} of {bytes} bytes: {problem}")]
    System {
        /// Action that failed.
        what: &'static str,
        /// Bytes of the segment.
        bytes: usize,
        /// The system's error.
        problem: io::Error,
    },
    /// The process may not create files of that size: the attempt would end it.
    #[error("{bytes} bytes are more than the limit on files allows (ulimit -f); raise it")]
    Limit {
        /// Bytes of the segment.
        bytes: usize,
    },
    /// There are many communicators.
    #[error("{bytes} bytes more than those of other communicators are too many")]
    Enough {
        /// Bytes of the existing segments.
        bytes: usize,
    },
    /// The opened file is not the segment.
    #[error(
        "process {process} has not the memory that it said; its numbers are those of another \
         container"
    )]
    Another {
        /// Process number.
        process: u32,
    },
}

/// Layout of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    ranks: usize,
    block_bytes: usize,
}

impl Layout {
    /// Computes the layout for `ranks` ranks of one host.
    pub fn new(ranks: usize) -> Self {
        let share = BUDGET / (ranks * ranks * BLOCKS).max(1);
        let power = 1 << share.max(1).ilog2();
        let (least, most) = BLOCK_BYTES;
        Layout {
            ranks,
            // One more cache line: blocks at powers of two would compete for the same part of a
            // cache.
            block_bytes: power.clamp(least, most) + LINE,
        }
    }

    fn way_bytes(&self) -> usize {
        2 * APART + (BLOCKS * self.block_bytes).next_multiple_of(APART)
    }

    /// Returns the number of slots of a board. Two ranks need none: each has only one receiver.
    fn slots(&self) -> usize {
        if self.ranks > 2 { SLOTS } else { 0 }
    }

    fn start_of_boards(&self) -> usize {
        APART + self.ranks * self.ranks * self.way_bytes()
    }

    /// Returns the bytes of the segment.
    pub fn bytes(&self) -> usize {
        self.start_of_boards() + self.ranks * self.slots() * (APART + SLOT_BYTES)
    }

    /// Returns the words at the beginning, after the token.
    fn marks(&self) -> [u64; 3] {
        [self.ranks, BLOCKS, self.block_bytes].map(|number| number as u64)
    }
}

/// Segment as this process has mapped it.
#[derive(Debug)]
pub struct Segment {
    base: NonNull<u8>,
    layout: Layout,
    /// True if this process has made it.
    is_made_here: bool,
}

// SAFETY: it is memory, which any thread may use; rings define which thread uses which part of it
// when.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Creates a segment, and the descriptor by which others open it.
    ///
    /// # Errors
    /// The system's error; no resources are left then.
    pub fn create(layout: Layout, token: u64) -> Result<(Arc<Segment>, OwnedFd), SegmentError> {
        let bytes = layout.bytes();
        if bytes as u64 > file_limit() {
            return Err(SegmentError::Limit { bytes });
        }
        if MADE.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            return Err(SegmentError::Enough { bytes });
        }
        let failed = |what| {
            move |problem| SegmentError::System {
                what,
                bytes,
                problem,
            }
        };
        let file = unnamed_file(c"treepie").map_err(failed("memfd_create"))?;
        let file = File::from(file);
        reserve(&file, bytes).map_err(failed("fallocate"))?;
        let file = OwnedFd::from(file);
        let mut segment = Segment::map(&file, layout)?;
        segment.is_made_here = true;
        MADE.fetch_add(bytes, Ordering::Relaxed);
        let marks = std::iter::once(token).chain(layout.marks());
        for (place, mark) in marks.enumerate() {
            // SAFETY: the first bytes of the segment, which is not shared yet.
            unsafe { segment.base.cast::<u64>().add(place).write(mark) };
        }
        Ok((Arc::new(segment), file))
    }

    /// Opens the segment of another process of this host, with this descriptor there.
    ///
    /// # Errors
    /// The system's error, or that it is another file.
    pub fn open(
        layout: Layout,
        (process, descriptor): (u32, i32),
        token: u64,
    ) -> Result<Arc<Segment>, SegmentError> {
        let bytes = layout.bytes();
        let failed = |what| {
            move |problem| SegmentError::System {
                what,
                bytes,
                problem,
            }
        };
        let path = format!("/proc/{process}/fd/{descriptor}");
        // Opening a file of another kind might have side effects.
        let target = std::fs::read_link(&path).map_err(failed("opening memory"))?;
        let another = || SegmentError::Another { process };
        if !target.to_string_lossy().starts_with("/memfd:treepie") {
            return Err(another());
        }
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(failed("opening memory"))?;
        let length = file.metadata().map_err(failed("opening memory"))?.len();
        if length != bytes as u64 {
            return Err(another());
        }
        let segment = Segment::map(&OwnedFd::from(file), layout)?;
        let marks = std::iter::once(token).chain(layout.marks());
        // SAFETY: the first bytes of the segment, written before its descriptor was shared.
        let read = |place| unsafe { segment.base.cast::<u64>().add(place).read() };
        match marks.enumerate().all(|(place, mark)| read(place) == mark) {
            true => Ok(Arc::new(segment)),
            false => Err(another()),
        }
    }

    fn map(file: &OwnedFd, layout: Layout) -> Result<Segment, SegmentError> {
        let bytes = layout.bytes();
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of a file that has this length.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                flags,
                file.as_raw_fd(),
                0,
            )
        };
        let base = NonNull::new(base.cast()).filter(|_| base != libc::MAP_FAILED);
        let base = base.ok_or_else(|| SegmentError::System {
            what: "mmap",
            bytes,
            problem: io::Error::last_os_error(),
        })?;
        let segment = Segment {
            base,
            layout,
            is_made_here: false,
        };
        // Forked children of the program have no access to it, and must not keep it alive.
        segment.advise(libc::MADV_DONTFORK);
        Ok(segment)
    }

    fn advise(&self, advice: libc::c_int) {
        // SAFETY: this object owns the mapping; the advice changes no data in it.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.layout.bytes(), advice) };
    }

    /// Lets forked children access it.
    #[cfg(test)]
    pub fn keep_in_children(&self) {
        self.advise(libc::MADV_DOFORK);
    }

    /// Returns the channel from one rank of the host to another; ranks are counted within the host.
    pub fn way(self: &Arc<Self>, from: usize, to: usize) -> RingMemory {
        let number = from * self.layout.ranks + to;
        debug_assert!(from.max(to) < self.layout.ranks, "ranks of this host");
        // SAFETY: inside the segment.
        let base = unsafe { self.base.add(APART + number * self.layout.way_bytes()) };
        RingMemory {
            base,
            block_bytes: self.layout.block_bytes,
            _segment: Arc::clone(self),
        }
    }

    /// Returns the slots of the board of a rank of the host; ranks are counted within the host.
    pub fn slots(self: &Arc<Self>, of: usize) -> impl Iterator<Item = Slot> {
        debug_assert!(of < self.layout.ranks, "a rank of this host");
        let slots = self.layout.slots();
        let (segment, start) = (Arc::clone(self), self.layout.start_of_boards());
        (of * slots..(of + 1) * slots).map(move |number| {
            // SAFETY: inside the segment.
            let base = unsafe { segment.base.add(start + number * (APART + SLOT_BYTES)) };
            let _segment = Arc::clone(&segment);
            Slot { base, _segment }
        })
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if self.is_made_here {
            MADE.fetch_sub(self.layout.bytes(), Ordering::Relaxed);
        }
        // SAFETY: this object owns the mapping, and its channels and slots, which hold it, are
        // gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.layout.bytes()) };
    }
}

/// Memory of a ring, and of the answers to offers in it.
#[derive(Debug, Clone)]
pub struct RingMemory {
    base: NonNull<u8>,
    block_bytes: usize,
    _segment: Arc<Segment>,
}

// SAFETY: as of the segment.
unsafe impl Send for RingMemory {}

impl RingMemory {
    /// Returns the number of its blocks.
    pub fn blocks(&self) -> u64 {
        BLOCKS as u64
    }

    /// Returns the bytes of a block, including its first word.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Returns the address of a block. Its first word is set when the block is full.
    pub fn block(&self, block: u64) -> NonNull<u8> {
        debug_assert!(block < self.blocks(), "a block of the way");
        // SAFETY: inside the channel.
        unsafe { self.base.add(2 * APART + block as usize * self.block_bytes) }
    }

    /// Returns the word at the beginning of a block.
    pub fn filled(&self, block: u64) -> &AtomicU64 {
        // SAFETY: memory of the segment, which is held; aligned, and only used as this type.
        unsafe { self.block(block).cast().as_ref() }
    }

    /// Returns the reader's cursor.
    pub fn emptied(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { self.base.cast().as_ref() }
    }

    /// Returns the answer to the offer with this number.
    pub fn answer(&self, number: u64) -> &AtomicU64 {
        let place = number as usize % ANSWERS;
        // SAFETY: as above.
        unsafe { self.base.add(APART).cast::<AtomicU64>().add(place).as_ref() }
    }
}

/// Memory of a slot, and of the word that counts its reads.
#[derive(Debug, Clone)]
pub struct Slot {
    base: NonNull<u8>,
    _segment: Arc<Segment>,
}

// SAFETY: as of the segment.
unsafe impl Send for Slot {}

impl Slot {
    /// Returns the number of reads.
    pub fn reads(&self) -> &AtomicU64 {
        // SAFETY: memory of the segment, which is held; aligned, and only used as this type.
        unsafe { self.base.cast().as_ref() }
    }

    /// Returns the address of its message.
    pub fn data(&self) -> NonNull<u8> {
        // SAFETY: inside the slot.
        unsafe { self.base.add(APART) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ways_lie_apart_and_inside_of_the_segment_however_many_ranks_there_are() {
        for ranks in [2, 3, 4, 8, 31, 64, MOST_RANKS] {
            let layout = Layout::new(ranks);
            let slots = if ranks > 2 { SLOTS } else { 0 };
            let boards = APART + ranks * ranks * layout.way_bytes();
            assert_eq!(layout.start_of_boards(), boards);
            let end = boards + ranks * slots * (APART + SLOT_BYTES);
            assert_eq!(layout.bytes(), end);
            assert_eq!(boards % APART, 0);
            assert!(layout.bytes() < 100 << 20, "{ranks}: {}", layout.bytes());
            assert_eq!(layout.way_bytes() % APART, 0);
            assert!(layout.block_bytes.is_multiple_of(LINE));
            assert!(2 * APART + BLOCKS * layout.block_bytes <= layout.way_bytes());
        }
    }

    #[test]
    fn a_segment_is_found_by_its_descriptor_and_not_by_another_token_or_layout() {
        let layout = Layout::new(2);
        let (first, file) = Segment::create(layout, 17).unwrap();
        let place = (std::process::id(), file.as_raw_fd());
        let second = Segment::open(layout, place, 17).unwrap();
        first.way(0, 1).emptied().store(3, Ordering::Release);
        let read = |way: RingMemory| way.emptied().load(Ordering::Acquire);
        assert_eq!((read(second.way(0, 1)), read(second.way(1, 0))), (3, 0));
        for (layout, token) in [(layout, 18), (Layout::new(3), 17)] {
            let error = Segment::open(layout, place, token).unwrap_err();
            assert!(matches!(error, SegmentError::Another { .. }), "{error}");
        }
        let other = File::open("/dev/null").unwrap();
        let place = (std::process::id(), other.as_raw_fd());
        let error = Segment::open(layout, place, 17).unwrap_err();
        assert!(matches!(error, SegmentError::Another { .. }), "{error}");
        let error = Segment::open(layout, (std::process::id(), -1), 17).unwrap_err();
        assert!(
            error.to_string().starts_with("opening memory of "),
            "{error}"
        );
    }
}
