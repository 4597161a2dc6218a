//! An exchange between the ranks of a communicator, under way while the application goes on.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use treepie_mpi::native::{Native, Requests, native};
use treepie_mpi::{Comm, c_int};

use crate::clock::now;

/// How often nothing may have happened before other processes are let in.
const PATIENCE: u32 = 32;

/// Patience with other ranks at the end of a job: one of a wrong program may never have begun the
/// exchange.
const AT_THE_END: Duration = Duration::from_secs(1);

/// Numbers of which the least of all ranks is made.
pub struct Exchange {
    mine: Vec<i64>,
    least: Vec<i64>,
    requests: Requests,
    /// Nanoseconds that its start took.
    cost: u64,
}

impl Exchange {
    /// Begins an exchange of so many numbers on each rank of `comm`, a communicator of ours.
    ///
    /// # Errors
    /// MPI's code.
    pub fn begin(native: &Native, comm: Comm, mine: Vec<i64>) -> Result<Self, c_int> {
        let start = now();
        let mut least = vec![0; mine.len()];
        let mut requests = Requests::default();
        let (from, into) = (mine.as_ptr(), least.as_mut_ptr());
        // SAFETY: both vectors have this length, are not touched until the request is complete, and
        // are leaked where that can't be waited for.
        let begun = unsafe { native.begin_least((from, into), mine.len(), comm) };
        match begun {
            Ok(request) => requests.push(native, request, 0),
            Err(code) => {
                mem::forget((mine, least));
                return Err(code);
            }
        }
        Ok(Exchange {
            mine,
            least,
            requests,
            cost: now().saturating_sub(start),
        })
    }

    /// Waits for the numbers of all ranks, which have all begun it at the same call; and the
    /// nanoseconds that the exchange took on this rank.
    ///
    /// # Errors
    /// MPI's code.
    pub fn wait(mut self, native: &Native) -> Result<(Vec<i64>, u64), c_int> {
        let start = now();
        while !self.advance(native)? {}
        let cost = self.cost + now().saturating_sub(start);
        Ok((mem::take(&mut self.least), cost))
    }

    /// Whether the numbers of all ranks are there, at the end of the job, where that is not waited
    /// for without end. If not, the communicator must not be freed.
    pub fn is_complete_at_the_end(&mut self, native: &Native) -> bool {
        let began = Instant::now();
        while began.elapsed() < AT_THE_END {
            match self.advance(native) {
                Ok(false) => (),
                Ok(true) | Err(_) => return true,
            }
        }
        self.leave();
        false
    }

    /// Lets the MPI go on with the exchange; whether it is complete.
    fn advance(&mut self, native: &Native) -> Result<bool, c_int> {
        for _ in 0..PATIENCE {
            if self.requests.is_empty() {
                return Ok(true);
            }
            if let Err(code) = native.test(&mut self.requests, |_| ()) {
                self.leave();
                return Err(code);
            }
        }
        thread::yield_now();
        Ok(self.requests.is_empty())
    }

    /// Leaves the memory to the MPI, which may still use it.
    fn leave(&mut self) {
        mem::forget(mem::take(&mut self.mine));
        mem::forget(mem::take(&mut self.least));
        self.requests = Requests::default();
    }
}

impl Drop for Exchange {
    /// The memory is the MPI's until all ranks have told their numbers.
    fn drop(&mut self) {
        if let Some(native) = native() {
            while matches!(self.advance(native), Ok(false)) {}
        }
    }
}
