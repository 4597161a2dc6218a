//! Messages that several ranks of a host receive: written once, to a slot of their sender's board,
//! where all of them read it (publish and fetch).
//!
//! Each is told of the slot by a block of its way. A slot is written again when as many have read
//! it as were told. What a call that failed has left is counted when its block is dropped.
//!
//! As with rings, who may touch which slot, and when, knows nothing of memory: [`Reads`] gives the
//! word, that of a segment or that of a model checker.

use super::message::Message;
use super::segment::Slot;

/// The word that the writer and the readers of a slot share.
pub trait Reads {
    /// How many reads have ended. Their readers read nothing of it after this (acquire).
    fn ended(&self) -> u64;

    /// Another one has (release).
    fn end(&self);
}

/// The writer's side of a slot: how many readers were told of it.
#[derive(Debug, Default)]
struct Announced(u64);

impl Announced {
    /// Whether all who were told have read, so that the slot may be written.
    fn is_free(&self, reads: &impl Reads) -> bool {
        reads.ended() == self.0
    }

    /// Another one is told.
    fn add(&mut self) {
        self.0 += 1;
    }
}

/// A slot of this process.
#[derive(Debug)]
struct Published {
    slot: Slot,
    announced: Announced,
    /// The sends of this call whose message stands there.
    sends: Option<u32>,
}

/// The slots of this process.
#[derive(Debug)]
pub struct Board(Vec<Published>);

impl Board {
    /// With these slots.
    pub fn new(slots: impl Iterator<Item = Slot>) -> Self {
        let published = |slot| Published {
            slot,
            announced: Announced::default(),
            sends: None,
        };
        Board(slots.map(published).collect())
    }

    /// Begins a call, whose sends have the numbers of others.
    pub fn begin(&mut self) {
        for published in &mut self.0 {
            published.sends = None;
        }
    }

    /// The slot where the message of these `sends` stands; it is written if it stands nowhere, and
    /// a slot is free.
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

    /// Another rank was told of a slot.
    pub fn announce(&mut self, place: usize) {
        self.0[place].announced.add();
    }
}

#[cfg(test)]
mod tests {
    //! All orders in which a writer and two readers can go on, by `loom`.

    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    use super::*;

    /// A slot of one word, and what tells each reader of it: `loom` finds who touches the word
    /// while another writes it.
    struct Model {
        ended: AtomicU64,
        data: UnsafeCell<u64>,
        told: [AtomicU64; 2],
        /// The order in which a read is said to have ended; a weaker one must be found out.
        said: Ordering,
    }

    // SAFETY: whether the cell is used by one thread at a time is what is tested.
    unsafe impl Sync for Model {}

    impl Reads for Model {
        fn ended(&self) -> u64 {
            self.ended.load(Ordering::Acquire)
        }

        fn end(&self) {
            self.ended.fetch_add(1, self.said);
        }
    }

    /// A message that both readers are told of, and another in its place.
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
                        // SAFETY: `loom` says whether somebody writes it.
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
