//! Messages between ranks for the measurement of the platform.

use std::time::{Duration, Instant};

use treepie_mpi::native::{Native, NativeError, Requests};
use treepie_mpi::{Comm, Word, c_int};
use treepie_platform::probe::{Messenger, others_behind};

/// Tag of messages that are timed.
const DATA: c_int = 1;
/// Tag of values, each preceded by its length.
const VALUE: c_int = 2;
/// Interval at which a rank that waits for a value polls, so that it leaves the processor to the
/// ranks that measure.
const LOOK: Duration = Duration::from_micros(200);

/// Native point-to-point messages on a private communicator.
///
/// After a failed call no more messages are sent, and everything that is received is empty, which
/// ends the measurement.
pub struct Wire<'a> {
    native: &'a Native,
    comm: Comm,
    rank: usize,
    ranks: usize,
    began: Instant,
    out: Vec<u8>,
    back: Vec<u8>,
    failed: bool,
}

/// Direction of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    To,
    From,
}

impl<'a> Wire<'a> {
    /// Creates the messages on `comm`, which returns its errors and has no other users.
    ///
    /// # Errors
    /// A native call that failed.
    pub fn new(native: &'a Native, comm: Comm) -> Result<Self, NativeError> {
        Ok(Wire {
            native,
            comm,
            rank: native.rank(comm)?,
            ranks: native.size(comm)?,
            began: Instant::now(),
            out: Vec::new(),
            back: Vec::new(),
            failed: false,
        })
    }

    /// Transfers the parts of `bytes` bytes of a buffer, all started before the first wait. `pause`
    /// is the time to sleep between two polls.
    fn move_parts(
        &mut self,
        (direction, partner, tag): (Direction, usize, c_int),
        buffer: &mut [u8],
        bytes: usize,
        pause: Option<Duration>,
    ) {
        // Empty messages need no buffer.
        let parts = match bytes {
            0 => buffer.len(),
            bytes => buffer.len() / bytes,
        };
        let mut requests = Requests::default();
        for part in 0..parts {
            let part = &mut buffer[part * bytes..][..bytes];
            self.begin(&mut requests, (direction, partner, tag), part);
        }
        self.finish(&mut requests, pause);
    }

    /// Starts a message, whose buffer stays until [`Wire::finish`].
    fn begin(
        &mut self,
        requests: &mut Requests,
        (direction, partner, tag): (Direction, usize, c_int),
        part: &mut [u8],
    ) {
        let Ok(count) = c_int::try_from(part.len()) else {
            self.failed = true;
            return;
        };
        if self.failed {
            return;
        }
        let message = (part.as_mut_ptr() as Word, count, self.native.byte());
        // SAFETY: the part is in a buffer that the callers keep until all requests are complete, or
        // for ever if one failed; a receive buffer overlaps no other message.
        let begun = unsafe {
            match direction {
                Direction::To => self.native.begin_send(message, partner, tag, self.comm),
                Direction::From => self.native.begin_receive(message, partner, tag, self.comm),
            }
        };
        match begun {
            Ok(request) => requests.push(self.native, request, 0),
            Err(_) => self.failed = true,
        }
    }

    /// Waits for all of these; `pause` is the time to sleep between two polls.
    fn finish(&mut self, requests: &mut Requests, pause: Option<Duration>) {
        while !requests.is_empty() {
            match self.native.test(requests, |_| ()) {
                Ok(true) => {}
                Ok(false) => {
                    if let Some(pause) = pause {
                        std::thread::sleep(pause);
                    }
                }
                Err(_) => {
                    self.failed = true;
                    return;
                }
            }
        }
    }

    /// Takes the buffer for this direction, with `length` bytes at least, to be given back by
    /// [`Wire::give_back`].
    fn take(&mut self, direction: Direction, length: usize) -> Vec<u8> {
        let mut buffer = std::mem::take(match direction {
            Direction::To => &mut self.out,
            Direction::From => &mut self.back,
        });
        if buffer.len() < length {
            buffer.resize(length, 1);
        }
        buffer
    }

    /// Keeps a buffer for the next messages.
    fn give_back(&mut self, direction: Direction, buffer: Vec<u8>) {
        if self.failed {
            // The native MPI may still use it.
            std::mem::forget(buffer);
            return;
        }
        match direction {
            Direction::To => self.out = buffer,
            Direction::From => self.back = buffer,
        }
    }

    /// Transfers `count` messages of `bytes` bytes, with the buffer for this direction.
    fn data(&mut self, direction: Direction, partner: usize, bytes: u64, count: usize) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let length = bytes.max(1).saturating_mul(count);
        let mut buffer = self.take(direction, length);
        self.move_parts(
            (direction, partner, DATA),
            &mut buffer[..length],
            bytes,
            None,
        );
        self.give_back(direction, buffer);
    }

    /// Transfers a value, or its length.
    fn whole(&mut self, direction: Direction, partner: usize, mut bytes: Vec<u8>) -> Vec<u8> {
        let length = bytes.len();
        if self.failed || length == 0 {
            return Vec::new();
        }
        self.move_parts((direction, partner, VALUE), &mut bytes, length, Some(LOOK));
        if self.failed {
            std::mem::forget(bytes);
            return Vec::new();
        }
        bytes
    }
}

impl Messenger for Wire<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn pause(&mut self, seconds: f64) {
        std::thread::sleep(Duration::from_secs_f64(seconds));
    }

    fn send(&mut self, to: usize, bytes: u64) {
        self.data(Direction::To, to, bytes, 1);
    }

    fn receive(&mut self, from: usize, bytes: u64) {
        self.data(Direction::From, from, bytes, 1);
    }

    fn send_train(&mut self, to: usize, bytes: u64, count: usize) {
        self.data(Direction::To, to, bytes, count);
    }

    fn receive_train(&mut self, from: usize, bytes: u64, count: usize) {
        self.data(Direction::From, from, bytes, count);
    }

    fn exchange(&mut self, members: &[usize], bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let others: Vec<usize> = others_behind(members, self.rank).collect();
        let mut out = self.take(Direction::To, bytes);
        let mut back = self.take(Direction::From, bytes.saturating_mul(others.len()));
        let mut requests = Requests::default();
        // The first sender to this rank is the member before it.
        for (place, &from) in others.iter().rev().enumerate() {
            let part = &mut back[place * bytes..][..bytes];
            self.begin(&mut requests, (Direction::From, from, DATA), part);
        }
        for &to in &others {
            self.begin(&mut requests, (Direction::To, to, DATA), &mut out[..bytes]);
        }
        self.finish(&mut requests, None);
        self.give_back(Direction::To, out);
        self.give_back(Direction::From, back);
    }

    fn send_data(&mut self, to: usize, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes().to_vec();
        self.whole(Direction::To, to, length);
        self.whole(Direction::To, to, bytes.to_vec());
    }

    fn receive_data(&mut self, from: usize) -> Vec<u8> {
        let length = self.whole(Direction::From, from, vec![0; size_of::<u64>()]);
        let Some((length, _)) = length.split_first_chunk() else {
            return Vec::new();
        };
        let length = u64::from_le_bytes(*length) as usize;
        self.whole(Direction::From, from, vec![0; length])
    }
}
