//! A partial profile as bytes: items, each a tag and numbers in LEB128, seven bits a byte,
//! the lowest first. Nothing is allocated on the way out.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::decode_all;
pub(super) use decode::{Decoder, less};
pub use encode::{Alike, Encoder};

/// Where encoded bytes go.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// What stands before an item.
#[derive(Clone, Copy)]
enum Tag {
    End,
    Rank,
    Counted,
    TakenBack,
    Collective,
    Phase,
    OpenPhase,
    SharedMemory,
    Time,
    Window,
    Access,
}

impl Tag {
    const ALL: [Tag; 11] = [
        Tag::End,
        Tag::Rank,
        Tag::Counted,
        Tag::TakenBack,
        Tag::Collective,
        Tag::Phase,
        Tag::OpenPhase,
        Tag::SharedMemory,
        Tag::Time,
        Tag::Window,
        Tag::Access,
    ];
}
