//! Encoding of a partial profile as bytes: items in postcard's format. Writing allocates nothing.

pub(super) mod decode;
pub(super) mod encode;
pub(super) mod item;
pub(super) mod sink;
#[cfg(test)]
mod tests;

pub use decode::decode_all;
pub use encode::Encoder;
pub use item::RecordKey;
pub use sink::Sink;
