//! Destinations of encoded bytes.

use postcard::ser_flavors::Flavor;

/// Destination of encoded bytes.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Adapter by which postcard writes to a sink.
pub(super) struct Output<'a, S>(pub(super) &'a mut S);

impl<S: Sink> Flavor for Output<'_, S> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.put(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
