//! What plans count in, and how it lies in memory.

use crate::mpi::native::{Extent, Native as Host};
use crate::mpi::{Datatype, Word};

/// A unit of a plan: a byte where data is moved, an element where it is reduced.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// What messages are made of.
    pub datatype: Datatype,
    /// Bytes of data in a unit.
    pub bytes: u64,
    /// Where units are.
    pub extent: Extent,
    /// Units are bytes one behind the other, with nothing between them.
    pub is_plain: bool,
}

impl Unit {
    /// A byte.
    pub fn byte(host: &Host) -> Self {
        Unit {
            datatype: host.byte(),
            bytes: 1,
            extent: Extent {
                step: 1,
                first: 0,
                span: 1,
            },
            is_plain: true,
        }
    }

    /// An element of a datatype; `None` for what is no datatype, and for those
    /// whose elements run backwards.
    pub fn element(host: &Host, datatype: Datatype) -> Option<Self> {
        if host.is_null_datatype(datatype) {
            return None;
        }
        let extent = host.extent(datatype).filter(|extent| extent.step >= 0)?;
        let bytes = host.type_size(datatype);
        let fills = extent.first == 0 && extent.step as u64 == bytes;
        Some(Unit {
            datatype,
            bytes,
            extent,
            // Others may fill their extent as well, but not in order.
            is_plain: fills && host.is_named(datatype),
        })
    }

    /// Bytes from the first to behind the last of `count` units.
    pub fn span(&self, count: u64) -> u64 {
        match count {
            0 => 0,
            _ => (count - 1) * self.extent.step as u64 + self.extent.span as u64,
        }
    }

    /// The address of unit `index`, from that of unit 0.
    pub fn address(&self, base: Word, index: u64) -> Word {
        base.wrapping_add_signed((index as i64 * self.extent.step) as isize)
    }
}

/// The elements of datatypes, each asked for once while it is the same: that of all blocks of a
/// call mostly is.
#[derive(Clone, Copy)]
pub struct Units<'a> {
    host: &'a Host,
    last: Option<(Datatype, Option<Unit>)>,
}

impl<'a> Units<'a> {
    /// Nothing was asked for yet.
    pub fn new(host: &'a Host) -> Self {
        Units { host, last: None }
    }

    /// The MPI that is asked.
    pub fn host(&self) -> &'a Host {
        self.host
    }

    /// As [`Unit::element`].
    pub fn of(&mut self, datatype: Datatype) -> Option<Unit> {
        match self.last {
            Some((last, unit)) if last == datatype => unit,
            _ => {
                let unit = Unit::element(self.host, datatype);
                self.last = Some((datatype, unit));
                unit
            }
        }
    }
}

/// Memory for units, aligned for any datatype.
#[derive(Debug, Default)]
pub struct Room(Vec<u128>);

impl Room {
    /// Room for `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let mut room = Room::default();
        room.grow(bytes);
        room
    }

    /// Makes the room large enough for `bytes` bytes; what was in it is lost.
    pub fn grow(&mut self, bytes: u64) {
        let words = bytes.div_ceil(size_of::<u128>() as u64) as usize;
        if words > self.0.capacity() {
            self.0 = Vec::with_capacity(words);
        }
    }

    /// Where the room starts.
    pub fn address(&mut self) -> Word {
        self.0.as_mut_ptr() as Word
    }

    /// The address of unit 0 of units that fill the room from its start.
    pub fn base(&mut self, unit: &Unit) -> Word {
        self.address()
            .wrapping_add_signed(-unit.extent.first as isize)
    }
}
