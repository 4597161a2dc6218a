//! Collectives that are replaced, as the settings request it.

use treepie_base::{check_writable, text};
use treepie_native::tuning::file::TuningFile;
use treepie_plans::CollectiveSettings;
use treepie_plans::platform::{File, PlatformSource};
use treepie_platform::file::PlatformFile;
use treepie_process::log;
use treepie_profile::GuardedCell;
use treepie_profile::settings::{Collectives, GuardMode, OneSided, Probe, Settings, Transport};

use super::request_error::RequestError;
use crate::one_sided::Gathering;

/// Returns the collectives that are replaced, with the known platform.
pub(super) fn wanted_collectives(
    settings: &Settings,
) -> Result<Option<CollectiveSettings>, RequestError> {
    let probe = settings.probe == Probe::Auto;
    if settings.collectives.all_native() {
        let is_guarded = settings.one_sided == OneSided::Auto;
        if !(is_guarded || matches!(settings.guard, None | Some(GuardMode::Off))) {
            log::warn(
                "guard: nothing is guarded, since all collectives are the MPI's own; set \
                 collectives",
            );
        }
        if settings.transport != Transport::default() {
            log::warn(
                "transport: no messages go that way, since all collectives are the MPI's own; set \
                 collectives",
            );
        }
        if probe {
            log::warn(
                "probe: nothing needs the platform, since all collectives are the MPI's own; set \
                 collectives, or measure it with `treepie probe`",
            );
        }
        return Ok(None);
    }
    let file = match &settings.platform {
        // Measured, and written to this file.
        Some(path) if probe && !path.exists() => {
            check_writable(path)?;
            Some((path, None))
        }
        Some(path) => {
            let text = text::read(path)?;
            // Read here as well, so that errors are reported before all other ranks wait for it.
            PlatformFile::given(path, &text)?;
            Some((path, Some(text)))
        }
        None => None,
    };
    let platform = PlatformSource {
        file: file.map(|(path, text)| File {
            name: path.display().to_string(),
            text,
        }),
        probe,
    };
    Ok(Some(CollectiveSettings {
        collectives: settings.collectives.to_string(),
        reproducible: settings.reproducible,
        clusters: settings.clusters.clone(),
        platform,
        guard: settings.guard(),
        transport: settings.transport,
        started: settings.started,
        known: tuned(settings),
        proven: Vec::new(),
    }))
}

/// Returns the plans that a tuning has proven, with which the guard's cells start. Errors in it
/// were reported before the MPI started.
fn tuned(settings: &Settings) -> Vec<GuardedCell> {
    let path = settings.tuning.as_ref();
    let path = path.filter(|_| settings.guard() != GuardMode::Off);
    let file = path.and_then(|path| TuningFile::read(path).ok());
    file.map_or(Vec::new(), |file| GuardedCell::of_tuning(&file.body))
}

/// Returns the small puts and accumulates that are held back. Those that must be measured first
/// are, whatever the guard on collectives does.
pub(super) fn wanted_gathering(settings: &Settings) -> Option<Gathering> {
    match settings.one_sided {
        OneSided::Native => None,
        OneSided::Gather => Some(Gathering::Always),
        OneSided::Auto => Some(Gathering::Guarded {
            adopts: settings.guard() != GuardMode::Report,
            known: Vec::new(),
        }),
    }
}

/// Returns those that are held back if a job learns: those with a measured gain, unless the guard
/// is off.
pub(super) fn learnt_gathering(settings: &Settings) -> Option<Gathering> {
    if settings.one_sided != OneSided::Native || settings.guard() == GuardMode::Off {
        return wanted_gathering(settings);
    }
    wanted_gathering(&Settings {
        one_sided: OneSided::Auto,
        ..settings.clone()
    })
}

/// Returns the collectives that are replaced if a job learns: with a platform, those that are
/// measured to be faster.
pub(super) fn learnt_collectives(
    settings: &Settings,
) -> Result<Option<CollectiveSettings>, RequestError> {
    let has_platform = settings.platform.is_some() || settings.probe == Probe::Auto;
    if !has_platform || !settings.collectives.all_native() {
        return wanted_collectives(settings);
    }
    wanted_collectives(&Settings {
        collectives: Collectives::all_auto(),
        ..settings.clone()
    })
}
