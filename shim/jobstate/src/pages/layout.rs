//! Layout of a page: positions of 64-bit words, in the machine's own byte order.
//!
//! ```text
//! | header | threads, each an area | communicators | members | requests | channels | names |
//! an area: | the call | times | requests of the call | last sends |
//! ```
//!
//! The preloaded library writes one word after the other while others may read: readers detect
//! consistent words by two equal readings (see [`crate::waits`]).

/// First word: `treepie` and a zero.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"treepie\0");
/// Version of this layout.
pub const VERSION: u64 = 4;

/// Words of the header.
pub mod header {
    /// Version of the layout.
    pub const VERSION: usize = 1;
    /// Words of the page, except the names.
    pub const WORDS: usize = 2;
    /// Number of the run, the same on all ranks.
    pub const RUN: usize = 3;
    /// Number that the command gave the run (`TREEPIE_RUN`), or 0.
    pub const GIVEN: usize = 4;
    /// Number of ranks of the job.
    pub const RANKS: usize = 5;
    /// Rank in the application's world.
    pub const RANK: usize = 6;
    /// Number of the process.
    pub const PROCESS: usize = 7;
    /// Start time of the process, in clock ticks since its host's: unique together with its number.
    pub const STARTED: usize = 8;
    /// Bits of a word that belong to a handle.
    pub const HANDLE_MASK: usize = 9;
    /// `MPI_ANY_SOURCE`.
    pub const ANY_SOURCE: usize = 10;
    /// `MPI_ANY_TAG`.
    pub const ANY_TAG: usize = 11;
    /// `MPI_PROC_NULL`.
    pub const PROC_NULL: usize = 12;
    /// `MPI_REQUEST_NULL`.
    pub const REQUEST_NULL: usize = 13;
    /// End that the process announced: 0, [`super::ABORTS`], [`super::EXITS`], or the number of a
    /// signal.
    pub const END: usize = 14;
    /// Nanoseconds since 1970 at the last sign of life.
    pub const TICK: usize = 15;
    /// Number of threads without an area.
    pub const MORE_THREADS: usize = 16;
    /// Number of communicators without an entry.
    pub const MORE_COMMUNICATORS: usize = 17;
    /// Bytes of the names after the page's words.
    pub const NAMES: usize = 18;
    /// Name of the host, NUL-padded.
    pub const HOST: usize = 24;
    /// Name of the program, NUL-padded.
    pub const PROGRAM: usize = 32;
    /// Words of either name.
    pub const TEXT: usize = 8;
    /// 1 if the rank may be stopped at a cut. The words for that follow.
    pub const STOPS: usize = 40;
    /// Number of receives that were begun and are not complete.
    pub const RECEIVES: usize = 41;
    /// Number of collectives that were begun and are not complete.
    pub const COLLECTIVES: usize = 42;
    /// Number of existing windows.
    pub const WINDOWS: usize = 43;
    /// First procedure that cuts do not support, plus 1.
    pub const REFUSED: usize = 44;
    /// 1 when the counts are final.
    pub const ENDED: usize = 45;
    /// 1 while the rank waits before a call.
    pub const STOPPED: usize = 46;
    /// Written by the command, in separate cache lines: calls with this number or a higher one may
    /// not begin; 0 if all may.
    pub const GATE: usize = 48;
    /// 1 while stopped ranks make no MPI calls.
    pub const REST: usize = 49;
    /// Changes each time that the command reads: a sign that it is alive.
    pub const BEAT: usize = 50;
    /// Words of the header.
    pub const LENGTH: usize = 64;
}

/// [`header::END`] of a process that called `MPI_Abort`.
pub const ABORTS: u64 = 1 << 32;
/// [`header::END`] of a process that called `exit` or `_exit` without `MPI_Finalize`.
pub const EXITS: u64 = 2 << 32;

/// Words of a thread's area.
pub mod area {
    /// Call: its number above [`super::NUMBER_SHIFT`], whether it is active ([`super::INSIDE`]),
    /// its procedure.
    pub const CALL: usize = 0;
    /// Handle of its communicator, unless it only sends: then it is in the last send.
    pub const COMM: usize = 1;
    /// Root or target.
    pub const DEST: usize = 2;
    /// Source in the lower half, tag of the received message in the upper half.
    pub const SOURCE_TAG: usize = 3;
    /// Number of polls.
    pub const POLLS: usize = 4;
    /// Number of requests of the call.
    pub const ASKED: usize = 5;
    /// Number of sends so far.
    pub const SENDS: usize = 6;
    /// Number of the thread; 0 if the area is free.
    pub const THREAD: usize = 8;
    /// Call at the last tick.
    pub const SEEN: usize = 9;
    /// Time since which it is unchanged, in nanoseconds since 1970.
    pub const SINCE: usize = 10;
    /// Requests of the call.
    pub const REQUESTS: usize = 16;
    /// Maximum number of them.
    pub const MOST_REQUESTS: usize = 64;
    /// Last sends: communicator, destination and tag, elements.
    pub(crate) const LAST_SENDS: usize = REQUESTS + MOST_REQUESTS;
    /// Number of them.
    pub(crate) const MOST_SENDS: usize = 32;
    /// Words of a send.
    pub const SEND: usize = 3;
    /// Words of an area.
    pub const LENGTH: usize = LAST_SENDS + MOST_SENDS * SEND;
}

