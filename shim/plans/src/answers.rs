//! Answers of the native MPI about a call, which decide how it is run.

use treepie_collective::Operation;
use treepie_mpi::Call;
use treepie_mpi::native::Native;
use treepie_profile::settings::Runner;

use crate::communicator::Communicator;
use crate::guard;
use crate::repeated::{Answers, Form};
use crate::setup::Setup;

/// Returns the MPI's answers about a call of this runner, and caches them for equal calls if it has
/// a form; `None` if the MPI does not reduce the datatype with the operation.
pub fn ask(
    native: &Native,
    setup: &Setup,
    communicator: &Communicator,
    runner: &Runner,
    (call, form): (&Call, Option<Form>),
) -> Option<Answers> {
    let mut ordered = false;
    if call.operation.reduces() {
        if !setup.can_reduce(native, call) {
            return None;
        }
        ordered = setup.reproducible || !native.is_commutative(call.op).ok()?;
    }
    let is_guarded = is_guarded(setup, communicator, runner, call.operation);
    let key = is_guarded.then(|| guard::key(native, call, communicator, ordered));
    let answers = Answers {
        ordered,
        key,
        is_left: false,
    };
    if let Some(form) = form {
        let mut workplace = communicator.workplace().lock();
        workplace.repeated.learn(native, form, answers);
    }
    Some(answers)
}

/// True if the guard measures which alternative is faster: for algorithms that are chosen
/// automatically, and may change.
fn is_guarded(
    setup: &Setup,
    communicator: &Communicator,
    runner: &Runner,
    operation: Operation,
) -> bool {
    communicator.guard.is_some()
        && *runner == Runner::Auto
        && !(setup.reproducible && operation.reduces())
}
