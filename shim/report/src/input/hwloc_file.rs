//! hwloc's files, read in a separate process: hwloc's reader is written in C, and some damaged
//! files crash a process that reads them.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use treepie_hwloc::{Machine, Source};

use treepie_launch::error::CommandError;
use treepie_launch::timed::{self, Answer};

/// The subcommand that reads a file and prints the machine's text.
pub const SUBCOMMAND: &str = "read-hwloc-file";

/// The largest existing machines take some tens of milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// Reads the machine in an hwloc XML file.
///
/// # Errors
/// The file is wrong; the message has one line that begins with its name.
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

/// Output of the separate process: the machine's text, or the error.
pub fn answer(path: &Path) -> Result<String, String> {
    let machine = Source::Xml(path.to_owned()).read_with_devices();
    machine
        .map(|machine| machine.to_string())
        .map_err(|error| error.to_string())
}
