//! Words of a page, as this process writes them: relaxed stores into shared memory.

use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::OnceCell;
use treepie_jobstate::pages::layout::{AREAS_AT, COMMUNICATORS_AT, WORDS, area, communicator};
use treepie_process::features::{self, PAGES};

/// Page that this process keeps: its words, and the process that made it.
static KEPT: OnceCell<(PageWords, u32)> = OnceCell::new();

/// Keeps a page of these words from now on.
pub fn keep(words: PageWords) {
    let _ = KEPT.set((words, std::process::id()));
}

/// Returns the words of the page of this process, or of the one that it was forked from;
/// distinguishes them without a system call.
#[inline(always)]
pub fn of_family() -> Option<PageWords> {
    KEPT.get().map(|&(words, _)| words)
}

/// Returns the words of the page of this process, while it has one.
pub fn of_process() -> Option<PageWords> {
    let &(words, process) = KEPT.get().filter(|_| features::any(PAGES))?;
    (process == std::process::id()).then_some(words)
}

/// Words of a page. Any bit pattern is a value, and every access is atomic.
#[derive(Clone, Copy)]
pub struct PageWords(pub &'static [AtomicU64; WORDS]);

impl PageWords {
    /// Returns the word at this position.
    #[inline(always)]
    pub fn get(self, at: usize) -> u64 {
        self.0[at].load(Ordering::Relaxed)
    }

    /// Writes a word.
    #[inline(always)]
    pub fn set(self, at: usize, value: u64) {
        self.0[at].store(value, Ordering::Relaxed);
    }

    /// Returns the area of a thread.
    pub fn area(self, number: usize) -> &'static [AtomicU64; area::LENGTH] {
        self.part(AREAS_AT + number * area::LENGTH)
    }

    /// Returns the entry of a communicator.
    pub fn communicator(self, number: usize) -> &'static [AtomicU64; communicator::LENGTH] {
        self.part(COMMUNICATORS_AT + number * communicator::LENGTH)
    }

    fn part<const N: usize>(self, at: usize) -> &'static [AtomicU64; N] {
        self.0[at..]
            .first_chunk()
            .expect("the layout ends behind all of its parts")
    }

    /// Writes a name into `words` words, cut off if it is too long.
    pub fn set_text(self, at: usize, words: usize, text: &str) {
        let mut bytes = text.bytes();
        for word in at..at + words {
            let eight: [u8; 8] = std::array::from_fn(|_| bytes.next().unwrap_or(0));
            self.set(word, u64::from_ne_bytes(eight));
        }
    }
}
