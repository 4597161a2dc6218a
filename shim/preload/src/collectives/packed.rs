//! The application's blocks as bytes one behind the other: where they are, if
//! they are that already, and a copy if not.

use std::ops::Range;

use super::call::Elements;
use super::setup;
use super::unit::{Room, Unit, Units};
use crate::mpi::native::Native as Host;
use crate::mpi::{Comm, Datatype, Word, c_int};

/// At most this many bytes are packed at once: MPI counts them in an `int`.
const MOST_BYTES: u64 = 1 << 30;

/// Blocks as bytes.
#[derive(Debug)]
pub struct Packed {
    base: Word,
    bytes: Vec<u64>,
    /// The copy, and the blocks with their units; none where the blocks are used
    /// where they are.
    copy: Option<(Room, Vec<(Elements, Unit)>)>,
}

impl Packed {
    /// The `block` of each of these ranks; `None` if one is none (a negative count, no
    /// datatype). `apart` asks for a copy in any case.
    pub fn new(
        units: &mut Units,
        ranks: Range<usize>,
        apart: bool,
        block: impl Fn(&mut Units, usize) -> Elements,
    ) -> Option<Self> {
        let mut all = Vec::with_capacity(ranks.len());
        let mut bytes = Vec::with_capacity(ranks.len());
        let mut in_order = !apart;
        let mut next = None;
        for rank in ranks {
            let block = block(units, rank);
            let count = u64::try_from(block.count).ok()?;
            if count == 0 {
                bytes.push(0);
                continue;
            }
            let unit = units.of(block.datatype)?;
            bytes.push(count * unit.bytes);
            in_order &= unit.is_plain && next.is_none_or(|next| next == block.address);
            next = Some(block.address.wrapping_add((count * unit.bytes) as usize));
            all.push((block, unit));
        }
        let mut base = all.first().map_or(0, |(block, _)| block.address);
        let mut copy = None;
        if !in_order {
            let mut room = Room::new(bytes.iter().sum());
            base = room.address();
            copy = Some((room, all));
        }
        Some(Packed { base, bytes, copy })
    }

    /// Room of its own for `bytes` bytes that nobody asks for.
    pub fn unwanted(bytes: u64) -> Self {
        let mut room = Room::new(bytes);
        Packed {
            base: room.address(),
            bytes: vec![bytes],
            copy: Some((room, Vec::new())),
        }
    }

    /// Whether the blocks are used where they are.
    pub fn is_in_place(&self) -> bool {
        self.copy.is_none()
    }

    /// Where the bytes are.
    pub fn base(&self) -> Word {
        self.base
    }

    /// Bytes of each block.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Puts the application's blocks into the copy, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn load(&self, host: &Host) -> Result<(), c_int> {
        self.each(|(elements, unit), packed| {
            let bytes = elements.1 as u64 * unit.bytes;
            // SAFETY: the elements are the application's, and the copy has room
            // for all of them.
            unsafe {
                match unit.is_plain {
                    true => {
                        copy_bytes(elements.0, packed, bytes);
                        Ok(())
                    }
                    false => match alone_for(elements.0) {
                        Some(alone) => {
                            let bytes = (packed, bytes as c_int, host.byte());
                            host.transfer(elements, bytes, (alone, 0, 0))
                        }
                        None => host.pack(elements, packed, bytes as c_int),
                    },
                }
            }
        })
    }

    /// Puts the copy into the application's blocks, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, host: &Host) -> Result<(), c_int> {
        self.each(|(elements, unit), packed| {
            let bytes = elements.1 as u64 * unit.bytes;
            // SAFETY: as in `load`, the other way round.
            unsafe {
                match unit.is_plain {
                    true => {
                        copy_bytes(packed, elements.0, bytes);
                        Ok(())
                    }
                    false => match alone_for(elements.0) {
                        Some(alone) => {
                            let bytes = (packed, bytes as c_int, host.byte());
                            host.transfer(bytes, elements, (alone, 0, 0))
                        }
                        None => host.unpack(packed, bytes as c_int, elements),
                    },
                }
            }
        })
    }

    /// Shows the application's elements, as many at once as MPI can count, with
    /// where they are in the copy.
    fn each(
        &self,
        mut show: impl FnMut(((Word, c_int, Datatype), &Unit), Word) -> Result<(), c_int>,
    ) -> Result<(), c_int> {
        let Some((_, blocks)) = &self.copy else {
            return Ok(());
        };
        let mut packed = self.base;
        for (block, unit) in blocks {
            let most = (MOST_BYTES / unit.bytes.max(1)).max(1);
            let mut done = 0;
            while done < block.count as u64 {
                let count = most.min(block.count as u64 - done);
                let address = unit.address(block.address, done);
                show(((address, count as c_int, block.datatype), unit), packed)?;
                packed += (count * unit.bytes) as usize;
                done += count;
            }
        }
        Ok(())
    }
}

/// The communicator of this process alone, for a message to itself where elements
/// start from `MPI_BOTTOM`: MPICH's `MPI_Pack` takes that for no buffer.
fn alone_for(address: Word) -> Option<Comm> {
    setup::active()
        .filter(|_| address == 0)
        .map(|setup| setup.alone)
}

/// Copies bytes, unless they are there already.
///
/// # Safety
/// `bytes` bytes at both addresses are live memory.
pub unsafe fn copy_bytes(from: Word, into: Word, bytes: u64) {
    if from != into && bytes > 0 {
        // SAFETY: the caller's promise; `copy` allows overlaps.
        unsafe { std::ptr::copy(from as *const u8, into as *mut u8, bytes as usize) };
    }
}
