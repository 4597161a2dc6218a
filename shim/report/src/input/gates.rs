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

/// All calls may begin.
const OPEN: u64 = 0;
/// None may, for the first has number 1.
const CLOSED: u64 = 1;

/// The gates of all ranks of a run. They are open again when this goes.
pub struct Gates {
    pages: BTreeMap<Rank, (File, u64)>,
    beat: u64,
}

impl Gates {
    /// Closes the gates of these ranks, of which none begins a call from now on.
    ///
    /// # Errors
    /// A page that cannot be written.
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
            // What has the name of a page in another user's directory may be anything.
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

    /// Lets each rank make the calls until the one with the number that `last` gives, or none.
    pub fn only(&mut self, last: impl Fn(Rank) -> Option<u64>) {
        for (&rank, (page, gate)) in &mut self.pages {
            let wanted = last(rank).map_or(CLOSED, |number| number + 1);
            if *gate != wanted && write(page, header::GATE, wanted).is_ok() {
                *gate = wanted;
            }
        }
    }

    /// Says that the command is still there.
    pub fn beat(&mut self) {
        self.beat += 1;
        self.all(header::BEAT, self.beat);
    }

    /// Whether stopped ranks leave the MPI alone.
    pub fn rest(&self, rest: bool) {
        self.all(header::REST, rest.into());
    }

    fn all(&self, at: usize, value: u64) {
        for (page, _) in self.pages.values() {
            // The page of a rank that has ended is of no use.
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
