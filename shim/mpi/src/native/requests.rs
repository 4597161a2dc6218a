//! Active requests of non-blocking messages, and tests for their completion.

use super::mpi::Native;
use crate::{Handle, Request, SUCCESS, c_int};

/// Number of requests in one test of an MPI that takes in few messages at a time.
const AT_ONCE: usize = 64;

/// Number of requests above which they count as many for such an MPI.
const MANY: usize = 16;

/// Active requests, with a number for each.
#[derive(Debug, Default)]
pub struct Requests {
    /// Handles as the native MPI stores them: 4 or 8 bytes each.
    handles: Vec<u8>,
    numbers: Vec<u32>,
    /// Index of the first one in the next test.
    next: usize,
    indices: Vec<c_int>,
    statuses: Vec<u8>,
}

impl Native {
    /// True if a test of requests takes in only few of the messages that have arrived: MPICH's
    /// `MPI_Testsome` takes in at most one, then examines all requests, which costs 5 microseconds
    /// for each message with a thousand requests. Open MPI's takes in all messages that have
    /// arrived.
    fn takes_few_messages(&self) -> bool {
        !self.is_open_mpi
    }

    /// Returns the best number of requests in one test of this MPI.
    fn requests_at_once(&self) -> usize {
        match self.takes_few_messages() {
            true => AT_ONCE,
            false => usize::MAX,
        }
    }

    /// Calls `complete` with the numbers of requests that are complete, and removes those
    /// (`MPI_Testsome`). False if there are no requests. If there are more requests than this MPI
    /// should test together, tests the next ones in cyclic order.
    ///
    /// # Errors
    /// The code of a request that failed.
    pub fn test(
        &self,
        requests: &mut Requests,
        mut complete: impl FnMut(u32),
    ) -> Result<bool, c_int> {
        let (first, count) = requests.take_turn(self.requests_at_once());
        let bytes = self.abi.handle_bytes;
        requests.indices.resize(count, 0);
        requests.statuses.resize(count * self.abi.status_bytes, 0);
        let mut completed = 0;
        // SAFETY: the vectors have space for the results, and the messages stay valid until their
        // requests are complete, as those promised who began them.
        let tested = unsafe {
            self.functions.testsome(
                count as c_int,
                requests.handles[first * bytes..].as_mut_ptr().cast(),
                &mut completed,
                requests.indices.as_mut_ptr(),
                requests.statuses.as_mut_ptr(),
            )
        };
        let completed = usize::try_from(completed).unwrap_or(0).min(count);
        if let Err(failed) = tested {
            return Err(requests.first_error(self, completed).unwrap_or(failed.code));
        }
        requests.indices.truncate(completed);
        for &index in &requests.indices {
            complete(requests.numbers[first + index as usize]);
        }
        requests.forget(first, bytes);
        Ok(completed > 0)
    }
}

impl Requests {
    /// Adds a request with a number.
    pub fn push(&mut self, native: &Native, request: Request, number: u32) {
        let bytes = request.word().to_ne_bytes();
        // The lower bytes contain a short handle.
        let short = match cfg!(target_endian = "little") {
            true => &bytes[..native.abi.handle_bytes],
            false => &bytes[bytes.len() - native.abi.handle_bytes..],
        };
        self.handles.extend_from_slice(short);
        self.numbers.push(number);
    }

    /// True if none is active.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// True if there are enough of them that `native` should test them between steps.
    pub fn are_many(&self, native: &Native) -> bool {
        native.takes_few_messages() && self.numbers.len() > MANY
    }

    /// Returns the index of the first and the number of those that are tested now: all if they are
    /// few, so that new ones do not keep earlier ones from being tested.
    fn take_turn(&mut self, at_once: usize) -> (usize, usize) {
        let all = self.numbers.len();
        let first = match all > at_once && self.next < all {
            true => self.next,
            false => 0,
        };
        let count = at_once.min(all - first);
        self.next = first + count;
        (first, count)
    }

    /// Removes those in `indices`, counted from `first`, together. The others stay in order: the
    /// oldest are mostly complete first.
    fn forget(&mut self, first: usize, bytes: usize) {
        self.indices.sort_unstable();
        let place = |index: &c_int| first + *index as usize;
        let mut kept = self.indices.first().map_or(self.numbers.len(), place);
        for (number, index) in self.indices.iter().enumerate() {
            let next = self.indices.get(number + 1);
            let stay = place(index) + 1..next.map_or(self.numbers.len(), place);
            let length = stay.len();
            self.handles
                .copy_within(stay.start * bytes..stay.end * bytes, kept * bytes);
            self.numbers.copy_within(stay, kept);
            kept += length;
        }
        self.numbers.truncate(kept);
        self.handles.truncate(kept * bytes);
        self.next -= self.indices.len();
    }

    /// Returns the first error in the statuses of the `completed` requests.
    fn first_error(&self, native: &Native, completed: usize) -> Option<c_int> {
        let error = |status: &[u8]| {
            let bytes = status.get(native.abi.status_error..)?.first_chunk()?;
            Some(c_int::from_ne_bytes(*bytes))
        };
        let statuses = self
            .statuses
            .chunks(native.abi.status_bytes)
            .take(completed);
        statuses.filter_map(error).find(|&code| code != SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns requests whose handles are their numbers.
    fn requests(count: u8) -> Requests {
        Requests {
            handles: (0..count).collect(),
            numbers: (0..count.into()).collect(),
            ..Requests::default()
        }
    }

    #[test]
    fn of_many_requests_all_are_asked_for_in_turn_and_of_few_all_at_once() {
        let mut many = requests(150);
        let turns: Vec<_> = (0..4).map(|_| many.take_turn(64)).collect();
        assert_eq!(turns, [(0, 64), (64, 64), (128, 22), (0, 64)]);
        let mut few = requests(50);
        let turns: Vec<_> = (0..2).map(|_| few.take_turn(64)).collect();
        assert_eq!(turns, [(0, 50), (0, 50)]);
        assert_eq!(requests(150).take_turn(usize::MAX), (0, 150));
    }

    #[test]
    fn requests_that_are_complete_are_forgotten_the_others_stay_in_order_and_none_misses_its_turn()
    {
        let mut many = requests(150);
        many.take_turn(64);
        let (first, _) = many.take_turn(64);
        many.indices = vec![63, 0, 2];
        many.forget(first, 1);
        let others = |number: &u32| ![64, 66, 127].contains(number);
        let left: Vec<u32> = (0..150).filter(others).collect();
        assert_eq!(many.numbers, left);
        assert!(
            many.handles
                .iter()
                .map(|&handle| u32::from(handle))
                .eq(left)
        );
        // The next is the one after the last that was tested.
        let (first, count) = many.take_turn(64);
        assert_eq!((many.numbers[first], count), (128, 22));
        many.indices.clear();
        many.forget(first, 1);
        assert_eq!(many.numbers.len(), 147);
    }

    #[test]
    fn requests_that_were_begun_after_others_were_asked_for_don_t_keep_those_from_being_asked_for()
    {
        let mut few = requests(50);
        few.take_turn(64);
        few.indices = vec![7];
        few.forget(0, 1);
        few.numbers.push(50);
        few.handles.push(50);
        assert_eq!(few.take_turn(64), (0, 50));
    }
}
