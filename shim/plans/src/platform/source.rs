//! Choice of the job's platform: the file that fits, or a measurement.

use std::path::Path;

use once_cell::sync::OnceCell;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use treepie_base::{FileError, Header};
use treepie_mpi::Comm;
use treepie_mpi::native::{Native, NativeError};
use treepie_mpi::share::{Group, Members, ShareError, share};
use treepie_platform::file::PlatformFile;
use treepie_platform::probe::{Options, Report, check, complete, probe};
use treepie_platform::{
    GivenPlatform, Identity, Inside, Mismatch, PartialPlatform, Platform, PlatformError, processors,
};
use treepie_process::log;
use treepie_process::machine;

use crate::platform::wire::Wire;

/// Known platform, and whether it may be measured; the same on all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlatformSource {
    /// A platform file, if one is named.
    pub file: Option<File>,
    /// True if it is measured if no file fits.
    pub probe: bool,
}

/// Platform file that is named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text; `None` if it does not exist yet, and is written when the platform is measured.
    pub text: Option<String>,
}

/// Reason why there is no platform.
#[derive(Debug, Error)]
pub enum PlatformUnknown {
    /// A native call failed, or shared data did not arrive.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The platform file is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// The platform file does not match the job's hosts.
    #[error("{file}: {mismatch}")]
    Mismatch {
        /// The file.
        file: String,
        /// Reason.
        mismatch: Mismatch,
    },
    /// Ranks are bound to parts of hosts that the platform's hosts lack.
    #[error(
        "the platform does not fit what ranks are bound to: {0}; measure it with `treepie probe`"
    )]
    Bound(#[from] PlatformError),
    /// The measurement failed.
    #[error("probe: the platform could not be measured; measure it with `treepie probe`")]
    Unmeasured,
}

impl From<NativeError> for PlatformUnknown {
    fn from(error: NativeError) -> Self {
        PlatformUnknown::Share(error.into())
    }
}

/// Time limit of the measurement in seconds, since the application waits.
const BUDGET: f64 = 20.0;
/// Factor by which latencies may differ from those of a file: other clusters differ by more, a busy
/// machine by less.
const FACTOR: f64 = 3.0;

/// Returns the identity of this process's location.
pub fn identity(native: &Native) -> Identity {
    let system = Path::new(processors::SYSTEM);
    processors::identity(system, native.processor_name(), &machine::cores())
}

/// Returns the platform for the ranks of `world`, with these locations; `None` if none is known and
/// it may not be measured. Collective, and the same on all ranks.
///
/// # Errors
/// A file that does not fit if it may not be measured; a call that failed.
pub fn settle(
    native: &Native,
    world: Comm,
    ranks: &[Identity],
    known: &PlatformSource,
) -> Result<Option<Platform>, PlatformUnknown> {
    let names: Vec<String> = ranks.iter().map(|rank| rank.host.clone()).collect();
    let of_file = match known.file.as_ref() {
        Some(File {
            name,
            text: Some(text),
        }) => Some((name, fitting(name, text, &names)?)),
        _ => None,
    };
    let platform = match (of_file, known.probe) {
        (None, false) => return Ok(None),
        (Some((_, Ok(GivenPlatform::Complete(platform)))), false) => platform,
        (Some((name, Err(mismatch))), false) => {
            return Err(PlatformUnknown::Mismatch {
                file: name.clone(),
                mismatch,
            });
        }
        (of_file, _) => {
            // On a private communicator, which has no messages of the application.
            let private = native.split(world, native.rank(world)?)?;
            native.return_errors(private.handle())?;
            checked_or_measured(native, private.handle(), of_file, known)?
        }
    };
    // The launcher may bind ranks differently than when it was measured.
    Ok(Some(platform.with_inside(Inside::of(ranks))?))
}

/// Returns the platform of a file for a job on these hosts, or why it does not fit.
fn fitting(
    name: &str,
    text: &str,
    names: &[String],
) -> Result<Result<GivenPlatform, Mismatch>, FileError> {
    let given = PlatformFile::given(Path::new(name), text)?;
    Ok(given.for_job(names))
}

/// Returns the platform of the file if a few latencies match it; otherwise one that is measured
/// now, as far as the file lacks it.
fn checked_or_measured(
    native: &Native,
    private: Comm,
    of_file: Option<(&String, Result<GivenPlatform, Mismatch>)>,
    known: &PlatformSource,
) -> Result<Platform, PlatformUnknown> {
    let mut wire = Wire::new(native, private)?;
    let members = Members::new(native, private)?;
    let is_first = members.rank() == 0;
    let mut lacking: Option<PartialPlatform> = None;
    if let Some((name, fitting)) = of_file {
        // All ranks have seen the same names.
        let (fitting, answer) = match fitting {
            Ok(GivenPlatform::Partial(partial)) => {
                lacking = Some(partial);
                (None, None)
            }
            Ok(GivenPlatform::Complete(platform)) => {
                let answer = check(&mut wire, &platform, FACTOR);
                (Some(platform), answer)
            }
            Err(mismatch) => (None, Some(Err(mismatch))),
        };
        if is_first && let Some(Err(mismatch)) = &answer {
            log::warn(&format!("{name}: {mismatch}; it is measured for this run"));
        }
        let fits = share(&members, is_first.then_some(answer == Some(Ok(()))))?;
        if let (Some(platform), true) = (fitting, fits) {
            return Ok(platform);
        }
    }
    let options = Options {
        budget: BUDGET,
        ..Options::default()
    };
    let own = identity(native);
    let report = match &lacking {
        Some(known) => complete(&mut wire, &own, &options, known),
        None => probe(&mut wire, &own, &options),
    };
    let report = report.ok().flatten();
    let text = report.and_then(|report| written(native, report, known));
    match share(&members, is_first.then_some(text))? {
        Some(text) => {
            let file = PlatformFile::from_text(Path::new(NAME), &text)?;
            Ok(MEASURED.get_or_init(|| file).platform.clone())
        }
        None => Err(PlatformUnknown::Unmeasured),
    }
}

/// Name of a platform without a file, in messages.
const NAME: &str = "the measured platform";

/// Platform that this job has measured, on all ranks.
static MEASURED: OnceCell<PlatformFile> = OnceCell::new();

/// Returns the platform that this job has measured, if it has.
pub fn measured() -> Option<&'static PlatformFile> {
    MEASURED.get()
}

/// Returns rank 0's platform as the text of a file, and writes it if a file was named that does not
/// exist yet.
fn written(native: &Native, report: Report, known: &PlatformSource) -> Option<String> {
    let file = PlatformFile {
        header: Header::now(format!("treepie {}", env!("CARGO_PKG_VERSION"))),
        mpi: Some(native.library_version()),
        platform: report.platform,
    };
    let missing = known.file.as_ref().filter(|file| file.text.is_none());
    let mut place = String::new();
    if let Some(missing) = missing {
        match file.write(Path::new(&missing.name)) {
            Ok(()) => place = format!(", kept in {}", missing.name),
            Err(error) => log::error(&error.to_string()),
        }
    }
    if let Some(probing) = &file.platform.contents().probing {
        let clusters = file.platform.clusters().len();
        log::info(&format!(
            "the platform was measured in {:.1} s: {clusters} cluster{}{place}",
            probing.seconds,
            if clusters == 1 { "" } else { "s" }
        ));
        for line in &probing.left_out {
            log::warn(line);
        }
    }
    file.to_text(Path::new(NAME)).ok()
}
