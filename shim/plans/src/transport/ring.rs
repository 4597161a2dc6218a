//! A ring of blocks from one writer to one reader: which block each may touch, and when.
//!
//! Prou's circular buffer (2.5): the writer fills block `w mod B` while `w - r < B`, the reader
//! empties block `r mod B` while `r < w`. The reader's cursor `r` is one word, which the writer
//! looks at only when it runs out of blocks that it knows to be free, and which the reader sets
//! only where it has emptied half of them: each time its cache line goes to the other core, which
//! takes as long as a short message. The writer's cursor stands in the blocks themselves (his
//! flow control by flags in blocks): each says how many messages had been written when it was
//! filled, so that a short message and the news of it are one cache line, and a reader that knows
//! which block is next has one word to look at.
//!
//! There is no memory here, and nothing of MPI: a [`Ring`] gives the words, those of a segment or
//! those of a model checker.

/// The words that a writer and a reader share.
pub trait Ring {
    /// Number of blocks.
    fn blocks(&self) -> u64;

    /// How many blocks had been filled when this one was, itself included; 0 before that. What the
    /// writer wrote before it said so is seen after this (acquire).
    fn filled(&self, block: u64) -> u64;

    /// Says so (release).
    fn set_filled(&self, block: u64, count: u64);

    /// How many blocks the reader has emptied. It reads none of them after this (acquire).
    fn emptied(&self) -> u64;

    /// Says so (release).
    fn set_emptied(&self, count: u64);
}

/// The writer's side. There is one for a ring.
#[derive(Debug, Default)]
pub struct Writer {
    written: u64,
    /// As many as may be written until the reader's cursor is to be looked at again.
    most: u64,
}

impl Writer {
    /// The block that is to be filled next, which nobody reads; `None` while all are full.
    pub fn free_block(&mut self, ring: &impl Ring) -> Option<u64> {
        if self.written == self.most {
            self.most = ring.emptied() + ring.blocks();
        }
        (self.written < self.most).then_some(self.written % ring.blocks())
    }

    /// Hands the block of [`Writer::free_block`] to the reader.
    ///
    /// Where blocks run out, it looks at the reader's cursor now, while the message is on its way:
    /// before the next one, that would have to wait for the cursor's.
    pub fn fill(&mut self, ring: &impl Ring) {
        let block = self.written % ring.blocks();
        self.written += 1;
        ring.set_filled(block, self.written);
        if self.most - self.written <= ring.blocks() / 4 {
            self.most = ring.emptied() + ring.blocks();
        }
    }
}

/// The reader's side. There is one for a ring.
#[derive(Debug, Default)]
pub struct Reader {
    read: u64,
}

impl Reader {
    /// The block that is to be read next, which nobody writes; `None` while there is none.
    pub fn full_block(&self, ring: &impl Ring) -> Option<u64> {
        let block = self.read % ring.blocks();
        (ring.filled(block) == self.read + 1).then_some(block)
    }

    /// Gives the block of [`Reader::full_block`] back to the writer, perhaps with later ones: the
    /// writer always has half of the blocks that no message is in.
    pub fn empty(&mut self, ring: &impl Ring) {
        self.read += 1;
        if self.read.is_multiple_of((ring.blocks() / 2).max(1)) {
            ring.set_emptied(self.read);
        }
    }
}

#[cfg(test)]
mod tests {
    //! All orders in which a writer and a reader can go on, by `loom`.

    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    use super::*;

    /// Blocks of one word each; `loom` finds who touches one while another writes it.
    struct Model {
        filled: Vec<AtomicU64>,
        emptied: AtomicU64,
        data: Vec<UnsafeCell<u64>>,
        /// The order of what is said; a weaker one must be found out.
        said: Ordering,
    }

    // SAFETY: whether the cells are used by one thread at a time is what is tested.
    unsafe impl Sync for Model {}

    impl Ring for Model {
        fn blocks(&self) -> u64 {
            self.data.len() as u64
        }

        fn filled(&self, block: u64) -> u64 {
            self.filled[block as usize].load(Ordering::Acquire)
        }

        fn set_filled(&self, block: u64, count: u64) {
            self.filled[block as usize].store(count, self.said);
        }

        fn emptied(&self) -> u64 {
            self.emptied.load(Ordering::Acquire)
        }

        fn set_emptied(&self, count: u64) {
            self.emptied.store(count, self.said);
        }
    }

    /// Sends the numbers below `messages` through a ring of so many blocks.
    fn all_arrive_in_order(blocks: usize, messages: u64, said: Ordering) {
        loom::model(move || {
            let model = Arc::new(Model {
                filled: (0..blocks).map(|_| AtomicU64::new(0)).collect(),
                emptied: AtomicU64::new(0),
                data: (0..blocks).map(|_| UnsafeCell::new(u64::MAX)).collect(),
                said,
            });
            let ring = Arc::clone(&model);
            let writer = thread::spawn(move || {
                let mut writer = Writer::default();
                for message in 0..messages {
                    let block = loop {
                        match writer.free_block(&*ring) {
                            Some(block) => break block,
                            None => thread::yield_now(),
                        }
                    };
                    // SAFETY: the model checks that nobody else touches it.
                    ring.data[block as usize].with_mut(|data| unsafe { *data = message });
                    writer.fill(&*ring);
                }
            });
            let mut reader = Reader::default();
            for message in 0..messages {
                let block = loop {
                    match reader.full_block(&*model) {
                        Some(block) => break block,
                        None => thread::yield_now(),
                    }
                };
                // SAFETY: as above.
                let read = model.data[block as usize].with(|data| unsafe { *data });
                assert_eq!(read, message);
                reader.empty(&*model);
            }
            assert_eq!(reader.full_block(&*model), None);
            let _ = writer.join();
        });
    }

    #[test]
    fn messages_arrive_once_and_in_order_however_writer_and_reader_take_turns() {
        // With four blocks, the reader gives two back at a time.
        for (blocks, messages) in [(1, 2), (2, 3), (4, 3)] {
            all_arrive_in_order(blocks, messages, Ordering::Release);
        }
    }

    /// Wherever in the ring they are, although the reader gives back half of the blocks at once.
    #[test]
    fn a_writer_that_fills_all_blocks_goes_on_when_they_were_read() {
        loom::model(|| {
            let model = Model {
                filled: (0..8).map(|_| AtomicU64::new(0)).collect(),
                emptied: AtomicU64::new(0),
                data: (0..8).map(|_| UnsafeCell::new(0)).collect(),
                said: Ordering::Release,
            };
            let (mut writer, mut reader) = (Writer::default(), Reader::default());
            for round in 0..20 {
                let mut written = 0;
                while writer.free_block(&model).is_some() && written < 5 + round % 4 {
                    writer.fill(&model);
                    written += 1;
                }
                assert!(written > 4, "half of the blocks are free at least");
                while reader.full_block(&model).is_some() {
                    reader.empty(&model);
                }
            }
        });
    }

    #[test]
    #[should_panic(expected = "Causality violation")]
    fn the_model_finds_a_block_that_is_announced_too_early() {
        all_arrive_in_order(1, 2, Ordering::Relaxed);
    }
}
