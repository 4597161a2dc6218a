//! Where what is in a page: places of 64-bit words, of the machine's own byte order.
//!
//! ```text
//! | header | threads, each an area | communicators | members | requests | channels | names |
//! an area: | the call | times | requests asked for | last sends |
//! ```
//!
//! The preloaded library writes one word after the other while others may read: what has to hold
//! together, readers find unchanged in two looks (see [`crate::waits`]).

/// The first word: `treepie` and a zero.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"treepie\0");
/// The version of this layout.
pub const VERSION: u64 = 4;

/// Words of the header.
pub mod header {
    /// Version of the layout.
    pub const VERSION: usize = 1;
    /// Words of the page, without the names.
    pub const WORDS: usize = 2;
    /// Number of the run, alike on all ranks.
    pub const RUN: usize = 3;
    /// Number that the command gave the run (`TREEPIE_RUN`), or 0.
    pub const GIVEN: usize = 4;
    /// Ranks of the job.
    pub const RANKS: usize = 5;
    /// The rank in the application's world.
    pub const RANK: usize = 6;
    /// Number of the process.
    pub const PROCESS: usize = 7;
    /// When the process started, in clock ticks since its host did: no other process with its
    /// number did then.
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
    /// How the process said that it ends: 0, [`super::ABORTS`], [`super::EXITS`], or the number of
    /// a signal.
    pub const END: usize = 14;
    /// Nanoseconds since 1970 at the last sign of life.
    pub const TICK: usize = 15;
    /// Threads that no area was left for.
    pub const MORE_THREADS: usize = 16;
    /// Communicators that no place was left for.
    pub const MORE_COMMUNICATORS: usize = 17;
    /// Bytes of the names behind the page's words.
    pub const NAMES: usize = 18;
    /// Name of the host, NUL-padded.
    pub const HOST: usize = 24;
    /// Name of the program, NUL-padded.
    pub const PROGRAM: usize = 32;
    /// Words of either name.
    pub const TEXT: usize = 8;
    /// 1 where the rank may be stopped at a cut. What it says of that is behind.
    pub const STOPS: usize = 40;
    /// Receives that were begun and are not complete.
    pub const RECEIVES: usize = 41;
    /// Collectives that were begun and are not complete.
    pub const COLLECTIVES: usize = 42;
    /// Windows that there are.
    pub const WINDOWS: usize = 43;
    /// The first procedure of which cuts know nothing, and 1.
    pub const REFUSED: usize = 44;
    /// 1 when the counts are final.
    pub const ENDED: usize = 45;
    /// 1 while the rank stands before a call.
    pub const STOPPED: usize = 46;
    /// Written by the command, in lines of their own: calls with this number or a higher one may
    /// not begin; 0 where all may.
    pub const GATE: usize = 48;
    /// 1 while stopped ranks leave the MPI alone.
    pub const REST: usize = 49;
    /// Another number each time that the command looks: it is still there.
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
    /// The call: its number above [`super::NUMBER_SHIFT`], whether it goes on
    /// ([`super::INSIDE`]), its procedure.
    pub const CALL: usize = 0;
    /// Its communicator's handle, unless it only sends: the last send has that.
    pub const COMM: usize = 1;
    /// Root or target.
    pub const DEST: usize = 2;
    /// Source below, tag of what is received above.
    pub const SOURCE_TAG: usize = 3;
    /// Calls that asked whether something was done.
    pub const POLLS: usize = 4;
    /// Number of requests that are asked for.
    pub const ASKED: usize = 5;
    /// Sends so far.
    pub const SENDS: usize = 6;
    /// Number of the thread; 0 where the area is free.
    pub const THREAD: usize = 8;
    /// The call as the last tick found it.
    pub const SEEN: usize = 9;
    /// Since when it is so, in nanoseconds since 1970.
    pub const SINCE: usize = 10;
    /// The requests that are asked for.
    pub const REQUESTS: usize = 16;
    /// So many of them at most.
    pub const MOST_REQUESTS: usize = 64;
    /// The last sends: communicator, destination and tag, elements.
    pub(crate) const LAST_SENDS: usize = REQUESTS + MOST_REQUESTS;
    /// So many of them.
    pub(crate) const MOST_SENDS: usize = 32;
    /// Words of a send.
    pub const SEND: usize = 3;
    /// Words of an area.
    pub const LENGTH: usize = LAST_SENDS + MOST_SENDS * SEND;
}

