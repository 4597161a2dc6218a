//! Calls equal to an earlier one on a communicator: the inputs of its decision are cached, so that
//! no MPI query is needed.
//!
//! Only calls are cached whose data are used in place, with datatypes and reductions that the MPI
//! predefines: the meaning of such a handle never changes. The cache is this rank's own: a call
//! that is not cached is run in the same way.

use std::sync::Arc;

use treepie_collective::Operation;
use treepie_guard::CellKey;
use treepie_mpi::native::Native;
use treepie_mpi::{Call, Datatype, Handle, Op, c_int};

use super::chosen::Chosen;
use super::execute::Spaces;
use super::unit::Unit;

/// Maximum number of different calls that are cached for a communicator.
const MOST: usize = 16;

/// Inputs of the decision how a call is run, except for the addresses of its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    operation: Operation,
    root: c_int,
    op: Op,
    send: (i64, Datatype),
    receive: (i64, Datatype),
}

impl Form {
    /// Returns the form of a call; `None` if each rank has its own counts, or for data in place.
    #[inline]
    pub fn new(native: &Native, call: &Call) -> Option<Form> {
        let (send, receive) = (&call.send, &call.receive);
        let in_place = native.abi.in_place;
        let is_apart = send.buffer != in_place
            && receive.buffer != in_place
            && (send.buffer != receive.buffer || !call.operation.reduces());
        let has_one = call.operation.tells_all_sizes()
            && send.counts.is_absent()
            && receive.counts.is_absent();
        (has_one && is_apart).then_some(Form {
            operation: call.operation,
            root: call.root,
            op: call.op,
            send: (send.count, send.datatype),
            receive: (receive.count, receive.datatype),
        })
    }

    /// True if its handles are predefined by the MPI.
    fn is_lasting(&self, native: &Native) -> bool {
        let is_lasting = |word| word == 0 || native.is_lasting(word);
        is_lasting(self.op.word())
            && is_lasting(self.send.1.word())
            && is_lasting(self.receive.1.word())
    }
}

/// The MPI's answers for a form.
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    /// True if operands must stay in the order of ranks.
    pub ordered: bool,
    /// The guard's cell, if there is a guard.
    pub key: Option<CellKey>,
    /// True if the guard has left its cell to the native MPI for good.
    pub is_left: bool,
}

/// Plan of a form.
#[derive(Debug)]
pub struct Planned {
    /// The guard's plan, as algorithm and largest message in bytes; `None` without a guard.
    pub guarded: Option<(&'static str, u64)>,
    /// Unit that it counts.
    pub unit: Unit,
    /// Plan that is run.
    pub chosen: Arc<Chosen>,
}

impl Planned {
    /// Returns the memory of a call; the scratch buffer comes with the plan.
    pub fn spaces(&self, call: &Call) -> Spaces {
        let (input, output) = match call.operation {
            Operation::Bcast => (0, call.send.buffer),
            _ => (call.send.buffer, call.receive.buffer),
        };
        Spaces {
            unit: self.unit,
            input,
            output,
            scratch: 0,
            op: call.op,
        }
    }
}

/// Cache of a communicator's calls, the most recent first.
#[derive(Debug, Default)]
pub struct Repeated(Vec<(Form, Answers, Option<Planned>)>);

impl Repeated {
    #[inline]
    fn find(&self, form: &Form) -> Option<usize> {
        self.0.iter().position(|(known, ..)| known == form)
    }

    /// Returns the answers for a form.
    #[inline]
    pub fn answers(&self, form: &Form) -> Option<Answers> {
        self.find(form).map(|place| self.0[place].1)
    }

    /// Caches the answers for a form whose handles are permanent.
    pub fn learn(&mut self, native: &Native, form: Form, answers: Answers) {
        if form.is_lasting(native) && self.find(&form).is_none() {
            native.look_at_heap();
            self.0.truncate(MOST - 1);
            self.0.insert(0, (form, answers, None));
        }
    }

    /// Notes that the guard has left the cell of a form to the native MPI for good.
    pub fn leave(&mut self, form: &Form) {
        if let Some(place) = self.find(form) {
            self.0[place].1.is_left = true;
        }
    }

    /// Returns the plan of a form, if the guard selects the same one.
    #[inline]
    pub fn plan(&self, form: &Form, guarded: Option<(&'static str, u64)>) -> Option<&Planned> {
        let (_, _, planned) = &self.0[self.find(form)?];
        planned.as_ref().filter(|known| known.guarded == guarded)
    }

    /// Caches the plan of a form whose answers are known.
    pub fn keep(&mut self, form: &Form, planned: Planned) {
        if let Some(place) = self.find(form) {
            self.0[place].2 = Some(planned);
        }
    }
}
