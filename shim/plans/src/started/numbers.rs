//! Minimum over all ranks of some numbers, computed repeatedly with messages that no other
//! operation uses: ranks may begin those of different requests in any order.

use std::mem;
use std::sync::Arc;
use std::thread;

use treepie_choice::{Form, direct};
use treepie_collective::Operation;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, SUCCESS, Side, Word, c_int};

use super::running::Running;
use super::uses::Uses;
use super::work::Work;
use crate::call_context::CallContext;
use crate::chosen::Key;
use crate::clock::now;
use crate::communicator::Communicator;
use crate::job::Job;
use crate::plans;
use crate::setup::Setup;

/// Number of idle turns after which the process yields to others.
const PATIENCE: u32 = 32;

/// Numbers of this rank, and their minimum over all ranks.
pub struct Numbers {
    mine: Vec<i64>,
    least: Vec<i64>,
    running: Arc<Running>,
    /// Nanoseconds that the start of the last exchange took.
    cost: u64,
}

impl Numbers {
    /// Creates an exchange of `length` numbers, in messages at `place`; `None`, on all ranks, if no
    /// plan serves them.
    pub fn new(
        native: &Native,
        setup: &Setup,
        communicator: &Arc<Communicator>,
        (place, count): (CallContext, usize),
    ) -> Option<Self> {
        let (mut mine, mut least) = (vec![0; count], vec![0; count]);
        let (datatype, op) = native.least_of_numbers();
        let side = |numbers: &mut Vec<i64>| Side {
            buffer: numbers.as_mut_ptr() as Word,
            count: count as i64,
            datatype,
            ..Side::NONE
        };
        let call = Call {
            operation: Operation::Allreduce,
            send: side(&mut mine),
            receive: side(&mut least),
            op,
            root: 0,
        };
        let job = Job::new(native, &call, place, &communicator.clusters).ok()?;
        let algorithm = direct(call.operation)?;
        let segment = communicator.eager_limit();
        let key = Key {
            operation: call.operation,
            root: 0,
            amount: job.amount.clone(),
            unit: job.spaces.unit.bytes,
            ordered: false,
            guarded: Some((algorithm.name, segment)),
            form: Form::Started(setup.progress),
            is_acknowledged: false,
        };
        let make = |key: &Key| plans::make_guarded(communicator, key, (algorithm, segment));
        let work = Work::Plan(communicator.plan(key, make)?);
        let (held, manner) = ((job, Uses::default()), (None, false));
        let comm = communicator.private();
        let running = Running::new(Arc::clone(communicator), comm, place, work, held, manner);
        running.marker.repeat();
        Some(Numbers {
            mine,
            least,
            running: Arc::new(running),
            cost: 0,
        })
    }

    /// True if an exchange is active.
    pub fn is_under_way(&self) -> bool {
        self.running.is_under_way()
    }

    /// Begins an exchange of these values.
    ///
    /// # Errors
    /// MPI's code.
    pub fn begin(&mut self, native: &Native, values: &[i64]) -> Result<(), c_int> {
        let start = now();
        self.mine.copy_from_slice(values);
        self.running.begin(native)?;
        self.cost = now().saturating_sub(start);
        Ok(())
    }

    /// Returns the minimum of the numbers over all ranks, in a call that may wait for them; `None`
    /// on failure.
    pub fn least_of(&mut self, native: &Native, values: &[i64]) -> Option<Vec<i64>> {
        self.begin(native, values).ok()?;
        let (least, _) = self.wait(native).ok()?;
        Some(least.to_vec())
    }

    /// Waits for the numbers of all ranks, which have all begun the exchange; returns the minimum
    /// with the nanoseconds that the exchange took on this rank.
    ///
    /// # Errors
    /// MPI's code.
    pub fn wait(&mut self, native: &Native) -> Result<(&[i64], u64), c_int> {
        let (start, mut idle) = (now(), 0);
        while self.running.is_under_way() {
            idle = if self.running.advance(native) {
                0
            } else {
                idle + 1
            };
            if idle > PATIENCE {
                thread::yield_now();
            }
        }
        let cost = self.cost + now().saturating_sub(start);
        match self.running.code() {
            SUCCESS => Ok((&self.least, cost)),
            code => Err(code),
        }
    }
}

impl Drop for Numbers {
    /// Leaks the memory if messages may still use it, as after a failed one.
    fn drop(&mut self) {
        if self.is_under_way() || self.running.code() != SUCCESS {
            let running = Arc::clone(&self.running);
            mem::forget((
                mem::take(&mut self.mine),
                mem::take(&mut self.least),
                running,
            ));
        }
    }
}
