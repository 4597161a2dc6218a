//! Messages of an execution that have been sent or have arrived.

/// Boundary of fragments in bytes: fragments of messages that are combined are cut at multiples of
/// it.
pub const FRAGMENT_UNIT: usize = 32;

/// Recipient of notifications that messages have been sent or have arrived: an execution, or a
/// function of their step if they are only stored.
pub trait Arrivals {
    /// Notes that a message has been sent, or has arrived at its destination.
    fn arrived(&mut self, step: u32);

    /// True if the data of a step may be combined, piece by piece, with local data: then all of it
    /// is, by [`Arrivals::combine`], and [`Arrivals::combined`] is called at its end.
    fn combines(&self, _step: u32) -> bool {
        false
    }

    /// Combines the bytes of a message after the first `done`: a multiple of [`FRAGMENT_UNIT`]
    /// except for the last ones.
    ///
    /// # Safety
    /// There are `bytes` bytes at `data`, and the message is long enough.
    unsafe fn combine(&mut self, _step: u32, _done: usize, _data: *const u8, _bytes: usize) {}

    /// Notes that a message has arrived and has been combined.
    fn combined(&mut self, step: u32) {
        self.arrived(step);
    }
}

impl<F: FnMut(u32)> Arrivals for F {
    fn arrived(&mut self, step: u32) {
        self(step);
    }
}
