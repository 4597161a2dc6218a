//! Requests of non-blocking messages that are under way, and which of them are complete.

use super::Host;
use crate::api::abi::Family;
use crate::api::{SUCCESS, Word, c_int};

/// So many requests MPICH is asked for at once. Its `MPI_Testsome` takes one message at most, then looks at
/// all requests: where they are a thousand, that costs 5 microseconds for each message. For more than
/// these it asks for memory besides.
const AT_ONCE_OF_MPICH: usize = 64;

/// Requests that are under way, with a number for each.
#[derive(Debug, Default)]
pub struct Requests {
    /// Handles as the host stores them: 4 or 8 bytes each.
    handles: Vec<u8>,
    numbers: Vec<u32>,
    /// The first one that is asked for next.
    next: usize,
    indices: Vec<c_int>,
    statuses: Vec<u8>,
}

impl Host {
    /// So many requests this MPI is best asked for at once. Open MPI lets in all messages that have
    /// come: it is asked for all.
    fn requests_at_once(&self) -> usize {
        match self.abi.family {
            Family::Mpich => AT_ONCE_OF_MPICH,
            Family::OpenMpi | Family::Standard => usize::MAX,
        }
    }

    /// Tells `complete` the numbers of requests that are complete, and forgets
    /// those (`MPI_Testsome`). False if there are none. Of more requests than this MPI is best asked
    /// for, the next ones are, in turn.
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
        // SAFETY: the vectors have room for what is asked for, and the messages stay where they are
        // until their requests are complete, as those promised that began them.
        let code = unsafe {
            (self.functions.testsome)(
                count as c_int,
                requests.handles[first * bytes..].as_mut_ptr().cast(),
                &mut completed,
                requests.indices.as_mut_ptr(),
                requests.statuses.as_mut_ptr(),
            )
        };
        let completed = usize::try_from(completed).unwrap_or(0).min(count);
        if code != SUCCESS {
            return Err(requests.first_error(self, completed).unwrap_or(code));
        }
        requests.indices.truncate(completed);
        for &index in &requests.indices {
            complete(requests.numbers[first + index as usize]);
        }
        // From the last on, so that what moves is not complete.
        requests.indices.sort_unstable();
        for index in (0..completed).rev() {
            requests.remove(first + requests.indices[index] as usize, bytes);
        }
        requests.next -= completed;
        Ok(completed > 0)
    }
}

impl Requests {
    /// Adds a request with a number.
    pub fn push(&mut self, host: &Host, request: Word, number: u32) {
        let bytes = request.to_ne_bytes();
        // The lower bytes hold a short handle.
        let short = match cfg!(target_endian = "little") {
            true => &bytes[..host.abi.handle_bytes],
            false => &bytes[bytes.len() - host.abi.handle_bytes..],
        };
        self.handles.extend_from_slice(short);
        self.numbers.push(number);
    }

    /// Whether none is under way.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether these are more than `host` is asked for at once.
    pub fn are_many(&self, host: &Host) -> bool {
        self.numbers.len() > host.requests_at_once()
    }

    /// The first and the number of those that are asked for now.
    fn take_turn(&mut self, at_once: usize) -> (usize, usize) {
        let all = self.numbers.len();
        let first = if self.next < all { self.next } else { 0 };
        let count = at_once.min(all - first);
        self.next = first + count;
        (first, count)
    }

    /// The others stay in order: what was begun first is mostly complete first.
    fn remove(&mut self, index: usize, bytes: usize) {
        self.numbers.remove(index);
        self.handles.drain(index * bytes..(index + 1) * bytes);
    }

    /// The first error in the statuses of the `completed` requests.
    fn first_error(&self, host: &Host, completed: usize) -> Option<c_int> {
        let error = |status: &[u8]| {
            let bytes = status.get(host.abi.status_error..)?.first_chunk()?;
            Some(c_int::from_ne_bytes(*bytes))
        };
        let statuses = self.statuses.chunks(host.abi.status_bytes).take(completed);
        statuses.filter_map(error).find(|&code| code != SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_requests_all_are_asked_for_in_turn_and_of_few_all_at_once() {
        let mut requests = Requests {
            handles: (0..150).collect(),
            numbers: (0..150).collect(),
            ..Requests::default()
        };
        let turns: Vec<_> = (0..4).map(|_| requests.take_turn(64)).collect();
        assert_eq!(turns, [(0, 64), (64, 64), (128, 22), (0, 64)]);
        for _ in 0..100 {
            requests.remove(40, 1);
        }
        assert_eq!(requests.take_turn(64), (0, 50));
        assert_eq!(requests.take_turn(usize::MAX), (0, 50));
        assert_eq!(requests.numbers[40], 140);
        assert_eq!(requests.handles[40], 140);
    }
}
