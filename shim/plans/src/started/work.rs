//! What an operation runs: a plan, or one that is made when leaders were told the sizes of the
//! ranks of their clusters. Being told, ranks wait for those of their own cluster alone, which tell
//! before they wait for anything.

use std::sync::Arc;

use treepie_collective::Algorithm;
use treepie_mpi::native::{Native, Requests};
use treepie_mpi::{Handle, Op, Request, c_int};
use treepie_record::Plan;

use crate::chosen::{Chosen, Key};
use crate::execute::Spaces;
use crate::ground::Ground;
use crate::plans;
use crate::telling::Telling;
use crate::unit::Unit;

/// What is run.
pub enum Work {
    /// This plan.
    Plan(Arc<Chosen>),
    /// One that needs sizes which leaders are told first.
    Sized(Box<SizedPlan>),
    /// Of each start of a persistent request what the guard says.
    Tried(Box<dyn Starts>),
}

impl Work {
    /// What is counted of it, where that is the same for all starts.
    pub fn run(&self) -> Option<Plan> {
        match self {
            Work::Plan(chosen) => Some(chosen.run),
            Work::Sized(plan) => Some(plan.run),
            Work::Tried(_) => None,
        }
    }
}

/// The starts of a persistent request of which each is run by the native MPI, or by a plan.
pub trait Starts: Send + Sync {
    /// Holds the native MPI's request, and the one that the application has got.
    fn hold(&self, native_request: Request, request: Request);

    /// Does what is due before a start, and says what runs it; the native MPI's is started.
    ///
    /// # Errors
    /// MPI's code.
    fn start(&self, native: &Native) -> Result<StartedBy, c_int>;

    /// Adds nanoseconds that the start, or a call that may complete it, took; and ends it where it
    /// is complete.
    fn took(&self, nanoseconds: u64, is_complete: bool);

    /// Nanoseconds at which the start that is measured began.
    fn measured_since(&self) -> Option<u64>;

    /// Notes that the start has failed on this rank.
    fn fail(&self);

    /// Ends it: the request is freed, or MPI is about to end, and it is complete on this rank. So
    /// all ranks have begun what is under way.
    fn end(&self, native: &Native);
}

/// Runner of one start.
pub enum StartedBy {
    /// The native MPI, which has started this.
    Native(Requests),
    /// A plan.
    Plan(Arc<Chosen>),
}

/// A plan that needs sizes which leaders are told first.
pub struct SizedPlan {
    /// How they are.
    pub telling: Telling,
    /// The call as this rank alone knows it.
    key: Key,
    /// The algorithm, and the largest message in bytes.
    named: (&'static Algorithm, u64),
    run: Plan,
}

impl SizedPlan {
    /// Of a call that an algorithm runs in messages of so many bytes; `None` where MPI tells all
    /// sizes to all ranks.
    pub fn new(ground: &Ground, key: Key, named: (&'static Algorithm, u64)) -> Option<Self> {
        let telling = Telling::new(ground, (key.operation, key.root), &key.amount)?;
        let segment = plans::guarded_segment(ground, &key, named);
        let run = plans::run(&named.0.into(), segment, (key.unit, key.ordered));
        Some(SizedPlan {
            telling,
            key,
            named: (named.0, segment),
            run,
        })
    }

    /// The plan of the call, when this rank was told these words.
    pub fn chosen(&self, ground: &Ground, words: &[u64]) -> Option<Arc<Chosen>> {
        let key = Key {
            amount: self.telling.learn(ground, words),
            ..self.key.clone()
        };
        let (named, segment) = self.named;
        ground.plan(key, |key| {
            let reason = "leaders are told sizes";
            plans::tell(ground, key, None, named.name, segment, reason);
            plans::of_key(ground, key, &named.into(), segment)
        })
    }
}

/// Sizes on their way to leaders: what this rank tells, and what it is told.
#[derive(Default)]
pub struct LeaderSizes {
    row: Vec<u64>,
    pub told: Vec<u64>,
}

impl LeaderSizes {
    /// Those of a call, of which none was told yet.
    pub fn new(telling: &Telling) -> Self {
        LeaderSizes {
            row: telling.row.clone(),
            told: vec![0; telling.words],
        }
    }

    /// What the plan that tells them works on.
    pub fn spaces(&mut self, native: &Native) -> Spaces {
        Spaces {
            unit: Unit::byte(native),
            input: self.row.as_ptr() as usize,
            output: self.told.as_mut_ptr() as usize,
            scratch: 0,
            op: Op::ABSENT,
        }
    }
}
