//! Work of an operation: a plan, or one that is made after leaders have received the sizes of the
//! ranks of their clusters. For these sizes, ranks wait only for those of their own cluster, which
//! send them before they wait for any message.

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

/// Work to run.
pub enum Work {
    /// This plan.
    Plan(Arc<Chosen>),
    /// One that needs sizes which leaders receive first.
    Sized(Box<SizedPlan>),
    /// For each start of a persistent request, the candidate that the guard selects.
    Tried(Box<dyn Starts>),
}

impl Work {
    /// Returns its plan for the counters, if it is the same for all starts.
    pub fn run(&self) -> Option<Plan> {
        match self {
            Work::Plan(chosen) => Some(chosen.run),
            Work::Sized(plan) => Some(plan.run),
            Work::Tried(_) => None,
        }
    }
}

/// Starts of a persistent request, each of which is run by the native MPI, or by a plan.
pub trait Starts: Send + Sync {
    /// Stores the native MPI's request, and the application's.
    fn hold(&self, native_request: Request, request: Request);

    /// Does the work that is due before a start, and returns its runner; a native request is
    /// started.
    ///
    /// # Errors
    /// MPI's code.
    fn start(&self, native: &Native) -> Result<StartedBy, c_int>;

    /// Adds nanoseconds of the start, or of a call that may complete it; ends the measurement if it
    /// is complete.
    fn took(&self, nanoseconds: u64, is_complete: bool);

    /// Returns the time in nanoseconds at which the measured start began.
    fn measured_since(&self) -> Option<u64>;

    /// Notes that the start has failed on this rank.
    fn fail(&self);

    /// Ends the trial: the request is freed, or MPI is about to end, and it is complete on this
    /// rank. So all ranks have begun the pending exchange.
    fn end(&self, native: &Native);
}

/// Runner of one start.
pub enum StartedBy {
    /// The native MPI, which has started these requests.
    Native(Requests),
    /// A plan.
    Plan(Arc<Chosen>),
}

/// Plan that needs sizes which leaders receive first.
pub struct SizedPlan {
    /// Exchange by which they receive them.
    pub telling: Telling,
    /// The call as this rank alone knows it.
    key: Key,
    /// The algorithm, and the largest message in bytes.
    named: (&'static Algorithm, u64),
    run: Plan,
}

impl SizedPlan {
    /// Creates it for a call that an algorithm runs in messages of limited size; `None` if MPI
    /// gives all sizes to all ranks.
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

    /// Returns the plan of the call, after this rank has received these words.
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

/// Sizes on their way to leaders: words that this rank sends, and those that it receives.
#[derive(Default)]
pub struct LeaderSizes {
    row: Vec<u64>,
    pub told: Vec<u64>,
}

impl LeaderSizes {
    /// Creates the sizes of a call, none of them received yet.
    pub fn new(telling: &Telling) -> Self {
        LeaderSizes {
            row: telling.row.clone(),
            told: vec![0; telling.words],
        }
    }

    /// Returns the memory of the plan that sends them.
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
