//! Counting of traffic, and its profile.

use std::path::Path;

use treepie_base::{FileError, Rank};
use treepie_mpi::share::{BoundedMembers, ShareError};
use treepie_mpi::system::Detail;
use treepie_plans as collectives;
use treepie_process::log;
use treepie_process::machine::{WRITING, read_hardware, within};
use treepie_profile::{Profile, partial_profiles};
use treepie_record as record;
use treepie_record::collect::{CollectError, collect};

use super::part::{End, Part, Start};
use crate::session::decision::Recording;
use crate::session::guard_results::guard_results;
use crate::session::partial::leave_partial;
use crate::session::{errors, exits, meeting, monitor, partial, signals};
use crate::world;

/// Notification about the end of the job, where all ranks meet.
pub struct Meeting;

impl Part for Meeting {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        if start.plan.needs_an_end() {
            start.native.at_finalize(start.on_finalize)?;
        }
        if start.plan.collects() {
            meeting::prepare(start.native)?;
        }
        Ok(())
    }
}

/// Counting of traffic, and writing of a profile.
pub struct Counting;

impl Part for Counting {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let Some(recording) = &mut start.plan.recording else {
            return Ok(());
        };
        // Known now, and equal on all ranks.
        recording.run.locality = locality_text();
        let rank = Rank(start.native.rank(world::of_application(start.native))?);
        if recording.times {
            record::begin_timing();
        }
        record::begin(recording.interval);
        if !recording.for_store {
            if recording.parts {
                partial::arm(recording, rank);
            }
            monitor::start(recording, rank);
            signals::catch();
            exits::watch();
        }
        Ok(())
    }

    fn stop(&self, end: &mut End<'_>) {
        if end.plan.recording.is_some() {
            record::end();
        }
    }

    fn collect(&self, members: &BoundedMembers<'_>, end: &End<'_>) {
        let Some(recording) = &end.plan.recording else {
            return;
        };
        monitor::stop();
        match write_profile(members, recording) {
            Ok(true) => (),
            Ok(false) => leave_partial(),
            Err(error) => {
                leave_partial();
                if error.is_reported_here() {
                    log::error(&format!("the profile could not be collected: {error}"));
                }
            }
        }
    }

    fn end(&self, end: &End<'_>) {
        if end.plan.recording.is_some() {
            monitor::stop();
            partial::disarm();
            signals::release();
        }
    }
}

/// Handling of fatal errors: partial profiles are written, and errors on W' end the job like those
/// on the world.
pub struct Errors;

impl Part for Errors {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let native = start.native;
        if start.plan.recording.is_some() || world::of_application(native) != native.world {
            errors::watch(native)?;
        }
        Ok(())
    }
}

/// Returns the locality of the ranks, as plans see it, in the format of profiles.
fn locality_text() -> Option<String> {
    let text = treepie_profile::locality_text(collectives::locality()?);
    text.inspect_err(|error| log::error(&error.to_string()))
        .ok()
}

/// Writes a profile; one for a store without personal data.
fn write_to(output: &Path, profile: &Profile, for_store: bool) -> Result<(), FileError> {
    match for_store {
        true => profile.without_names().write(output),
        false => profile.write(output),
    }
}

/// Writes the profile; true on success. Until it is written, an end of this process still writes
/// its partial profile.
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
                // Partial profiles that were written meanwhile are no longer needed.
                partial_profiles::remove_directory(&partial_profiles::directory_of(output));
                true
            }
            // A missing profile for the store is harmless.
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
        || read_hardware(Detail::Devices),
        write,
    )
}
