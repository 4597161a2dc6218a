//! hwloc's files, read by a process of their own: hwloc's reader is C, and a
//! process that gives it damaged files does not survive all of them.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use treepie_hwloc::{Machine, Source};

use treepie_launch::error::CommandError;
use treepie_launch::timed::{self, Answer};

/// The subcommand that reads a file and prints the machine's text.
pub const SUBCOMMAND: &str = "read-hwloc-file";

/// The largest machines that there are take some tens of milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// The machine that an hwloc XML file describes.
///
/// # Errors
/// What is wrong with the file, in one line that begins with its name.
pub fn read(path: &Path) -> Result<Machine, CommandError> {
    let failed = |reason: String| {
        CommandError::failed(format!(
            "{}: hwloc cannot read this XML file ({reason}): write it again with `lstopo machine.xml`",
            path.display()
        ))
    };
    let this = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let arguments = [OsStr::new(SUBCOMMAND), path.as_os_str()];
    let answer = timed::answer(&this, &arguments, LIMIT).map_err(|e| failed(e.to_string()))?;
    let Some(Answer { status, output, .. }) = answer else {
        return Err(failed(format!("its reader took over {LIMIT:?}")));
    };
    if let Some(signal) = status.signal() {
        return Err(failed(format!("its reader was ended by signal {signal}")));
    }
    let text = String::from_utf8_lossy(&output);
    if !status.success() {
        return Err(CommandError::failed(text.trim_end()));
    }
    text.parse().map_err(|error| failed(format!("{error}")))
}

/// What the process of its own prints: the machine's text, or what is wrong.
pub fn answer(path: &Path) -> Result<String, String> {
    let machine = Source::Xml(path.to_owned()).read_with_devices();
    machine
        .map(|machine| machine.to_string())
        .map_err(|error| error.to_string())
}
