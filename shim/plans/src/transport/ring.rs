//! Ring of blocks from one writer to one reader: rules for access to each block.
//!
//! Prou's circular buffer (2.5): the writer fills block `w mod B` while `w - r < B`, the reader
//! empties block `r mod B` while `r < w`. The reader's cursor `r` is one word, which the writer
//! reads only when it runs out of blocks that it knows to be free, and which the reader sets only
//! after it has emptied half of them: each time its cache line moves to the other core, which takes
//! as long as a short message. The writer's cursor is in the blocks themselves (his flow control by
//! flags in blocks): each contains the number of messages that had been written when it was filled,
//! so that a short message and its notification are one cache line, and a reader that knows the
//! next block polls a single word.
//!
//! There is no memory here, and no MPI: a [`Ring`] provides the words, those of a segment or those
//! of a model checker.

/// Words that a writer and a reader share.
pub trait Ring {
    /// Number of blocks.
    fn blocks(&self) -> u64;

    /// Returns the number of blocks that had been filled when this one was, itself included; 0
    /// before that. The writer's earlier stores are visible after this (acquire).
    fn filled(&self, block: u64) -> u64;

    /// Sets that number (release).
    fn set_filled(&self, block: u64, count: u64);

    /// Returns the number of blocks that the reader has emptied. It reads none of them after this
    /// (acquire).
    fn emptied(&self) -> u64;

    /// Sets that number (release).
    fn set_emptied(&self, count: u64);
}

/// Writer's side. There is one for a ring.
#[derive(Debug, Default)]
pub struct Writer {
    written: u64,
    /// Number of blocks that may be written before the reader's cursor must be read again.
    most: u64,
}

impl Writer {
    /// Returns the block that is to be filled next, which nobody reads; `None` while all are full.
    pub fn free_block(&mut self, ring: &impl Ring) -> Option<u64> {
        if self.written == self.most {
            self.most = ring.emptied() + ring.blocks();
        }
        (self.written < self.most).then_some(self.written % ring.blocks())
    }

    /// Hands the block of [`Writer::free_block`] to the reader.
    ///
    /// If blocks run out, it reads the reader's cursor now, while the message is on its way: before
    /// the next message, it would have to wait for the cursor's cache line.
    pub fn fill(&mut self, ring: &impl Ring) {
        let block = self.written % ring.blocks();
        self.written += 1;
        ring.set_filled(block, self.written);
        if self.most - self.written <= ring.blocks() / 4 {
            self.most = ring.emptied() + ring.blocks();
        }
    }
}

/// Reader's side. There is one for a ring.
#[derive(Debug, Default)]
pub struct Reader {
    read: u64,
}

impl Reader {
    /// Returns the block that is to be read next, which nobody writes; `None` while there is none.
    pub fn full_block(&self, ring: &impl Ring) -> Option<u64> {
        let block = self.read % ring.blocks();
        (ring.filled(block) == self.read + 1).then_some(block)
    }

    /// Gives the block of [`Reader::full_block`] back to the writer, possibly together with later
    /// ones: the writer always has half of the blocks that contain no message.
    pub fn empty(&mut self, ring: &impl Ring) {
        self.read += 1;
        if self.read.is_multiple_of((ring.blocks() / 2).max(1)) {
            ring.set_emptied(self.read);
        }
    }
}

#[cfg(test)]
mod tests {
    //! All interleavings of a writer and a reader, by `loom`.

    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    use super::*;

    /// Blocks of one word each; `loom` detects accesses to one during a write.
    struct Model {
        filled: Vec<AtomicU64>,
        emptied: AtomicU64,
        data: Vec<UnsafeCell<u64>>,
        /// Memory order of the stores; a weaker one must be detected.
        said: Ordering,
    }

    // SAFETY: the test itself checks that only one thread at a time uses a cell.
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

    /// Sends the numbers below `messages` through a ring of `blocks` blocks.
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

    /// From any position in the ring, although the reader gives back half of the blocks together.
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
