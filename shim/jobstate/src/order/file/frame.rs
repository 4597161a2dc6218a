//! Frames: bytes with their kind, their length and a checksum.

/// First bytes of every file.
pub const MAGIC: &[u8; 16] = b"treepie order 1\n";

const HEAD: usize = 9;

/// Kind of the content of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    Run = 1,
    Rank = 2,
    Block = 3,
    End = 4,
    Program = 5,
}

/// Frame of a file.
#[derive(Debug)]
pub struct Frame<'a> {
    pub kind: FrameKind,
    pub bytes: &'a [u8],
}

impl Frame<'_> {
    /// Returns its length in the file, in bytes.
    pub fn length(&self) -> usize {
        HEAD + self.bytes.len()
    }
}

/// Appends a frame.
pub fn frame(file: &mut Vec<u8>, kind: FrameKind, bytes: &[u8]) {
    file.push(kind as u8);
    file.extend((bytes.len() as u32).to_le_bytes());
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    file.extend(bytes);
}

/// Frames of a file, until one is damaged or cut off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames<'a>(&'a [u8]);

impl<'a> Frames<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Frames(bytes)
    }

    /// Reads the frame at the beginning; does not advance if it is damaged.
    fn read(&mut self) -> Option<Frame<'a>> {
        let (&kind, rest) = self.0.split_first()?;
        let kind = match kind {
            1 => FrameKind::Run,
            2 => FrameKind::Rank,
            3 => FrameKind::Block,
            4 => FrameKind::End,
            5 => FrameKind::Program,
            _ => return None,
        };
        let (length, rest) = rest.split_first_chunk()?;
        let (sum, rest) = rest.split_first_chunk()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
            return None;
        }
        self.0 = rest;
        Some(Frame { kind, bytes })
    }

    /// Returns the complete frames of a file that several processes appended to, some of which may
    /// have been killed while they did: after a frame that is cut off, it continues with the next
    /// rank's.
    pub fn whole(mut self) -> impl Iterator<Item = Frame<'a>> {
        std::iter::from_fn(move || {
            while !self.0.is_empty() {
                if let Some(frame) = self.read() {
                    return Some(frame);
                }
                self.skip_to_rank();
            }
            None
        })
    }

    /// Skips bytes up to the next possible frame with a rank.
    fn skip_to_rank(&mut self) {
        const START: [u8; 5] = [FrameKind::Rank as u8, 8, 0, 0, 0];
        let behind = self.0.get(1..).unwrap_or_default();
        let next = behind.windows(START.len()).position(|five| five == START);
        self.0 = next.map_or(&[], |next| &behind[next..]);
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, ()>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let frame = self.read().ok_or(());
        if frame.is_err() {
            self.0 = &[];
        }
        Some(frame)
    }
}
