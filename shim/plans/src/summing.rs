//! Reductions of an execution: of local data, and of messages through shared memory.

use treepie_collective::{Action, Range};
use treepie_mpi::{Word, c_int};

use super::execute::{Execution, copy};
use super::packed::copy_bytes;
use super::transport::{Arrivals, FRAGMENT_UNIT};

/// Bytes of a copy that are reduced while they are in the first-level cache.
const SWEPT_AT_ONCE: u64 = 16 << 10;

impl Execution<'_> {
    /// Computes `right = left op right`, in pieces that follow their copies if `right` begins as a
    /// copy.
    ///
    /// # Safety
    /// Both are live, and nobody else uses them: the step waits for nothing.
    pub(crate) unsafe fn reduce(&self, step: u32, left: Range, right: Range) -> Result<(), c_int> {
        let most = match self.prepared.sweeps.copy(step) {
            Some(_) => SWEPT_AT_ONCE / self.spaces.unit.bytes.max(1),
            None => right.length,
        };
        for (left, right) in left.segments(most).zip(right.segments(most)) {
            let (left, _, _) = self.elements(left);
            // SAFETY: the caller's promise.
            unsafe { self.reduce_piece(step, left, right)? };
        }
        Ok(())
    }

    /// Reduces a piece, from the left operand's address.
    ///
    /// # Safety
    /// Both are live, and nobody else uses them: the step waits for nothing.
    unsafe fn reduce_piece(&self, step: u32, left: Word, right: Range) -> Result<(), c_int> {
        let (address, count, datatype) = self.elements(right);
        let copy_of = self.prepared.sweeps.copy(step);
        let action = |step: u32| self.prepared.plan().steps()[step as usize].action;
        // SAFETY: the caller's promise; the source of the copy has not changed since the copy
        // became ready.
        unsafe {
            if let Some(Action::Copy { from, into }) = copy_of.map(action) {
                let from = self.elements(from.part(right.start - into.start, right.length));
                copy(self.native, &self.spaces.unit, from, address, self.place)?;
            }
            let op = self.spaces.op;
            self.native.reduce_local(left, address, count, datatype, op)
        }
    }
}

impl Arrivals for Execution<'_> {
    #[inline(always)]
    fn arrived(&mut self, step: u32) {
        if !self.account.packed.is_empty() {
            self.unpack(step);
        }
        self.complete(step);
    }

    /// The reduction waits for nothing else, so that nobody else uses its result, and fragment
    /// boundaries do not split elements.
    fn combines(&self, step: u32) -> bool {
        let unit = &self.spaces.unit;
        let sum = self.prepared.sweeps.sum(step);
        sum.is_some_and(|sum| self.account.missing[sum as usize] == 1)
            && unit.is_plain
            && FRAGMENT_UNIT.is_multiple_of(unit.bytes as usize)
    }

    unsafe fn combine(&mut self, step: u32, done: usize, data: *const u8, bytes: usize) {
        let Some(sum) = self.prepared.sweeps.sum(step) else {
            return;
        };
        let steps = self.prepared.plan().steps();
        let (Action::Reduce { left, right }, Action::Receive { range, .. }) =
            (steps[sum as usize].action, steps[step as usize].action)
        else {
            return;
        };
        let unit = self.spaces.unit.bytes;
        let part = |range: Range| range.part(done as u64 / unit, bytes as u64 / unit);
        let (into, _, _) = self.elements(part(right));
        // SAFETY: the operands are live, the caller's promise holds for the received data, and the
        // reduction waits for nothing but them.
        let reduced = unsafe {
            match right == range {
                true => {
                    copy_bytes(data as Word, into, bytes as u64);
                    let (left, _, _) = self.elements(part(left));
                    self.reduce_piece(sum, left, part(right))
                }
                false => self.reduce_piece(sum, data as Word, part(right)),
            }
        };
        self.account.failed = self.account.failed.or(reduced.err());
    }

    fn combined(&mut self, step: u32) {
        let sum = self.prepared.sweeps.sum(step);
        self.complete_with(step, sum);
    }
}
