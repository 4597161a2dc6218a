//! Encoding of a log entry as bytes: a number in LEB128, followed by further numbers.
//!
//! ```text
//! n << 1            a match of the oldest receive without one; n is the step to its source
//! (n << 3 | k) << 1 | 1
//!    k = 0          n polls that found nothing
//!        1          done
//!        2          the request at n
//!        3          n requests; the steps between their indices
//!        4          a probe: n >> 1 is the step to the source; n & 1: the step to the tag
//!        5          a match: n & 1: the receive's index among those without; n & 2: the tag
//!        6          the receive at index n among those without a match was cancelled
//!        7          n = 0: no active request; n = 1: four bytes of a check; n = 2: unusable;
//!                n = 3: a window was created
//! ```
//!
//! Steps are signed differences to the previous value, with the sign in the lowest bit.

use thiserror::Error;

use super::call::Outcome;

/// Bytes that are not an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("entry {at} is damaged")]
pub struct Damaged {
    /// Number of the entry in the log, from 0.
    pub at: u64,
}

/// Entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A receive matched this message. `place` is its index among the posted receives without a
    /// match; the tag is present if any tag matches.
    Match {
        /// Index of the receive.
        place: u64,
        /// The source in the communicator.
        source: i32,
        /// The tag.
        tag: Option<i32>,
    },
    /// The receive at this index was cancelled.
    Cancelled {
        /// Index of the receive.
        place: u64,
    },
    /// Number of consecutive polls that found nothing.
    Nothing(u64),
    /// A call had this result, which is not `Nothing`.
    Found(Outcome),
    /// Checksum of all calls so far.
    Check(u32),
    /// More than one thread received: the log is unusable.
    Threads,
    /// A window was created: communication through it has no recorded order.
    Window,
}

/// State of the encoding: values from which steps are counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coder {
    source: i32,
    tag: i32,
}

fn zigzag(step: i64) -> u64 {
    (step << 1 ^ step >> 63) as u64
}

fn unzigzag(coded: u64) -> i64 {
    (coded >> 1) as i64 ^ -((coded & 1) as i64)
}

fn put(bytes: &mut Vec<u8>, number: u64) {
    // Ten bytes are enough for any number.
    bytes.extend_from_slice(postcard::to_slice(&number, &mut [0; 10]).unwrap_or_default());
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = postcard::take_from_bytes(bytes).ok()?;
    *bytes = rest;
    Some(number)
}

/// Returns the signed step from the previous value, which becomes `now`.
fn step(before: &mut i32, now: i32) -> u64 {
    let step = i64::from(now) - i64::from(*before);
    *before = now;
    zigzag(step)
}

fn stepped(before: &mut i32, coded: u64) -> Option<i32> {
    *before = i32::try_from(i64::from(*before).checked_add(unzigzag(coded))?).ok()?;
    Some(*before)
}

impl Coder {
    /// Appends an entry.
    pub fn encode(&mut self, bytes: &mut Vec<u8>, entry: &Entry) {
        let kind = |bytes: &mut Vec<u8>, kind: u64, number: u64| {
            put(bytes, (number << 3 | kind) << 1 | 1);
        };
        match entry {
            Entry::Match {
                place: 0,
                source,
                tag: None,
            } => put(bytes, step(&mut self.source, *source) << 1),
            Entry::Match { place, source, tag } => {
                let flags = u64::from(*place > 0) | u64::from(tag.is_some()) << 1;
                kind(bytes, 5, step(&mut self.source, *source) << 2 | flags);
                if *place > 0 {
                    put(bytes, *place);
                }
                self.encode_tag(bytes, *tag);
            }
            Entry::Cancelled { place } => kind(bytes, 6, *place),
            Entry::Nothing(count) => kind(bytes, 0, *count),
            Entry::Found(outcome) => match outcome {
                Outcome::Nothing => kind(bytes, 0, 1),
                Outcome::Done => kind(bytes, 1, 0),
                Outcome::Index(index) => kind(bytes, 2, u64::from(*index)),
                Outcome::Indices(indices) => {
                    kind(bytes, 3, indices.len() as u64);
                    let mut before = -1;
                    for &index in indices {
                        put(bytes, step(&mut before, index as i32));
                    }
                }
                Outcome::Probed { source, tag } => {
                    let flag = u64::from(tag.is_some());
                    kind(bytes, 4, step(&mut self.source, *source) << 1 | flag);
                    self.encode_tag(bytes, *tag);
                }
                Outcome::Inactive => kind(bytes, 7, 0),
            },
            Entry::Check(sum) => {
                kind(bytes, 7, 1);
                bytes.extend(sum.to_le_bytes());
            }
            Entry::Threads => kind(bytes, 7, 2),
            Entry::Window => kind(bytes, 7, 3),
        }
    }

    fn encode_tag(&mut self, bytes: &mut Vec<u8>, tag: Option<i32>) {
        if let Some(tag) = tag {
            put(bytes, step(&mut self.tag, tag));
        }
    }

    fn decode_tag(&mut self, bytes: &mut &[u8], there: bool) -> Option<Option<i32>> {
        match there {
            true => stepped(&mut self.tag, get(bytes)?).map(Some),
            false => Some(None),
        }
    }

    /// Decodes the first entry; `None` for invalid bytes.
    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<Entry> {
        let head = get(bytes)?;
        if head & 1 == 0 {
            let source = stepped(&mut self.source, head >> 1)?;
            let (place, tag) = (0, None);
            return Some(Entry::Match { place, source, tag });
        }
        let number = head >> 4;
        Some(match head >> 1 & 7 {
            0 => Entry::Nothing(number),
            1 => Entry::Found(Outcome::Done),
            2 => Entry::Found(Outcome::Index(u32::try_from(number).ok()?)),
            3 => {
                let mut before = -1;
                let mut index = || Some(stepped(&mut before, get(bytes)?)? as u32);
                let indices: Option<Vec<u32>> = (0..number).map(|_| index()).collect();
                Entry::Found(Outcome::Indices(indices?))
            }
            4 => Entry::Found(Outcome::Probed {
                source: stepped(&mut self.source, number >> 1)?,
                tag: self.decode_tag(bytes, number & 1 != 0)?,
            }),
            5 => Entry::Match {
                source: stepped(&mut self.source, number >> 2)?,
                place: match number & 1 {
                    0 => 0,
                    _ => get(bytes)?,
                },
                tag: self.decode_tag(bytes, number & 2 != 0)?,
            },
            6 => Entry::Cancelled { place: number },
            _ => match number {
                0 => Entry::Found(Outcome::Inactive),
                1 => {
                    let (sum, rest) = bytes.split_first_chunk()?;
                    *bytes = rest;
                    Entry::Check(u32::from_le_bytes(*sum))
                }
                2 => Entry::Threads,
                3 => Entry::Window,
                _ => return None,
            },
        })
    }
}
