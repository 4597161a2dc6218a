//! Calls like one that was made before on the same communicator: programs call the same
//! collectives on the same buffers again and again. Their plan and where it works are found by
//! the call's arguments, without a question to the native MPI.
//!
//! What is kept is only what can't have changed since: calls that say all in their arguments,
//! on datatypes and operations that are the MPI's own, whose plans work on the application's
//! buffers alone.

use std::sync::Arc;

use parking_lot::Mutex;

use super::call::Call;
use super::execute::{Prepared, Spaces};
use super::job::Job;
use crate::mpi::Handle;
use crate::mpi::native::Native;

/// So many different calls are kept for a communicator.
const MOST_CALLS: usize = 8;

/// What is done at a call: where the plan works, the scratch being another one each time, and the
/// plan; `None` where the native MPI does it.
type Done = (Spaces, Option<Arc<Prepared>>);

/// The last calls on a communicator.
#[derive(Debug, Default)]
pub struct Again(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    known: Vec<(Call, Done)>,
    /// Whose place the next one takes.
    oldest: usize,
}

impl Again {
    /// What was done at a call like this.
    pub fn find(&self, call: &Call) -> Option<Done> {
        let calls = self.0.lock();
        let known = calls.known.iter().find(|(known, _)| known == call);
        known.map(|(_, done)| done.clone())
    }

    /// Keeps what is done at a call, if it is the same at each call like it.
    pub fn keep(&self, native: &Native, call: &Call, job: &Job, plan: &Option<Arc<Prepared>>) {
        if !call.is_whole() || !job.is_in_place() || !is_fixed(native, call) {
            return;
        }
        self.add((*call, (job.spaces, plan.clone())));
    }

    fn add(&self, known: (Call, Done)) {
        let mut calls = self.0.lock();
        if calls.known.len() < MOST_CALLS {
            calls.known.push(known);
        } else {
            let oldest = calls.oldest;
            calls.known[oldest] = known;
            calls.oldest = (oldest + 1) % MOST_CALLS;
        }
    }
}

/// Whether datatypes and operation are the MPI's own. What a procedure does not have is 0.
fn is_fixed(native: &Native, call: &Call) -> bool {
    let mut datatypes = [call.send.datatype, call.receive.datatype].into_iter();
    datatypes.all(|datatype| datatype.is_absent() || native.is_own(datatype))
        && (call.op.is_absent() || native.is_own(call.op))
}

#[cfg(test)]
mod tests {
    use treepie_core::collective::Operation;

    use super::*;
    use crate::collectives::call::Side;
    use crate::collectives::unit::Unit;
    use crate::mpi::native::Extent;
    use crate::mpi::{Datatype, Op, Word};

    fn datatype(word: Word) -> Datatype {
        // SAFETY: no MPI sees it.
        unsafe { Datatype::from_word(word) }
    }

    fn op(word: Word) -> Op {
        // SAFETY: no MPI sees it.
        unsafe { Op::from_word(word) }
    }

    fn call() -> Call {
        let side = |buffer| Side {
            buffer,
            count: 3,
            datatype: datatype(7),
            datatypes: 0,
            counts: 0,
            displacements: 0,
        };
        Call {
            operation: Operation::Allreduce,
            large: false,
            send: side(0x1000),
            receive: side(0x2000),
            op: op(5),
            root: 0,
        }
    }

    fn works_at(input: usize) -> Spaces {
        let extent = Extent {
            step: 1,
            first: 0,
            span: 1,
        };
        let unit = Unit {
            datatype: datatype(7),
            bytes: 1,
            extent,
            is_plain: true,
        };
        Spaces {
            unit,
            input,
            output: 0,
            scratch: 0,
            op: Op::ABSENT,
        }
    }

    #[test]
    fn a_call_that_differs_in_anything_is_not_taken_for_one_before() {
        let again = Again::default();
        again.add((call(), (works_at(1), None)));
        assert!(again.find(&call()).is_some());
        let changes: [fn(&mut Call); 8] = [
            |call| call.operation = Operation::Reduce,
            |call| call.large = true,
            |call| call.send.buffer += 8,
            |call| call.receive.buffer += 8,
            |call| call.send.count = 4,
            |call| call.receive.datatype = datatype(8),
            |call| call.op = op(6),
            |call| call.root = 1,
        ];
        for change in changes {
            let mut other = call();
            change(&mut other);
            assert!(again.find(&other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn a_call_too_many_takes_the_place_of_the_oldest() {
        let again = Again::default();
        let nth = |n: usize| Call {
            root: n as i32,
            ..call()
        };
        for n in 0..MOST_CALLS + 2 {
            again.add((nth(n), (works_at(n), None)));
        }
        let inputs =
            (0..MOST_CALLS + 2).map(|n| again.find(&nth(n)).map(|(spaces, _)| spaces.input));
        let expected = (0..MOST_CALLS + 2).map(|n| (n >= 2).then_some(n));
        assert!(inputs.eq(expected));
    }

    #[test]
    fn what_a_call_says_in_arrays_is_not_all_in_its_arguments() {
        assert!(call().is_whole());
        let (mut counts, mut types) = (call(), call());
        counts.receive.counts = 0x3000;
        types.operation = Operation::Alltoallw;
        assert!(!counts.is_whole() && !types.is_whole());
    }
}
