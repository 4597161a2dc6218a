//! End of a job: the profile is collected and written, and the native world is restored. This runs
//! when `MPI_Finalize` frees `MPI_COMM_SELF`: after the application's own callbacks there, with MPI
//! still intact, independently of the name and language of the finalising call.

use std::path::Path;

use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_profile::partial_profiles;

use super::decision::Plan;
use super::meeting;
use super::partial::leave_partial;
use super::parts::{End, PARTS};
use super::state::State;

/// `MPI_Comm_delete_attr_function` of the attribute that the session set on
/// `MPI_COMM_SELF`.
pub unsafe extern "C" fn on_finalize(
    _comm: Comm,
    _keyval: c_int,
    _value: Word,
    _extra: Word,
) -> c_int {
    if let (Some(native), Some(plan)) = (native(), State::end()) {
        guarded("finishing", || finish(native, &plan));
    }
    SUCCESS
}

fn finish(native: &Native, plan: &Plan) {
    let mut end = End {
        native,
        plan,
        elapsed: None,
    };
    PARTS.iter().rev().for_each(|part| part.stop(&mut end));
    meeting::hold(native, |met| match met {
        Ok(members) => PARTS.iter().for_each(|part| part.collect(members, &end)),
        Err(error) => give_up(plan, error),
    });
    PARTS.iter().rev().for_each(|part| part.end(&end));
}

/// Writes the files of this rank if the other ranks do not come.
fn give_up(plan: &Plan, error: &NativeError) {
    let recording = plan.recording.as_ref();
    let recording = recording.filter(|recording| !recording.for_store);
    if recording.is_some() {
        leave_partial();
    }
    if error.is_reported_here() {
        let left = recording.map_or(String::new(), |recording| {
            let directory = partial_profiles::directory_of(Path::new(&recording.output));
            format!("; what each rank counted is in {}", directory.display())
        });
        log::error(&format!(
            "nothing is collected at the end of the job: {error}{left}"
        ));
    }
}
