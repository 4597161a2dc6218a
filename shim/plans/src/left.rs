//! Private communicators whose owners the application has freed, while collectives that were
//! started on them may have been active: all its processes must free one together, and none knows
//! when the others are done. The next communicator of the same processes reuses one without active
//! operations on any of them: a program that creates thousands, one after the other, needs few
//! private ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use treepie_mpi::Comm;
use treepie_mpi::native::Native;
use treepie_process::features::{self, STARTED};

use super::communicator::Communicator;
use super::ground::CommunicatorParts;

/// Number of communicators that are proposed in one exchange.
const PROPOSED: usize = 8;

/// Bytes of a number in a message.
const OF_A_NUMBER: usize = 8;

/// Number that no communicator has.
const NONE: u64 = 0;

static LEFT: Mutex<Vec<Arc<Communicator>>> = Mutex::new(Vec::new());

/// Smallest number that no communicator of this process has.
static NEXT: AtomicU64 = AtomicU64::new(NONE + 1);

/// Returns the smallest number that a new communicator may have here; it gets the maximum over its
/// processes.
pub fn next_number() -> u64 {
    NEXT.load(Ordering::Relaxed)
}

/// Marks a number as used by a new communicator, which has it on all its processes; no other one
/// here has it.
pub fn take_number(number: u64) {
    NEXT.fetch_max(number + 1, Ordering::Relaxed);
}

/// Keeps a communicator whose owner has been freed.
pub fn keep(communicator: Arc<Communicator>) {
    LEFT.lock().push(communicator);
}

/// Finds a kept communicator of these processes, which have these ranks in the application's world,
/// without active operations on any of them; all find the same. Collective on `comm`, if started
/// collectives are replaced.
pub fn find(native: &Native, comm: Comm, ranks: Option<&[usize]>) -> Option<CommunicatorParts> {
    if !features::any(STARTED) {
        return None;
    }
    let mut mine = ranks.map_or_else(Vec::new, take_idle);
    let mut row = [NONE; PROPOSED];
    for (place, one) in row.iter_mut().zip(&mine) {
        *place = one.number();
    }
    let bytes: Vec<u8> = row.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let all = native.allgather(comm, &bytes);
    let found = all.ok().and_then(|all| common(&row[..mine.len()], &all));
    let place = mine.iter().position(|one| Some(one.number()) == found);
    let found = place.map(|place| mine.swap_remove(place));
    LEFT.lock().append(&mut mine);
    // Idle, and not shared since.
    found.and_then(Arc::into_inner).map(Communicator::into_kept)
}

/// Takes the communicators that are idle here, in increasing order of their numbers: while they are
/// proposed, no other thread proposes them for another communicator of the same processes.
fn take_idle(ranks: &[usize]) -> Vec<Arc<Communicator>> {
    let mut left = LEFT.lock();
    left.sort_by_key(|one| one.number());
    // An operation holds its communicator until its request is freed.
    let is_idle = |one: &Arc<Communicator>| one.is_of(ranks) && Arc::strong_count(one) == 1;
    let mut taken = Vec::new();
    left.retain(|one| {
        let takes = taken.len() < PROPOSED && is_idle(one);
        if takes {
            taken.push(Arc::clone(one));
        }
        !takes
    });
    taken
}

/// Returns the smallest of these numbers that all rows contain.
fn common(mine: &[u64], rows: &[u8]) -> Option<u64> {
    let is_in = |number: u64, row: &[u8]| {
        let mut numbers = row.chunks_exact(OF_A_NUMBER);
        numbers.any(|bytes| bytes == number.to_ne_bytes())
    };
    let mut mine = mine.iter().copied();
    mine.find(|&number| {
        let mut rows = rows.chunks_exact(PROPOSED * OF_A_NUMBER);
        rows.all(|row| is_in(number, row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[&[u64]]) -> Vec<u8> {
        let row = |numbers: &&[u64]| {
            let mut row = numbers.to_vec();
            row.resize(PROPOSED, NONE);
            row
        };
        let numbers = all.iter().flat_map(row);
        numbers.flat_map(u64::to_ne_bytes).collect()
    }

    #[test]
    fn the_least_that_is_idle_everywhere_is_taken() {
        let all = rows(&[&[2, 3, 5], &[3, 5, 9], &[1, 3, 5]]);
        for mine in [&[2, 3, 5], &[3, 5, 9], &[1, 3, 5]] {
            assert_eq!(common(mine, &all), Some(3));
        }
        assert_eq!(common(&[2, 4], &rows(&[&[2, 4], &[3]])), None);
        assert_eq!(common(&[], &rows(&[&[2], &[]])), None);
    }
}
