//! Native functions that send joined updates to their targets.

use super::mpi::{Native, native};
use crate::{Datatype, Handle, Op, Win, Word, c_int};

/// Destination of data: the target, the displacement in units of its window, and the number and
/// datatype of the elements there.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// The window.
    pub window: Win,
    /// Rank in the window's group.
    pub target: c_int,
    /// Displacement in the target's units.
    pub displacement: i64,
    /// Number of elements at the target.
    pub count: c_int,
    /// Their datatype.
    pub datatype: Datatype,
}

/// Datatype of this library: ranges of elements with gaps between them.
#[derive(Debug)]
pub struct TypeOfRanges(Datatype);

impl TypeOfRanges {
    /// Returns its handle, valid while this lives.
    pub fn handle(&self) -> Datatype {
        self.0
    }
}

impl Drop for TypeOfRanges {
    /// Calls in flight may still use it (MPI-4.1, 5.1.9).
    fn drop(&mut self) {
        if let Some(native) = native() {
            native.free_type(self.0);
        }
    }
}

/// Errors here are MPI's own codes, which the application sees.
impl Native {
    /// `MPI_Put` of `count` elements at `origin`.
    ///
    /// # Safety
    /// The elements stay valid until the put is complete at the origin.
    pub unsafe fn put(
        &self,
        (origin, count, datatype): (Word, c_int, Datatype),
        at: Placed,
    ) -> Result<(), c_int> {
        // SAFETY: the caller's promise.
        unsafe {
            self.functions.put(
                origin,
                count,
                datatype,
                at.target,
                at.displacement,
                at.count,
                at.datatype,
                at.window,
            )?
        };
        Ok(())
    }

    /// `MPI_Accumulate` of `count` elements at `origin`.
    ///
    /// # Safety
    /// The elements stay valid until the accumulate is complete at the origin.
    pub unsafe fn accumulate(
        &self,
        (origin, count, datatype): (Word, c_int, Datatype),
        op: Op,
        at: Placed,
    ) -> Result<(), c_int> {
        // SAFETY: the caller's promise.
        unsafe {
            self.functions.accumulate(
                origin,
                count,
                datatype,
                at.target,
                at.displacement,
                at.count,
                at.datatype,
                op,
                at.window,
            )?
        };
        Ok(())
    }

    /// `MPI_Win_flush` of a target.
    pub fn flush(&self, window: Win, target: c_int) -> Result<(), c_int> {
        self.functions.win_flush(target, window)?;
        Ok(())
    }

    /// Creates a datatype of ranges of elements of `datatype`, each `(start, length)`: the start in
    /// bytes, the length in elements.
    pub fn new_type_of_ranges(
        &self,
        datatype: Datatype,
        ranges: &[(i64, c_int)],
    ) -> Result<TypeOfRanges, c_int> {
        let starts: Vec<i64> = ranges.iter().map(|&(start, _)| start).collect();
        let lengths: Vec<c_int> = ranges.iter().map(|&(_, length)| length).collect();
        let (count, at) = (ranges.len() as c_int, starts.as_ptr());
        let mut made = Datatype::ABSENT;
        let alike = lengths.windows(2).all(|two| two[0] == two[1]);
        // SAFETY: there are `count` starts and lengths.
        unsafe {
            match lengths.first() {
                Some(&length) if alike => self
                    .functions
                    .type_create_hindexed_block(count, length, at, datatype, &mut made)?,
                _ => self.functions.type_create_hindexed(
                    count,
                    lengths.as_ptr(),
                    at,
                    datatype,
                    &mut made,
                )?,
            }
        }
        let made = TypeOfRanges(made);
        let mut handle = made.0;
        self.functions.type_commit(&mut handle)?;
        Ok(made)
    }
}
