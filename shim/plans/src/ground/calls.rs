//! Calls on a communicator: the places and tags of their messages, and whose it is.

use std::sync::atomic::Ordering;

use treepie_mpi::Comm;

use super::kept::Kept;
use super::state::Ground;
use crate::place::Place;

impl Ground {
    /// Place in which the plan of a call runs. To be asked once for each call, before anything that
    /// one process alone may find out: all processes count alike.
    pub fn next_call(&self) -> Place {
        // One thread at a time is in a collective on a communicator.
        let number = self.calls.load(Ordering::Relaxed);
        self.calls.store(number.wrapping_add(1), Ordering::Relaxed);
        Place {
            tags: self.place.tags.of_call(number),
            call: number,
            ..self.place
        }
    }

    /// The same with the number on which its processes agreed, unless it has one.
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

    /// Its number, the same on all its processes.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether its processes have these ranks in the application's world.
    pub fn is_of(&self, ranks: &[usize]) -> bool {
        self.ranks == ranks
    }

    /// What another one takes over from this one, on which nothing is open.
    pub fn into_kept(self) -> Kept {
        let Ground {
            private,
            calls,
            started,
            number,
            ..
        } = self;
        started.take_over();
        Kept {
            private,
            calls,
            started,
            number,
        }
    }

    /// Whether started collectives can be replaced here, as all processes know alike: none has to
    /// ask others about data in an accelerator's memory, and there are tags for persistent ones.
    pub fn can_start(&self) -> bool {
        !self.may_have_devices && self.place.tags.are_many()
    }

    /// Place in which a started collective runs, as [`Ground::next_call`].
    ///
    /// Another call may have the same tags later, while this one is under way: all its messages are
    /// sent, and all its receives are posted, before those of later calls, which MPI keeps apart by
    /// that.
    pub fn next_started(&self) -> Place {
        self.started.begin();
        Place {
            is_started: true,
            ..self.next_call()
        }
    }

    /// Where one runs whose messages wait for others, and its number among those; `None` where its
    /// tags are still in use here.
    pub fn next_waiting(&self, place: Place) -> Option<(Place, u32)> {
        let tags = self.place.tags;
        let number = self.started.next_waiting(tags.quarter())?;
        let tags = tags.of_waiting(number);
        Some((Place { tags, ..place }, number))
    }

    /// The one of this number has ended here.
    pub fn end_waiting(&self, number: u32) {
        self.started.end_waiting(number);
    }

    /// Where a new persistent request runs; `None` where there are no tags any more, as all
    /// processes know alike.
    pub fn next_persistent(&self) -> Option<Place> {
        let number = self.started.next_persistent();
        Some(Place {
            tags: self.place.tags.of_persistent(number)?,
            is_started: true,
            ..self.place
        })
    }

    /// The application's communicator `comm` is no more. Whether ours has to stay, as all
    /// processes know alike: collectives were started here, which may still be under way.
    pub fn leave(&self) -> bool {
        self.started.leave()
    }

    /// Whose error handler is told of what went wrong in a collective on `comm`.
    pub fn told(&self, comm: Comm) -> Comm {
        match self.started.is_left() {
            true => self.place.comm,
            false => comm,
        }
    }
}
