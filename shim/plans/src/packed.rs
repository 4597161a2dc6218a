//! The application's blocks as contiguous bytes: in place if they are contiguous already, otherwise
//! a copy.
//!
//! Every datatype can be copied, so that no rank has to decline a call because of the layout of its
//! data in memory: extents may be negative or zero, elements may overlap, and addresses may be
//! absolute. The copy is a message to oneself, which takes about the time of `MPI_Pack`. MPICH
//! 4.0's `MPI_Pack` is sometimes wrong: it treats `MPI_BOTTOM` as a null buffer, and packed 64 of
//! 65 bytes of a type with absolute addresses.

use std::ops::Range;

use treepie_mpi::native::{Message, Native};
use treepie_mpi::{Word, c_int};

use super::call::{Elements, Refused};
use super::call_context::CallContext;
use super::device;
use super::unit::{Scratch, Unit, Units};

/// Maximum number of bytes in one copy: MPI counts them in an `int`.
const MOST_BYTES: u64 = 1 << 30;

/// Blocks as bytes.
#[derive(Debug)]
pub struct Packed {
    base: Word,
    bytes: Vec<u64>,
    /// Blocks that are not empty, with their units.
    blocks: Vec<(Elements, Unit)>,
    /// Copy of the blocks; `None` if they are used in place.
    copy: Option<Scratch>,
}

impl Packed {
    /// Collects the `block` of each of these ranks. `apart` forces a copy.
    ///
    /// # Errors
    /// An invalid block: a negative count, or no datatype.
    pub fn new(
        units: &mut Units,
        ranks: Range<usize>,
        apart: bool,
        block: impl Fn(&mut Units, usize) -> Result<Elements, Refused>,
    ) -> Result<Self, Refused> {
        let mut blocks = Vec::with_capacity(ranks.len());
        let mut bytes = Vec::with_capacity(ranks.len());
        let mut in_order = !apart;
        let mut next = None;
        for rank in ranks {
            let block = block(units, rank)?;
            let unit = match block.count {
                0 => None,
                _ => Some(units.of(block.datatype).ok_or(Refused::ByNative)?),
            };
            let length = unit.map_or(0, |unit| block.count.saturating_mul(unit.bytes));
            bytes.push(length);
            let Some(unit) = unit.filter(|_| length > 0) else {
                continue;
            };
            in_order &= unit.is_plain && next.is_none_or(|next| next == block.address);
            next = Some(block.address.wrapping_add(length as usize));
            blocks.push((block, unit));
        }
        let packed = Packed {
            base: blocks.first().map_or(0, |(block, _)| block.address),
            bytes,
            blocks,
            copy: None,
        };
        Ok(match in_order {
            true => packed,
            false => packed.copied(),
        })
    }

    /// Allocates a buffer for `bytes` bytes whose contents are discarded.
    pub fn unwanted(bytes: u64) -> Self {
        let packed = Packed {
            base: 0,
            bytes: vec![bytes],
            blocks: Vec::new(),
            copy: None,
        };
        packed.copied()
    }

    /// Returns the bytes as one block of `bytes` bytes, the last of which are padding.
    pub fn padded(self, bytes: u64) -> Self {
        let bytes = vec![bytes];
        Packed { bytes, ..self }.copied()
    }

    fn copied(self) -> Self {
        let total = self.bytes.iter().copied().fold(0, u64::saturating_add);
        let mut scratch = Scratch::new(total);
        Packed {
            base: scratch.address(),
            copy: Some(scratch),
            ..self
        }
    }

    /// True if they are a copy.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// True if blocks are in memory that the processor cannot read.
    pub fn is_on_device(&self) -> bool {
        let mut starts = self
            .blocks
            .iter()
            .map(|(block, unit)| unit.start(block.address));
        match self.copy {
            // Contiguous blocks are in the same memory.
            None => starts.next().is_some_and(device::holds),
            Some(_) => starts.any(device::holds),
        }
    }

    /// Returns the blocks with a copy that the native MPI makes, which can access any memory.
    pub fn copied_by_native(mut self) -> Self {
        for (_, unit) in &mut self.blocks {
            unit.is_plain = false;
        }
        match self.copy {
            Some(_) => self,
            None => self.copied(),
        }
    }

    /// Returns the address of the bytes.
    pub fn base(&self) -> Word {
        self.base
    }

    /// Returns the bytes of each block.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    /// Copies the application's blocks to the copy, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn load(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        self.copy_each(native, place, |blocks, copy| (blocks, copy))
    }

    /// Copies the copy back to the application's blocks, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, native: &Native, place: CallContext) -> Result<(), c_int> {
        self.copy_each(native, place, |blocks, copy| (copy, blocks))
    }

    /// Copies between the application's blocks and the copy, if there is one: from the first to the
    /// second of the pair that `way` returns.
    fn copy_each(
        &self,
        native: &Native,
        place: CallContext,
        way: fn(Message, Message) -> (Message, Message),
    ) -> Result<(), c_int> {
        if self.copy.is_none() {
            return Ok(());
        }
        let mut copy = self.base;
        for (block, unit) in &self.blocks {
            let most = (MOST_BYTES / unit.bytes).max(1);
            let mut done = 0;
            while done < block.count {
                let count = most.min(block.count - done);
                let bytes = count * unit.bytes;
                let elements = (
                    unit.address(block.address, done),
                    count as c_int,
                    block.datatype,
                );
                // SAFETY: the elements are the application's, and the copy is large enough for all
                // of them.
                unsafe {
                    match unit.is_plain {
                        true => {
                            let plain = (copy, 0, native.byte());
                            let (from, into) = way(elements, plain);
                            copy_bytes(from.0, into.0, bytes);
                        }
                        false => transfer_bytes(native, elements, (copy, bytes), place, way)?,
                    }
                }
                copy += bytes as usize;
                done += count;
            }
        }
        Ok(())
    }
}

/// Copies between elements and their packed bytes: from the first to the second of the pair that
/// `way` returns.
///
/// # Errors
/// MPI's code.
///
/// # Safety
/// Both are live memory, of these elements and of this many bytes.
pub unsafe fn transfer_bytes(
    native: &Native,
    elements: Message,
    (address, bytes): (Word, u64),
    place: CallContext,
    way: fn(Message, Message) -> (Message, Message),
) -> Result<(), c_int> {
    // One element may have more bytes than an int can count.
    let made = match c_int::try_from(bytes) {
        Ok(_) => None,
        Err(_) => Some(native.new_type_of_bytes(bytes)?),
    };
    let plain = match made {
        None => (address, bytes as c_int, native.byte()),
        Some(all) => (address, 1, all),
    };
    let (from, into) = way(elements, plain);
    // SAFETY: the caller's promise.
    let transferred = unsafe { native.transfer(from, into, place.to_oneself()) };
    if let Some(made) = made {
        native.free_type(made);
    }
    transferred
}

/// Copies bytes, unless source and destination are the same.
///
/// # Safety
/// `bytes` bytes at both addresses are live memory.
pub unsafe fn copy_bytes(from: Word, into: Word, bytes: u64) {
    if from != into && bytes > 0 {
        // SAFETY: the caller's promise; `copy` allows overlaps.
        unsafe { std::ptr::copy(from as *const u8, into as *mut u8, bytes as usize) };
    }
}
