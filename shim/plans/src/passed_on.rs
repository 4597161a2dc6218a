//! Calls that are left to the native MPI under a guard, as long as they are there. Another tool
//! behind this library may receive them as `MPI_X`, and call `PMPI_X`, which is this library's
//! again: that is the same call, which the guard has counted, and it goes straight on.

use std::cell::Cell;

use treepie_collective::Operation;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Comm, Handle, Word, c_int};

/// Identity of a call: a tool passes on its communicator and the addresses of its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    operation: Operation,
    comm: Word,
    buffers: [Word; 2],
    root: c_int,
}

impl Identity {
    fn of(comm: Word, call: &Call) -> Self {
        Identity {
            operation: call.operation,
            comm,
            buffers: [call.send.buffer, call.receive.buffer],
            root: call.root,
        }
    }
}

thread_local! {
    /// The call of this thread that the native MPI has.
    static PASSED_ON: Cell<Option<Identity>> = const { Cell::new(None) };
}

/// Restores the outer call, also if the MPI unwinds the stack.
struct Outer(Option<Identity>);

impl Drop for Outer {
    fn drop(&mut self) {
        PASSED_ON.set(self.0);
    }
}

/// Runs the native MPI's own collective for a call on `comm`.
#[inline]
pub fn pass_on<R>(native: &Native, comm: Comm, call: &Call, run: impl FnOnce() -> R) -> R {
    within(Identity::of(native.plain(comm).word(), call), run)
}

fn within<R>(call: Identity, run: impl FnOnce() -> R) -> R {
    let _outer = Outer(PASSED_ON.replace(Some(call)));
    run()
}

/// True if this thread has passed on this very call, and has it back.
#[inline]
pub fn is_back(native: &Native, comm: Comm, call: &Call) -> bool {
    let under_way = PASSED_ON.get();
    under_way.is_some_and(|one| one == Identity::of(native.plain(comm).word(), call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_call_is_under_way_again_after_an_inner_one() {
        let call = |comm| Identity::of(comm, &Call::NONE);
        within(call(1), || {
            within(call(2), || assert_eq!(PASSED_ON.get(), Some(call(2))));
            assert_eq!(PASSED_ON.get(), Some(call(1)));
        });
        assert_eq!(PASSED_ON.get(), None);
    }
}
