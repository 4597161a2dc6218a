//! Exchange between the ranks of a communicator that is in flight while the application continues.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use treepie_mpi::native::{Native, Requests, native};
use treepie_mpi::{Comm, c_int};

use crate::clock::now;

/// Number of idle turns after which the process yields to others.
const PATIENCE: u32 = 32;

/// Time limit for other ranks at the end of a job: a rank of an erroneous program may never have
/// begun the exchange.
const AT_THE_END: Duration = Duration::from_secs(1);

/// Numbers whose minimum over all ranks is computed.
pub struct AgreedMinimum {
    mine: Vec<i64>,
    least: Vec<i64>,
    requests: Requests,
    /// Duration of its start in nanoseconds.
    cost: u64,
}

impl AgreedMinimum {
    /// Begins an exchange of these numbers on each rank of `comm`, a private communicator.
    ///
    /// # Errors
    /// MPI's code.
    pub fn begin(native: &Native, comm: Comm, mine: Vec<i64>) -> Result<Self, c_int> {
        let start = now();
        let mut least = vec![0; mine.len()];
        let mut requests = Requests::default();
        let (from, into) = (mine.as_ptr(), least.as_mut_ptr());
        // SAFETY: both vectors have this length, are not touched until the request is complete, and
        // are leaked if the wait for that fails.
        let begun = unsafe { native.begin_least((from, into), mine.len(), comm) };
        match begun {
            Ok(request) => requests.push(native, request, 0),
            Err(code) => {
                mem::forget((mine, least));
                return Err(code);
            }
        }
        Ok(AgreedMinimum {
            mine,
            least,
            requests,
            cost: now().saturating_sub(start),
        })
    }

    /// Waits for the numbers of all ranks, which have all begun the exchange at the same call;
    /// returns them with the nanoseconds that the exchange took on this rank.
    ///
    /// # Errors
    /// MPI's code.
    pub fn wait(mut self, native: &Native) -> Result<(Vec<i64>, u64), c_int> {
        let start = now();
        while !self.advance(native)? {}
        let cost = self.cost + now().saturating_sub(start);
        Ok((mem::take(&mut self.least), cost))
    }

    /// True if the numbers of all ranks have arrived, at the end of the job, after a wait of
    /// limited length. If not, the communicator must not be freed.
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

    /// Lets the MPI advance the exchange; true if it is complete.
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

    /// Leaks the memory, which the MPI may still use.
    fn leave(&mut self) {
        mem::forget(mem::take(&mut self.mine));
        mem::forget(mem::take(&mut self.least));
        self.requests = Requests::default();
    }
}

impl Drop for AgreedMinimum {
    /// Leaks the memory if not all ranks' numbers have arrived: the MPI may still use it.
    fn drop(&mut self) {
        if let Some(native) = native() {
            while matches!(self.advance(native), Ok(false)) {}
        }
    }
}