/// Bit above which a call's number is.
pub const NUMBER_SHIFT: u32 = 16;
/// Flag of an active call.
pub const INSIDE: u64 = 1 << 15;

/// Returns the position in an area of the send with this number.
#[inline(always)]
pub fn send_place(number: u64) -> usize {
    area::LAST_SENDS + number as usize % area::MOST_SENDS * area::SEND
}

/// Value for no destination, source or tag.
pub const ABSENT: i32 = i32::MIN;

/// Number of areas for threads.
pub const THREADS: usize = 8;

/// Words of a communicator.
pub mod communicator {
    /// Its handle; 0 if the entry is free.
    pub const HANDLE: usize = 0;
    /// Its name in all pages: derived from its members, and its index among those with these
    /// members.
    pub const KEY: usize = 1;
    /// Its size; for an inter-communicator that of the remote group.
    pub const SIZE: usize = 2;
    /// Number of collectives that have returned on it.
    pub const DONE: usize = 3;
    /// Position of its members: 0 if they form an arithmetic sequence, from [`FIRST`] with
    /// [`STRIDE`]; otherwise their position plus 1; [`super::UNKNOWN`] if no space was left.
    pub const MEMBERS: usize = 4;
    /// First member of a sequence.
    pub const FIRST: usize = 5;
    /// Distance between members of a sequence.
    pub const STRIDE: usize = 6;
    /// 1 for an inter-communicator.
    pub const INTER: usize = 7;
    /// Last collectives: root in the lower half, procedure in the upper half.
    pub const LAST: usize = 8;
    /// Number of them.
    pub const MOST_LAST: usize = 8;
    /// Words of a communicator.
    pub const LENGTH: usize = LAST + MOST_LAST;
}

/// Value for members without space, and for unknown numbers.
pub const UNKNOWN: u64 = u64::MAX;

/// Number of entries for communicators.
pub const COMMUNICATORS: usize = 128;
/// Number of words for members that do not form a sequence: two in a word.
pub const MEMBERS: usize = 4096;
/// Number of entries for requests, found by their handles.
pub const REQUESTS: usize = 512;
/// Words of a request: handle, procedure and number, communicator, partner and tag. An entry whose
/// handle is 0 is free.
pub const REQUEST: usize = 4;
/// Flag of a persistent request that is started, and not known to be complete: in the word of its
/// procedure.
pub const STARTED: u64 = 1 << 15;
/// Maximum number of partners with channels.
pub const CHANNELS: usize = 512;
/// Words of a channel: partner, messages sent, receives posted, bytes sent, messages and bytes
/// received.
pub const CHANNEL: usize = 6;

/// Position of the areas.
pub const AREAS_AT: usize = header::LENGTH;
/// Position of the communicators.
pub const COMMUNICATORS_AT: usize = AREAS_AT + THREADS * area::LENGTH;
/// Position of the members.
pub const MEMBERS_AT: usize = COMMUNICATORS_AT + COMMUNICATORS * communicator::LENGTH;
/// Position of the requests.
pub const REQUESTS_AT: usize = MEMBERS_AT + MEMBERS;
/// Position of the channels: the number of all calls for which they are valid, their number
/// ([`UNKNOWN`] if they are too many), receives posted from any source; then each.
pub const CHANNELS_AT: usize = REQUESTS_AT + REQUESTS * REQUEST;
/// Words before the first channel.
pub const CHANNELS_HEAD: usize = 4;
/// Words of a page; the names follow.
pub const WORDS: usize = CHANNELS_AT + CHANNELS_HEAD + CHANNELS * CHANNEL;

/// Returns the index of the entry of the request with this handle.
#[inline]
pub fn request_place(handle: u64) -> usize {
    (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % REQUESTS
}

/// Packs two numbers into one word.
#[inline]
pub fn pack(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

/// Unpacks the two numbers of a word.
pub fn unpack(word: u64) -> (i32, i32) {
    (word as u32 as i32, (word >> 32) as u32 as i32)
}
