//! Memory that the processes of a host share: without a name, so that it ends with the last of
//! them, however it ends.
//!
//! ```text
//! | token, ranks, blocks, bytes of a block | way 0 to 0 | way 0 to 1 | ... | boards |
//! a way: | the reader's cursor | answers to offers | block 0 | block 1 | ... |
//! a board, of each rank: | reads of slot 0 | slot 0 | reads of slot 1 | slot 1 |
//! ```
//!
//! One process makes it with `memfd_create`, the others open its descriptor in `/proc`, while all
//! wait for each other. Whether it is the right one, its token says: another process may have got
//! the number in between, and numbers mean others in another name space.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use thiserror::Error;
use treepie_process::machine::{file_limit, unnamed_file};

/// Two cache lines, which processors fetch together: what is written by different processes is so
/// far apart.
const APART: usize = 128;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Blocks of a way.
const BLOCKS: usize = 8;

/// The bytes that the blocks of a segment take, where that leaves blocks of a sensible size.
const BUDGET: usize = 8 << 20;

/// Bytes of a block, least and most: a fragment costs some 50 ns beside its copy.
const BLOCK_BYTES: (usize, usize) = (512, 16 << 10);

/// Bytes of a slot of a board. What is longer is copied from its sender's memory.
pub const SLOT_BYTES: usize = 32 << 10;

/// Slots of a board: one is read while the next is written.
const SLOTS: usize = 2;

/// More ranks of one host have no segment: they would need more than 90 MiB for each communicator.
pub const MOST_RANKS: usize = 128;

/// Offers of a way that may be without an answer.
pub const ANSWERS: usize = 8;

/// So many bytes of segments a process makes at most at a time: each communicator has its own.
const MOST_BYTES: usize = 256 << 20;

/// Bytes of the segments that this process has made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Why there is no segment.
#[derive(Debug, Error)]
pub enum SegmentError {
    /// The system refused something.
    #[error("{what} of {bytes} bytes: {problem}")]
    System {
        /// What.
        what: &'static str,
        /// How much.
        bytes: usize,
        /// What it says.
        problem: io::Error,
    },
    /// The process may not have files of that size: to try would end it.
    #[error("{bytes} bytes are more than the limit on files allows (ulimit -f); raise it")]
    Limit {
        /// How much.
        bytes: usize,
    },
    /// Communicators are many.
    #[error("{bytes} bytes more than those of other communicators are too many")]
    Enough {
        /// How much.
        bytes: usize,
    },
    /// What was opened is something else.
    #[error(
        "process {process} has not the memory that it said; its numbers are those of another \
         container"
    )]
    Another {
        /// The process.
        process: u32,
    },
}

/// Where what is in a segment of so many ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    ranks: usize,
    block_bytes: usize,
}

impl Layout {
    /// For so many ranks of one host.
    pub fn new(ranks: usize) -> Self {
        let share = BUDGET / (ranks * ranks * BLOCKS).max(1);
        let power = 1 << share.max(1).ilog2();
        let (least, most) = BLOCK_BYTES;
        Layout {
            ranks,
            // One line more: blocks at powers of two would compete for the same part of a cache.
            block_bytes: power.clamp(least, most) + LINE,
        }
    }

    fn way_bytes(&self) -> usize {
        2 * APART + (BLOCKS * self.block_bytes).next_multiple_of(APART)
    }

    /// Two ranks have none: each has one to send to.
    fn slots(&self) -> usize {
        if self.ranks > 2 { SLOTS } else { 0 }
    }

    fn start_of_boards(&self) -> usize {
        APART + self.ranks * self.ranks * self.way_bytes()
    }

    /// Bytes of the segment.
    pub fn bytes(&self) -> usize {
        self.start_of_boards() + self.ranks * self.slots() * (APART + SLOT_BYTES)
    }

    /// What stands at the beginning, behind the token.
    fn marks(&self) -> [u64; 3] {
        [self.ranks, BLOCKS, self.block_bytes].map(|number| number as u64)
    }
}

/// A segment as this process sees it.
#[derive(Debug)]
pub struct Segment {
    base: NonNull<u8>,
    layout: Layout,
    /// By this process.
    is_made_here: bool,
}

