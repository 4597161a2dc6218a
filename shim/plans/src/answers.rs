//! Answers of the native MPI about a call, which decide how it is run.

use treepie_collective::Operation;
use treepie_mpi::Call;
use treepie_mpi::native::Native;
use treepie_profile::settings::Runner;

use crate::communicator::Communicator;
use crate::guard;
use crate::repeated::{Answers, Form};
use crate::setup::Setup;

/// Answers of the MPI about a call that this runner does, and about those like it if it has a form;
/// `None` if it does not reduce the datatype with the operation.
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

/// Whether it is measured which way is quicker: for what is chosen, and may change.
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
