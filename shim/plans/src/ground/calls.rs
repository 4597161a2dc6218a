//! Calls on a communicator: their tags, and the ownership of the communicator.

use std::sync::atomic::Ordering;

use treepie_mpi::Comm;

use super::communicator_parts::CommunicatorParts;
use super::state::Ground;
use crate::call_context::CallContext;

impl Ground {
    /// Returns the place in which the plan of a call runs. To be called once for each call, before
    /// any step that may fail on a single process: all processes count alike.
    pub fn next_call(&self) -> CallContext {
        // Only one thread at a time is in a collective on a communicator.
        let number = self.calls.load(Ordering::Relaxed);
        self.calls.store(number.wrapping_add(1), Ordering::Relaxed);
        CallContext {
            tags: self.place.tags.of_call(number),
            call: number,
            ..self.place
        }
    }

    /// Returns the ground with the number on which its processes agreed, unless it has one.
    pub fn with_number(self, number: u64) -> Self {
        Ground {
            number: if self.number == 0 {
                number
            } else {
                self.number
            },
            ..self
        }
    }

    /// Returns its number, the same on all its processes.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// True if its processes have these ranks in the application's world.
    pub fn is_of(&self, ranks: &[usize]) -> bool {
        self.ranks == ranks
    }

    /// Returns the parts that another ground takes over from this one, without active operations.
    pub fn into_kept(self) -> CommunicatorParts {
        let Ground {
            private,
            calls,
            started,
            number,
            ..
        } = self;
        started.take_over();
        CommunicatorParts {
            private,
            calls,
            started,
            number,
        }
    }

    /// True if started collectives can be replaced here; the same on all processes: none has to
    /// communicate about data in an accelerator's memory, and there are tags for persistent ones.
    pub fn can_start(&self) -> bool {
        !self.may_have_devices && self.place.tags.are_many()
    }

    /// Returns the place in which a started collective runs, as [`Ground::next_call`].
    ///
    /// Another call may use the same tags later, while this one is active: all messages of this one
    /// are sent, and all its receives are posted, before those of later calls, and MPI keeps their
    /// order.
    pub fn next_started(&self) -> CallContext {
        self.started.begin();
        CallContext {
            is_started: true,
            ..self.next_call()
        }
    }

    /// Returns the place of a collective whose messages wait for others, and its number among
    /// those; `None` if its tags are still in use here.
    pub fn next_waiting(&self, place: CallContext) -> Option<(CallContext, u32)> {
        let tags = self.place.tags;
        let number = self.started.next_waiting(tags.quarter())?;
        let tags = tags.of_waiting(number);
        Some((CallContext { tags, ..place }, number))
    }

    /// Notes that the collective of this number has ended here.
    pub fn end_waiting(&self, number: u32) {
        self.started.end_waiting(number);
    }

    /// Returns the place of a new persistent request; `None`, on all processes, if no tags are
    /// left.
    pub fn next_persistent(&self) -> Option<CallContext> {
        let number = self.started.next_persistent();
        Some(CallContext {
            tags: self.place.tags.of_persistent(number)?,
            is_started: true,
            ..self.place
        })
    }

    /// Notes that the application's communicator `comm` has been freed. True, on all processes, if
    /// the private one must stay: collectives were started here, which may still be active.
    pub fn leave(&self) -> bool {
        self.started.leave()
    }

    /// Returns the communicator whose error handler is called for an error of a collective on
    /// `comm`.
    pub fn told(&self, comm: Comm) -> Comm {
        match self.started.is_left() {
            true => self.place.comm,
            false => comm,
        }
    }
}
