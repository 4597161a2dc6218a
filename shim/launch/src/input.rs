//! Standard input for a job that is run several times: it is kept in a file, and each run gets it
//! from its beginning.

use std::fs::File;
use std::io::{self, IsTerminal, Seek, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use crate::error::CommandError;

/// A stream in which nothing has come by then, and that has not ended, is left alone: what started
/// this command may never close it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Input of a job.
pub enum Input {
    /// All of it.
    Kept(File),
    /// A stream, which can't be given twice.
    Stream,
    /// A terminal.
    Terminal,
    /// There is none.
    Nothing,
}

impl Input {
    /// Reads our standard input to its end, into a file in the directory `desk`; a stream, which a
    /// job may read while it comes, only if `streams` are to be kept.
    ///
    /// # Errors
    /// It can't be read, or the file not be written.
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

    /// What a run gets, `otherwise` what it gets where input can't be given twice.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn again(&self, otherwise: Stdio) -> Result<Stdio, CommandError> {
        let failed = |error: io::Error| CommandError::failed(format!("standard input: {error}"));
        match self {
            Input::Kept(file) => {
                let mut file = file.try_clone().map_err(failed)?;
                // Runs come one after the other, so that they may share the place in the file.
                file.rewind().map_err(failed)?;
                Ok(file.into())
            }
            Input::Stream | Input::Terminal => Ok(otherwise),
            Input::Nothing => Ok(Stdio::null()),
        }
    }
}

/// Whether something has come, or the end.
fn is_ready() -> io::Result<bool> {
    let own = io::stdin();
    let mut fds = [PollFd::new(&own, PollFlags::IN)];
    let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
    Ok(poll(&mut fds, Some(&patience))? > 0)
}
