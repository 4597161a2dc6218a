//! Gates: the limits on calls that the command writes into the pages of a run.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use treepie_base::Rank;
use treepie_jobstate::pages::layout::header;
use treepie_jobstate::pages::{file_name, run_directory};

use treepie_launch::error::CommandError;

/// Value that allows all calls.
const OPEN: u64 = 0;
/// Value that allows no call, since the first has number 1.
const CLOSED: u64 = 1;

/// The gates of all ranks of a run. Dropping this opens them again.
pub struct Gates {
    pages: BTreeMap<Rank, (File, u64)>,
    beat: u64,
}

impl Gates {
    /// Closes the gates of these ranks: from now on none of them begins a call.
    ///
    /// # Errors
    /// A page cannot be written.
    pub fn close(
        base: &Path,
        run: u64,
        ranks: impl IntoIterator<Item = Rank>,
    ) -> Result<Gates, CommandError> {
        let directory = run_directory(base, run);
        let mut gates = Gates {
            pages: BTreeMap::new(),
            beat: 0,
        };
        for rank in ranks {
            let path = directory.join(file_name(rank));
            let mut options = OpenOptions::new();
            // A file with the name of a page in another user's directory may be of any kind.
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
            let page = options.write(true).custom_flags(flags).open(&path);
            let page = page.map_err(|error| {
                CommandError::failed(format!(
                    "{}: cannot be written: {error}; its job may have ended",
                    path.display()
                ))
            })?;
            gates.pages.insert(rank, (page, OPEN));
        }
        gates.only(|_| None);
        Ok(gates)
    }

    /// Lets each rank make calls up to the number that `last` returns, or none.
    pub fn only(&mut self, last: impl Fn(Rank) -> Option<u64>) {
        for (&rank, (page, gate)) in &mut self.pages {
            let wanted = last(rank).map_or(CLOSED, |number| number + 1);
            if *gate != wanted && write(page, header::GATE, wanted).is_ok() {
                *gate = wanted;
            }
        }
    }

    /// Signals that the command is still alive.
    pub fn beat(&mut self) {
        self.beat += 1;
        self.all(header::BEAT, self.beat);
    }

    /// Sets whether stopped ranks leave the MPI alone.
    pub fn rest(&self, rest: bool) {
        self.all(header::REST, rest.into());
    }

    fn all(&self, at: usize, value: u64) {
        for (page, _) in self.pages.values() {
            // The page of a rank that has ended is not used any more.
            let _ = write(page, at, value);
        }
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.rest(false);
        self.all(header::GATE, OPEN);
    }
}

fn write(page: &File, at: usize, value: u64) -> io::Result<()> {
    page.write_all_at(&value.to_ne_bytes(), at as u64 * 8)
}
