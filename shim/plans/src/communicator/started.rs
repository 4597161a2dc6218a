//! What a communicator of ours has for collectives that are started on it: their tags, and what it
//! hands on where it outlasts its owner.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use treepie_choice::{Candidate, Challenger, Choice, Progress};
use treepie_guard::CellKey;
use treepie_mpi::Comm;
use treepie_mpi::native::OwnComm;

use super::{Communicator, Key};
use crate::guard::Guarding;
use crate::place::Place;
use crate::started::Started;

/// What one of ours takes over from one that was left: the MPI's communicator, and the numbers of
/// its calls, so that no tag is met again.
pub struct Kept {
    pub(super) private: OwnComm,
    pub(super) calls: AtomicU32,
    pub(super) started: Started,
    pub(super) number: u64,
}

impl Kept {
    /// A new communicator of the MPI's, which has no number yet.
    pub fn new(private: OwnComm) -> Self {
        Kept {
            private,
            calls: AtomicU32::new(0),
            started: Started::default(),
            number: 0,
        }
    }
}

impl Communicator {
    /// The same with the number on which its processes agreed, unless it has one.
    pub fn with_number(self, number: u64) -> Self {
        Communicator {
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
        let Communicator {
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

    /// Where a started collective runs, as [`Communicator::next_call`].
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

    /// Whether the guard has to see all calls here ([`Guarding::counts_all`]).
    pub fn counts_all(&self) -> bool {
        self.guard.as_ref().is_some_and(Guarding::counts_all)
    }

    /// The plans that the guard tries for started calls of a cell, the best first.
    pub fn challengers_started(&self, key: &CellKey, progress: Progress) -> Vec<Challenger> {
        let root = key.root.unwrap_or(0) as usize;
        let call = (key.operation, key.bytes, root);
        let mut chooser = self.chooser.lock();
        let choice = chooser.choose_started(call, key.ordered, &self.clusters, progress);
        let mut all = chooser.challengers(&choice, key.bytes);
        let eager = chooser.eager_limit();
        for challenger in &mut all {
            if let Candidate::Plan { segment, .. } = &mut challenger.candidate {
                *segment = eager.min(*segment);
            }
        }
        all
    }

    /// The choice for a started collective, as [`Communicator::choose`].
    pub fn choose_started(&self, key: &Key, bytes: Option<u64>, progress: Progress) -> Arc<Choice> {
        let call = (key.operation, bytes, key.root);
        let mut chooser = self.chooser.lock();
        chooser.choose_started(call, key.ordered, &self.clusters, progress)
    }
}
