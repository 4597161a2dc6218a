//! The messages of an execution that have gone or come.

/// Fragments of messages that are combined are cut at multiples of so many bytes.
pub const FRAGMENT_UNIT: usize = 32;

/// Receiver of messages that have gone or come: an execution, or a function of their step if they
/// are only kept.
pub trait Arrivals {
    /// A message has gone, or has come and is where it belongs.
    fn arrived(&mut self, step: u32);

    /// Whether what comes for a step may be combined, piece by piece, with what is there: then all
    /// of it is, by [`Arrivals::combine`], and [`Arrivals::combined`] is called at its end.
    fn combines(&self, _step: u32) -> bool {
        false
    }

    /// Combines the bytes of a message behind the first `done`: a multiple of [`FRAGMENT_UNIT`] but
    /// for the last ones.
    ///
    /// # Safety
    /// There are so many bytes at `data`, and the message is so long.
    unsafe fn combine(&mut self, _step: u32, _done: usize, _data: *const u8, _bytes: usize) {}

    /// A message has come and is combined.
    fn combined(&mut self, step: u32) {
        self.arrived(step);
    }
}

impl<F: FnMut(u32)> Arrivals for F {
    fn arrived(&mut self, step: u32) {
        self(step);
    }
}
