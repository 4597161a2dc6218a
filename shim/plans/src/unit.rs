//! Unit that plans count, and its layout in memory.

use treepie_mpi::native::{Extent, Native};
use treepie_mpi::{Datatype, Word};
use treepie_process::log;

/// Unit of a plan: a byte if data is moved, an element if it is reduced.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// Datatype of messages.
    pub datatype: Datatype,
    /// Bytes of data in a unit.
    pub bytes: u64,
    /// Extent, which determines the addresses of units.
    pub extent: Extent,
    /// True if units are contiguous bytes without gaps.
    pub is_plain: bool,
}

impl Unit {
    /// Returns the byte.
    pub fn byte(native: &Native) -> Self {
        Unit {
            datatype: native.byte(),
            bytes: 1,
            extent: Extent {
                step: 1,
                first: 0,
                span: 1,
            },
            is_plain: true,
        }
    }

    /// Returns an element of a datatype; `None` for an invalid one.
    pub fn element(native: &Native, datatype: Datatype) -> Option<Self> {
        if native.is_null_datatype(datatype) {
            return None;
        }
        let extent = native.extent(datatype)?;
        let bytes = native.type_size(datatype);
        let fills = extent.first == 0 && u64::try_from(extent.step) == Ok(bytes);
        Some(Unit {
            datatype,
            bytes,
            extent,
            // Others may also fill their extent, but not in order.
            is_plain: fills && native.is_named(datatype),
        })
    }

    /// Returns the bytes from the lowest to beyond the highest of `count` units; `u64::MAX` for
    /// more than there are addresses.
    fn span(&self, count: u64) -> u64 {
        let steps = count.saturating_sub(1);
        match count {
            0 => 0,
            _ => (steps.saturating_mul(self.extent.step.unsigned_abs()))
                .saturating_add(self.extent.span.unsigned_abs()),
        }
    }

    /// Returns the address of the first byte of the unit at `address`.
    pub fn start(&self, address: Word) -> Word {
        address.wrapping_add_signed(self.extent.first as isize)
    }

    /// Returns the address of unit `index`, from that of unit 0.
    pub fn address(&self, base: Word, index: u64) -> Word {
        base.wrapping_add_signed((index as i64 * self.extent.step) as isize)
    }
}

/// Elements of datatypes, each queried once while it does not change: most calls use one datatype
/// for all blocks.
#[derive(Clone, Copy)]
pub struct Units<'a> {
    native: &'a Native,
    last: Option<(Datatype, Option<Unit>)>,
}

impl<'a> Units<'a> {
    /// Creates an empty cache.
    pub fn new(native: &'a Native) -> Self {
        Units { native, last: None }
    }

    /// Returns the MPI that is queried.
    pub fn native(&self) -> &'a Native {
        self.native
    }

    /// Returns the element, as [`Unit::element`].
    pub fn of(&mut self, datatype: Datatype) -> Option<Unit> {
        match self.last {
            Some((last, unit)) if last == datatype => unit,
            _ => {
                let unit = Unit::element(self.native, datatype);
                self.last = Some((datatype, unit));
                unit
            }
        }
    }
}

/// Memory for units, aligned for any datatype.
#[derive(Debug, Default)]
pub struct Scratch(Vec<u128>);

impl Scratch {
    /// Allocates a buffer for `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        let mut scratch = Scratch::default();
        scratch.grow(bytes);
        scratch
    }

    /// Makes the buffer large enough for `bytes` bytes; its contents are lost. If the allocation
    /// fails, the process is aborted, as by any failed allocation: other ranks may be in the call
    /// already, and would wait for this one for ever.
    fn grow(&mut self, bytes: u64) {
        let words = bytes.div_ceil(size_of::<u128>() as u64) as usize;
        if words > self.0.capacity() {
            self.0 = Vec::new();
            if self.0.try_reserve_exact(words).is_err() {
                log::error(&format!(
                    "collectives: no memory for {bytes} bytes of a replaced collective"
                ));
                std::process::abort();
            }
        }
    }

    /// Returns the address of the buffer.
    pub fn address(&mut self) -> Word {
        self.0.as_mut_ptr() as Word
    }

    /// Makes the buffer large enough for `count` units; returns the address of unit 0. With a
    /// negative extent, the last unit is the one at the start.
    pub fn hold(&mut self, unit: &Unit, count: u64) -> Word {
        self.grow(unit.span(count));
        let backwards = count.saturating_sub(1) as i64 * unit.extent.step.min(0);
        self.address()
            .wrapping_add_signed(-(backwards + unit.extent.first) as isize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_mpi::Handle;

    fn unit(step: i64, first: i64, span: i64) -> Unit {
        Unit {
            datatype: Datatype::ABSENT,
            bytes: 4,
            extent: Extent { step, first, span },
            is_plain: false,
        }
    }

    #[test]
    fn units_lie_inside_of_their_room_whichever_way_they_go() {
        for (step, first, span) in [
            (4, 0, 4),
            (-4, 0, 4),
            (12, -8, 4),
            (-12, 100, 16),
            (0, 4, 4),
        ] {
            for count in [1, 2, 7] {
                let unit = unit(step, first, span);
                let mut scratch = Scratch::default();
                let base = scratch.hold(&unit, count);
                let start = scratch.address();
                let bounds = (0..count).map(|index| {
                    let lowest = unit
                        .address(base, index)
                        .wrapping_add_signed(first as isize);
                    (lowest, lowest + span as usize)
                });
                let lowest = bounds.clone().map(|(lowest, _)| lowest).min();
                let highest = bounds.map(|(_, highest)| highest).max();
                assert_eq!(lowest, Some(start), "{unit:?}");
                assert_eq!(highest, Some(start + unit.span(count) as usize), "{unit:?}");
            }
        }
    }

    #[test]
    fn more_bytes_than_there_are_addresses_are_not_taken_for_few() {
        assert_eq!(unit(i64::MIN, 0, 4).span(1 << 40), u64::MAX);
        assert_eq!(unit(1 << 62, 0, 4).span(5), u64::MAX);
    }
}
