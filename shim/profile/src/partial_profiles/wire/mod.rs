//! A partial profile as bytes: items, as postcard writes them. Nothing is allocated on the way out.

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
