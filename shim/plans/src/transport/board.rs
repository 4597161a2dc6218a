//! Messages that several ranks of a host receive: written once, to a slot of their sender's board,
//! where all of them read it (publish and fetch).
//!
//! Each receiver gets the slot's number in a block of its channel. A slot is written again when the
//! number of reads equals the number of notified readers. Messages that a failed call has left are
//! counted when their blocks are dropped.
//!
//! As with rings, the rules for access to slots are independent of memory: [`Reads`] provides the
//! word, that of a segment or that of a model checker.

use super::message::Message;
use super::segment::Slot;

/// Word that the writer and the readers of a slot share.
pub trait Reads {
    /// Returns the number of reads that have ended. Their readers no longer read the slot after
    /// this (acquire).
    fn ended(&self) -> u64;

    /// Counts one more ended read (release).
    fn end(&self);
}

/// Writer's side of a slot: number of notified readers.
#[derive(Debug, Default)]
struct Announced(u64);

impl Announced {
    /// True if all notified readers have read, so that the slot may be written.
    fn is_free(&self, reads: &impl Reads) -> bool {
        reads.ended() == self.0
    }

    /// Counts one more notified reader.
    fn add(&mut self) {
        self.0 += 1;
    }
}

/// Slot of this process.
#[derive(Debug)]
struct Published {
    slot: Slot,
    announced: Announced,
    /// Group of sends of this call whose message is in the slot.
    sends: Option<u32>,
}

/// Slots of this process.
#[derive(Debug)]
pub struct Board(Vec<Published>);

impl Board {
    /// Creates a board of these slots.
    pub fn new(slots: impl Iterator<Item = Slot>) -> Self {
        let published = |slot| Published {
            slot,
            announced: Announced::default(),
            sends: None,
        };
        Board(slots.map(published).collect())
    }

    /// Begins a call, in which sends are numbered anew.
    pub fn begin(&mut self) {
        for published in &mut self.0 {
            published.sends = None;
        }
    }

    /// Returns the slot that holds the message of the group `sends`; writes it first if no slot
    /// holds it, and one is free.
    ///
    /// # Safety
    /// The message is live memory, no longer than a slot.
    pub unsafe fn publish(&mut self, sends: u32, message: &Message) -> Option<usize> {
        let stands = |one: &Published| one.sends == Some(sends);
        if let Some(place) = self.0.iter().position(stands) {
            return Some(place);
        }
        let is_free = |one: &Published| one.announced.is_free(&one.slot);
        let place = self.0.iter().position(is_free)?;
        let published = &mut self.0[place];
        // SAFETY: the caller's promise, and nobody reads a slot that is free.
        unsafe {
            let into = published.slot.data().as_ptr();
            std::ptr::copy_nonoverlapping(message.address as *const u8, into, message.bytes);
        }
        published.sends = Some(sends);
        Some(place)
    }

    /// Notes that one more rank was notified of a slot.
    pub fn announce(&mut self, place: usize) {
        self.0[place].announced.add();
    }
}

#[cfg(test)]
mod tests {
    //! All interleavings of a writer and two readers, by `loom`.

    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    use super::*;

    /// Slot of one word, and the notification of each reader: `loom` detects accesses to the word
    /// during a write.
    struct Model {
        ended: AtomicU64,
        data: UnsafeCell<u64>,
        told: [AtomicU64; 2],
        /// Memory order of the end of a read; a weaker one must be detected.
        said: Ordering,
    }

    // SAFETY: the test itself checks that only one thread at a time uses the cell.
    unsafe impl Sync for Model {}

    impl Reads for Model {
        fn ended(&self) -> u64 {
            self.ended.load(Ordering::Acquire)
        }

        fn end(&self) {
            self.ended.fetch_add(1, self.said);
        }
    }

    /// Sends a message to both readers, and then another in the same slot.
    fn two_messages(said: Ordering) {
        loom::model(move || {
            let model = Arc::new(Model {
                ended: AtomicU64::new(0),
                data: UnsafeCell::new(0),
                told: [AtomicU64::new(0), AtomicU64::new(0)],
                said,
            });
            let readers = [0, 1].map(|reader| {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    if model.told[reader].load(Ordering::Acquire) == 1 {
                        // SAFETY: `loom` reports a concurrent write.
                        assert_eq!(model.data.with(|data| unsafe { *data }), 7);
                        model.end();
                    }
                })
            });
            let mut announced = Announced::default();
            for message in [7, 8] {
                if announced.is_free(&*model) {
                    // SAFETY: as above.
                    model.data.with_mut(|data| unsafe { *data = message });
                }
                if message == 7 {
                    for reader in &model.told {
                        reader.store(1, Ordering::Release);
                        announced.add();
                    }
                }
            }
            for reader in readers {
                let _ = reader.join();
            }
        });
    }

    #[test]
    fn a_slot_is_written_when_all_who_were_told_have_read_it() {
        two_messages(Ordering::Release);
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_read_that_is_said_to_have_ended_too_early_is_found() {
        two_messages(Ordering::Relaxed);
    }
}