// SAFETY: it is memory, which any thread may use; who uses which part of it when, rings say.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// A new one, and the descriptor by which others open it.
    ///
    /// # Errors
    /// What the system says; nothing is left then.
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
        // Memory that is only promised would end the process when there is none.
        // SAFETY: the descriptor is ours.
        let allocated = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
        if allocated != 0 {
            let problem = io::Error::from_raw_os_error(allocated);
            return Err(failed("fallocate")(problem));
        }
        let mut segment = Segment::map(&file, layout)?;
        segment.is_made_here = true;
        MADE.fetch_add(bytes, Ordering::Relaxed);
        let marks = std::iter::once(token).chain(layout.marks());
        for (place, mark) in marks.enumerate() {
            // SAFETY: the first bytes of the segment, which nobody else knows yet.
            unsafe { segment.base.cast::<u64>().add(place).write(mark) };
        }
        Ok((Arc::new(segment), file))
    }

    /// That of another process of this host, with this descriptor there.
    ///
    /// # Errors
    /// What the system says, or that it is another file.
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
        // Opening what is no memory might do something.
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
        // SAFETY: the first bytes of the segment, written before its descriptor was told.
        let read = |place| unsafe { segment.base.cast::<u64>().add(place).read() };
        match marks.enumerate().all(|(place, mark)| read(place) == mark) {
            true => Ok(Arc::new(segment)),
            false => Err(another()),
        }
    }

    fn map(file: &OwnedFd, layout: Layout) -> Result<Segment, SegmentError> {
        let bytes = layout.bytes();
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of a file that is so long.
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
        // Children of the program have no part in it, and must not keep it.
        segment.advise(libc::MADV_DONTFORK);
        Ok(segment)
    }

    fn advise(&self, advice: libc::c_int) {
        // SAFETY: the mapping is ours; the advice changes nothing in it.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.layout.bytes(), advice) };
    }

    /// Children that are forked have part in it.
    #[cfg(test)]
    pub fn keep_in_children(&self) {
        self.advise(libc::MADV_DOFORK);
    }

    /// The way from one rank of the host to another, counted among them.
    pub fn way(self: &Arc<Self>, from: usize, to: usize) -> Way {
        let number = from * self.layout.ranks + to;
        debug_assert!(from.max(to) < self.layout.ranks, "ranks of this host");
        // SAFETY: inside the segment.
        let base = unsafe { self.base.add(APART + number * self.layout.way_bytes()) };
        Way {
            base,
            block_bytes: self.layout.block_bytes,
            _segment: Arc::clone(self),
        }
    }

    /// The slots of the board of a rank of the host, counted among them.
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
        // SAFETY: the mapping is ours, and its ways and slots are gone, which hold it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.layout.bytes()) };
    }
}

/// The memory of a ring, and of the answers to what was offered in it.
#[derive(Debug, Clone)]
pub struct Way {
    base: NonNull<u8>,
    block_bytes: usize,
    _segment: Arc<Segment>,
}

// SAFETY: as of the segment.
unsafe impl Send for Way {}

impl Way {
    /// Number of its blocks.
    pub fn blocks(&self) -> u64 {
        BLOCKS as u64
    }

    /// Bytes of a block, its first word included.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Where a block is. Its first word says whether it is full.
    pub fn block(&self, block: u64) -> NonNull<u8> {
        debug_assert!(block < self.blocks(), "a block of the way");
        // SAFETY: inside the way.
        unsafe { self.base.add(2 * APART + block as usize * self.block_bytes) }
    }

    /// The word at the beginning of a block.
    pub fn filled(&self, block: u64) -> &AtomicU64 {
        // SAFETY: memory of the segment, which is held; aligned, and used as this alone.
        unsafe { self.block(block).cast().as_ref() }
    }

    /// The reader's cursor.
    pub fn emptied(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { self.base.cast().as_ref() }
    }

    /// The answer to the offer with this number.
    pub fn answer(&self, number: u64) -> &AtomicU64 {
        let place = number as usize % ANSWERS;
        // SAFETY: as above.
        unsafe { self.base.add(APART).cast::<AtomicU64>().add(place).as_ref() }
    }
}

/// The memory of a slot, and of the word that counts its reads.
#[derive(Debug, Clone)]
pub struct Slot {
    base: NonNull<u8>,
    _segment: Arc<Segment>,
}

// SAFETY: as of the segment.
unsafe impl Send for Slot {}

impl Slot {
    /// How many have read it.
    pub fn reads(&self) -> &AtomicU64 {
        // SAFETY: memory of the segment, which is held; aligned, and used as this alone.
        unsafe { self.base.cast().as_ref() }
    }

    /// Where its message is.
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
        let read = |way: Way| way.emptied().load(Ordering::Acquire);
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
