//! Exchange among the processes of a new window: the size of each one's memory, and its
//! displacement unit, which MPI does not give to other processes.

use treepie_mpi::native::Native;
use treepie_mpi::{Comm, c_int};
use treepie_plans::may_have_device_memory;

/// Memory of a window in one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Memory of `bytes` bytes, addressed in this unit.
    Sized {
        /// Its length.
        bytes: i64,
        /// Displacement unit in bytes.
        unit: i64,
    },
    /// Memory that is attached, by its addresses.
    Dynamic,
}

/// A number for each process of a window, or one for all if they are equal.
#[derive(Debug, PartialEq, Eq)]
pub enum PerRank {
    /// All ranks have this number.
    Equal(i64),
    /// One number for each rank.
    Each(Box<[i64]>),
}

impl PerRank {
    fn new(numbers: Vec<i64>) -> Self {
        match numbers.first() {
            Some(&first) if numbers.iter().all(|&number| number == first) => PerRank::Equal(first),
            _ => PerRank::Each(numbers.into()),
        }
    }

    /// Returns the number of a rank.
    #[inline(always)]
    pub fn of(&self, rank: usize) -> Option<i64> {
        match self {
            PerRank::Equal(number) => Some(*number),
            PerRank::Each(numbers) => numbers.get(rank).copied(),
        }
    }
}

/// Shape of a window in all of its processes.
#[derive(Debug, PartialEq, Eq)]
pub struct WindowShape {
    /// Number of processes.
    pub ranks: usize,
    /// Rank of this process.
    pub rank: usize,
    /// Bytes of each rank's memory; dynamic windows have no end.
    pub bytes: PerRank,
    /// Displacement unit of each rank, in bytes.
    pub units: PerRank,
}

/// Unit that a process reports if its memory may be a device's; no window has it.
const LEFT_ALONE: i64 = 0;

impl WindowShape {
    /// Exchanges shapes with the other processes of `comm`. `None`, on all of them, if puts are not
    /// held back: some processes belong to another job and may not take part, or may have memory
    /// that the processor cannot read. Collective, like the creation of the window, which it
    /// precedes.
    pub fn among(native: &Native, comm: Comm, shape: Shape) -> Option<WindowShape> {
        if native.is_null_communicator(comm) || native.is_inter(comm).ok()? {
            return None;
        }
        let ranks = native.size(comm).ok()?;
        let rank = native.rank(comm).ok()?;
        if !are_of_this_job(native, comm)? {
            return None;
        }
        let (bytes, unit) = match shape {
            _ if may_have_device_memory() => (0, LEFT_ALONE),
            Shape::Sized { bytes, unit } => (bytes, unit),
            Shape::Dynamic => (i64::MAX, 1),
        };
        let mine = [bytes.to_ne_bytes(), unit.to_ne_bytes()].concat();
        let all = native.allgather(comm, &mine).ok()?;
        let numbers: Vec<i64> = all
            .chunks_exact(8)
            .map(|number| i64::from_ne_bytes(number.try_into().unwrap_or_default()))
            .collect();
        let units: Vec<i64> = numbers.iter().skip(1).step_by(2).copied().collect();
        // The MPI refuses the window, or memory may be a device's.
        if units.iter().any(|&unit| unit <= 0) {
            return None;
        }
        Some(WindowShape {
            ranks,
            rank,
            bytes: PerRank::new(numbers.iter().step_by(2).copied().collect()),
            units: PerRank::new(units),
        })
    }
}

/// True if all processes of `comm` are in this job's world; all of them get the same result.
fn are_of_this_job(native: &Native, comm: Comm) -> Option<bool> {
    let world = native.group(native.world).ok()?;
    let group = native.group(comm);
    let ranks = group.and_then(|group| {
        let ranks = native.translate(group, world);
        native.free_group(group);
        ranks
    });
    native.free_group(world);
    Some(
        ranks
            .ok()?
            .iter()
            .all(|&rank| c_int::try_from(rank).is_ok()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_take_no_memory_for_each_rank() {
        assert_eq!(PerRank::new(vec![8; 1000]), PerRank::Equal(8));
        let each = PerRank::new(vec![8, 4]);
        assert_eq!((each.of(1), each.of(2)), (Some(4), None));
    }
}
