//! The end of a job: the profile is collected and written, and the native world
//! comes back. This runs when `MPI_Finalize` frees `MPI_COMM_SELF`: after the
//! application's own callbacks there, with MPI still whole, whatever name or
//! language finalisation was called by.

use std::path::Path;
use std::time::Duration;

use treepie_base::FileError;
use treepie_mpi::native::{Native, NativeError, native};
use treepie_mpi::share::BoundedMembers;
use treepie_mpi::{Comm, SUCCESS, Word, c_int};
use treepie_plans as collectives;
use treepie_process::guard::guarded;
use treepie_process::log;
use treepie_process::machine::{WRITING, read_hardware_and_devices, within};
use treepie_profile::{Profile, partial_profiles};
use treepie_record as record;
use treepie_record::collect::{CollectError, collect};

use super::decision::{Decision, Recording};
use super::guard_results::guard_results;
use super::{State, learning, meeting, monitor, partial, signals};
use crate::{one_sided, order, reorder, world};

/// `MPI_Comm_delete_attr_function` of the attribute that the session set on
/// `MPI_COMM_SELF`.
pub unsafe extern "C" fn on_finalize(
    _comm: Comm,
    _keyval: c_int,
    _value: Word,
    _extra: Word,
) -> c_int {
    if let (Some(native), Some(decision)) = (native(), State::end()) {
        guarded("finishing", || finish(native, &decision));
    }
    SUCCESS
}

fn finish(native: &Native, decision: &Decision) {
    // What is done here is no time of the application's.
    let elapsed = learning::elapsed();
    collectives::end_guards(native);
    one_sided::end_guards(native);
    order::end();
    if decision.recording().is_some() {
        record::end();
    }
    meeting::hold(native, |met| match met {
        Ok(members) => collect_all(members, decision, elapsed),
        Err(error) => give_up(decision, error),
    });
    if decision.recording().is_some() {
        monitor::stop();
        partial::disarm();
        signals::release();
    }
    reorder::end();
    one_sided::end();
    collectives::end(native, world::of_application(native));
    world::remove(native);
}

/// Collects what this job leaves. All processes are here.
fn collect_all(members: &BoundedMembers<'_>, decision: &Decision, elapsed: Option<Duration>) {
    if let Err(error) = order::write(members)
        && error.is_told_here()
    {
        log::error(&format!("the order could not be collected: {error}"));
    }
    if let Some(recording) = decision.recording() {
        monitor::stop();
        match write_profile(members, recording) {
            Ok(true) => (),
            Ok(false) => leave_partial(),
            Err(error) => {
                leave_partial();
                if error.is_told_here() {
                    log::error(&format!("the profile could not be collected: {error}"));
                }
            }
        }
    }
    if let Some(elapsed) = elapsed
        && let Err(error) = learning::end(members, elapsed)
    {
        log::info(&format!("nothing was learnt of this run: {error}"));
    }
}

/// Leaves the files of this rank where the others do not come.
fn give_up(decision: &Decision, error: &NativeError) {
    let recording = decision
        .recording()
        .filter(|recording| !recording.for_store);
    if recording.is_some() {
        leave_partial();
    }
    if error.is_told_here() {
        let left = recording.map_or(String::new(), |recording| {
            let directory = partial_profiles::directory_of(Path::new(&recording.output));
            format!("; what each rank counted is in {}", directory.display())
        });
        log::error(&format!(
            "nothing is collected at the end of the job: {error}{left}"
        ));
    }
}

fn leave_partial() {
    within(WRITING, "writing a partial profile", partial::write);
}

/// Writes a profile; one for a store without what names somebody.
fn write_to(output: &Path, profile: &Profile, for_store: bool) -> Result<(), FileError> {
    match for_store {
        true => profile.without_names().write(output),
        false => profile.write(output),
    }
}

/// Whether the profile is written. Until it is, an end of this process still
/// leaves its partial profile.
fn write_profile(
    members: &BoundedMembers<'_>,
    recording: &Recording,
) -> Result<bool, CollectError> {
    let output = Path::new(&recording.output);
    let write = |profile: Profile| {
        let (path, for_store) = (output.to_owned(), recording.for_store);
        let work = move || write_to(&path, &profile, for_store);
        match within(WRITING, "writing the profile", work) {
            Some(Ok(())) => {
                log::info(&format!("the profile is in {}", output.display()));
                // Partial profiles that were left meanwhile are not needed any more.
                partial_profiles::remove_directory(&partial_profiles::directory_of(output));
                true
            }
            // That nothing is learnt harms nobody.
            Some(Err(error)) if recording.for_store => {
                log::info(&error.to_string());
                false
            }
            Some(Err(error)) => {
                log::error(&error.to_string());
                false
            }
            None => {
                let (path, seconds) = (output.display(), WRITING.as_secs());
                log::error(&format!("{path}: could not be written within {seconds} s"));
                false
            }
        }
    };
    let found = guard_results();
    collect(
        members,
        &recording.run,
        &found,
        read_hardware_and_devices,
        write,
    )
}
