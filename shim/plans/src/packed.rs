//! The application's blocks as bytes one behind the other: where they are, if
//! they are that already, and a copy if not.
//!
//! Every datatype can be copied, so that no rank has to decline a call for how its own data lie in
//! memory: extents may be negative or nothing, elements may overlap, and addresses may be absolute.
//! A message to oneself does it, in about the time of `MPI_Pack`, which MPICH 4.0 gets wrong at
//! times: it takes `MPI_BOTTOM` for no buffer, and packed 64 of 65 bytes of a type that counts from
//! there.

use std::ops::Range;

use treepie_mpi::native::{Message, Native};
use treepie_mpi::{Word, c_int};

use super::call::{Elements, Refused};
use super::device;
use super::place::Place;
use super::unit::{Scratch, Unit, Units};

/// At most this many bytes are copied at once: MPI counts them in an `int`.
const MOST_BYTES: u64 = 1 << 30;

/// Blocks as bytes.
#[derive(Debug)]
pub struct Packed {
    base: Word,
    bytes: Vec<u64>,
    /// Blocks that are not empty, with their units.
    blocks: Vec<(Elements, Unit)>,
    /// Where their copy is; none where the blocks are used where they are.
    copy: Option<Scratch>,
}

impl Packed {
    /// The `block` of each of these ranks. `apart` asks for a copy in any case.
    ///
    /// # Errors
    /// A block that is none: a negative count, or no datatype.
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

    /// A buffer of its own for `bytes` bytes that nobody asks for.
    pub fn unwanted(bytes: u64) -> Self {
        let packed = Packed {
            base: 0,
            bytes: vec![bytes],
            blocks: Vec::new(),
            copy: None,
        };
        packed.copied()
    }

    /// The same as one block of `bytes` bytes, the last of which mean nothing.
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

    /// Whether they are a copy.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Whether blocks are where the processor can't read.
    pub fn is_on_device(&self) -> bool {
        let mut starts = self
            .blocks
            .iter()
            .map(|(block, unit)| unit.start(block.address));
        match self.copy {
            // Blocks one behind the other are in the same memory.
            None => starts.next().is_some_and(device::holds),
            Some(_) => starts.any(device::holds),
        }
    }

    /// The same by way of a copy that the native MPI makes, which takes any memory.
    pub fn copied_by_native(mut self) -> Self {
        for (_, unit) in &mut self.blocks {
            unit.is_plain = false;
        }
        match self.copy {
            Some(_) => self,
            None => self.copied(),
        }
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
    pub fn load(&self, native: &Native, place: Place) -> Result<(), c_int> {
        self.copy_each(native, place, |blocks, copy| (blocks, copy))
    }

    /// Puts the copy into the application's blocks, if there is one.
    ///
    /// # Errors
    /// MPI's code.
    pub fn store(&self, native: &Native, place: Place) -> Result<(), c_int> {
        self.copy_each(native, place, |blocks, copy| (copy, blocks))
    }

    /// Copies between the application's blocks and the copy, if there is one: from the first to the
    /// second that `way` gives back of these.
    fn copy_each(
        &self,
        native: &Native,
        place: Place,
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
                // SAFETY: the elements are the application's, and the copy has room for all of
                // them.
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

/// Copies between elements and their bytes one behind the other: from the first to the second that
/// `way` gives back of these.
///
/// # Errors
/// MPI's code.
///
/// # Safety
/// Both are live memory, of these elements and of so many bytes.
pub unsafe fn transfer_bytes(
    native: &Native,
    elements: Message,
    (address, bytes): (Word, u64),
    place: Place,
    way: fn(Message, Message) -> (Message, Message),
) -> Result<(), c_int> {
    // One element may have more bytes than an int counts.
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