/// A call's number is above this bit.
pub const NUMBER_SHIFT: u32 = 16;
/// The call goes on.
pub const INSIDE: u64 = 1 << 15;

/// Where in an area the send with this number is kept.
#[inline(always)]
pub fn send_place(number: u64) -> usize {
    area::LAST_SENDS + number as usize % area::MOST_SENDS * area::SEND
}

/// No destination, source or tag.
pub const ABSENT: i32 = i32::MIN;

/// Areas for threads.
pub const THREADS: usize = 8;

/// Words of a communicator.
pub mod communicator {
    /// Its handle; 0 where the place is free.
    pub const HANDLE: usize = 0;
    /// What it is called in all pages: made of its members, and of which one with these it is.
    pub const KEY: usize = 1;
    /// Its size; of an inter-communicator the remote group's.
    pub const SIZE: usize = 2;
    /// Collectives that returned on it.
    pub const DONE: usize = 3;
    /// Where its members are: 0 where they are a row, from [`FIRST`] on with [`STRIDE`]; else their
    /// place and 1; [`super::UNKNOWN`] where none was left.
    pub const MEMBERS: usize = 4;
    /// The first member of a row.
    pub const FIRST: usize = 5;
    /// From one member of a row to the next.
    pub const STRIDE: usize = 6;
    /// 1 for an inter-communicator.
    pub const INTER: usize = 7;
    /// The last collectives: root below, procedure above.
    pub const LAST: usize = 8;
    /// So many of them.
    pub const MOST_LAST: usize = 8;
    /// Words of a communicator.
    pub const LENGTH: usize = LAST + MOST_LAST;
}

/// Members that no place was left for.
pub const UNKNOWN: u64 = u64::MAX;

/// Places for communicators.
pub const COMMUNICATORS: usize = 128;
/// Words for members that are no row: two in a word.
pub const MEMBERS: usize = 4096;
/// Places for requests, found by their handles.
pub const REQUESTS: usize = 512;
/// Words of a request: handle, procedure and number, communicator, partner and tag. A place
/// whose handle is 0 is free.
pub const REQUEST: usize = 4;
/// A persistent request is started, and not known to be complete: in the word of its procedure.
pub const STARTED: u64 = 1 << 15;
/// Partners that channels are kept of.
pub const CHANNELS: usize = 512;
/// Words of a channel: partner, messages sent, receives posted, bytes sent, messages and bytes
/// received.
pub const CHANNEL: usize = 6;

/// Where the areas are.
pub const AREAS_AT: usize = header::LENGTH;
/// Where the communicators are.
pub const COMMUNICATORS_AT: usize = AREAS_AT + THREADS * area::LENGTH;
/// Where the members are.
pub const MEMBERS_AT: usize = COMMUNICATORS_AT + COMMUNICATORS * communicator::LENGTH;
/// Where the requests are.
pub const REQUESTS_AT: usize = MEMBERS_AT + MEMBERS;
/// Where the channels are: the sum of all calls for which they hold, their number
/// ([`UNKNOWN`] where they are too many), receives posted from any source; then each.
pub const CHANNELS_AT: usize = REQUESTS_AT + REQUESTS * REQUEST;
/// Words before the first channel.
pub const CHANNELS_HEAD: usize = 4;
/// Words of a page; the names are behind.
pub const WORDS: usize = CHANNELS_AT + CHANNELS_HEAD + CHANNELS * CHANNEL;

/// Where the request with this handle is kept.
#[inline]
pub fn request_place(handle: u64) -> usize {
    (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % REQUESTS
}

/// Two numbers as one word.
#[inline]
pub fn pack(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

/// The two numbers of a word.
pub fn unpack(word: u64) -> (i32, i32) {
    (word as u32 as i32, (word >> 32) as u32 as i32)
}
