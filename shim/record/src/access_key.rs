//! Key under which calls on a window are counted, as one number.

use treepie_traffic::windows::{Access, EpochKind, WindowCall};

/// Index of a window among those of this process (`windows`).
pub type WindowIndex = u16;

/// Bit positions of the fields; the target is above them all.
const CALL: u32 = 2;
const CONTIGUOUS: u32 = CALL + 3;
const SIZE: u32 = CONTIGUOUS + 1;
const WINDOW: u32 = SIZE + 7;
const TARGET: u32 = WINDOW + 16;

/// Returns the common part of the keys of all calls on a window in one kind of epoch. It is stored,
/// and changes when an epoch is opened.
pub fn of_epoch(window: WindowIndex, epoch: EpochKind) -> u64 {
    (epoch as u64 | u64::from(window) << WINDOW) + 1
}

/// Returns the key of equal calls, which is never 0.
#[inline(always)]
pub fn of_call(
    of_epoch: u64,
    call: WindowCall,
    is_contiguous: bool,
    size_class: u8,
    target: u32,
) -> u64 {
    of_epoch
        + ((call as u64) << CALL
            | u64::from(is_contiguous) << CONTIGUOUS
            | u64::from(size_class) << SIZE
            | u64::from(target) << TARGET)
}

/// Returns the window and the call of a key.
pub fn unpack(key: u64) -> Option<(WindowIndex, Access)> {
    let key = key.checked_sub(1)?;
    let field = |start: u32, end: u32| key >> start & ((1 << (end - start)) - 1);
    let access = Access {
        epoch: *EpochKind::ALL.get(field(0, CALL) as usize)?,
        call: *WindowCall::ALL.get(field(CALL, CONTIGUOUS) as usize)?,
        is_contiguous: field(CONTIGUOUS, SIZE) != 0,
        size_class: field(SIZE, WINDOW) as u8,
        target: (key >> TARGET) as u32,
    };
    Some((field(WINDOW, TARGET) as WindowIndex, access))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_on_a_window_is_read_back_from_its_number() {
        for &epoch in EpochKind::ALL {
            for &call in WindowCall::ALL {
                for (size_class, target, window) in
                    [(0, 0, 0), (64, u32::MAX - 1, WindowIndex::MAX), (7, 1, 2)]
                {
                    let access = Access {
                        epoch,
                        call,
                        is_contiguous: target == 1,
                        size_class,
                        target,
                    };
                    let of_epoch = of_epoch(window, epoch);
                    let key = of_call(of_epoch, call, access.is_contiguous, size_class, target);
                    assert_eq!(unpack(key), Some((window, access)));
                }
            }
        }
        assert_eq!(unpack(0), None);
    }
}
