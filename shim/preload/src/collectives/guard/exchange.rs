//! An exchange between the ranks of a communicator, under way while the application goes on.

use std::mem;
use std::thread;

use super::now;
use crate::mpi::native::{Native, Requests, native};
use crate::mpi::{Comm, c_int};

/// How often nothing may have happened before other processes are let in.
const PATIENCE: u32 = 32;

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
        self.complete(native)?;
        let cost = self.cost + now().saturating_sub(start);
        Ok((mem::take(&mut self.least), cost))
    }

    fn complete(&mut self, native: &Native) -> Result<(), c_int> {
        let mut idle = 0;
        while !self.requests.is_empty() {
            match native.test(&mut self.requests, |_| ()) {
                Ok(true) => idle = 0,
                Ok(false) => idle += 1,
                Err(code) => {
                    // What is under way may still use them.
                    mem::forget(mem::take(&mut self.mine));
                    mem::forget(mem::take(&mut self.least));
                    self.requests = Requests::default();
                    return Err(code);
                }
            }
            if idle > PATIENCE {
                thread::yield_now();
            }
        }
        Ok(())
    }
}

impl Drop for Exchange {
    /// The memory is the MPI's until all ranks have told their numbers.
    fn drop(&mut self) {
        if let Some(native) = native() {
            let _ = self.complete(native);
        }
    }
}
