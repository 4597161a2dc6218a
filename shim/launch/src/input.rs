//! Standard input for a job that is run several times: it is stored in a file, and each run reads
//! it from the start.

use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use crate::error::CommandError;

/// Time after which a stream without any input that has not ended is ignored: the parent of this
/// command may never close it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Standard input of a job.
pub enum Input {
    /// A stored copy of the whole input.
    Kept(File),
    /// A stream, which cannot be read twice.
    Stream,
    /// A terminal.
    Terminal,
    /// No input.
    Nothing,
}

impl Input {
    /// Reads our standard input to its end, into a file in the directory `desk`; a stream, which a
    /// job may read while data arrives, only if `streams` are to be stored.
    ///
    /// # Errors
    /// The input cannot be read, or the file cannot be written.
    pub fn keep(desk: &Path, streams: bool) -> Result<Input, CommandError> {
        let failed = |error: io::Error| {
            CommandError::failed(format!(
                "standard input: {error}; it is kept for all runs of the job in {}, and TMPDIR names \
                 another directory for temporary files",
                desk.display()
            ))
        };
        let own = io::stdin();
        let Ok(about) = fstat(&own) else {
            return Ok(Input::Nothing);
        };
        match FileType::from_raw_mode(about.st_mode) {
            FileType::CharacterDevice if own.is_terminal() => return Ok(Input::Terminal),
            FileType::RegularFile => (),
            FileType::Fifo | FileType::Socket if streams && is_ready().map_err(failed)? => (),
            FileType::Fifo | FileType::Socket => return Ok(Input::Stream),
            _ => return Ok(Input::Nothing),
        }
        let mut file = tempfile::tempfile_in(desk).map_err(failed)?;
        io::copy(&mut own.lock(), &mut file).map_err(failed)?;
        file.flush().map_err(failed)?;
        Ok(Input::Kept(file))
    }

    /// The standard input of a run; `otherwise` if it cannot be read twice.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn again(&self, otherwise: Stdio) -> Result<Stdio, CommandError> {
        let failed = |error: io::Error| CommandError::failed(format!("standard input: {error}"));
        match self {
            Input::Kept(file) => {
                let mut file = file.try_clone().map_err(failed)?;
                // Runs follow one another, so that they may share the position in the file.
                file.rewind().map_err(failed)?;
                Ok(file.into())
            }
            Input::Stream | Input::Terminal => Ok(otherwise),
            Input::Nothing => Ok(Stdio::null()),
        }
    }
}

/// True if input is available, or at the end.
fn is_ready() -> io::Result<bool> {
    let own = io::stdin();
    let mut fds = [PollFd::new(&own, PollFlags::IN)];
    let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
    Ok(poll(&mut fds, Some(&patience))? > 0)
}
