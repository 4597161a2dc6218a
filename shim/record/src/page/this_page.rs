//! Page of this process, from its creation to its end.

use std::path::Path;
use std::sync::atomic::Ordering;

use once_cell::sync::OnceCell;
use treepie_jobstate::pages::layout::{self, ABORTS, EXITS, header};
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, c_int};
use treepie_process::features::{self, PAGES};

use super::super::identity::identity;
use super::super::registry::MadeBy;
use super::memory::PageError;
use super::memory::PageFile;
use super::tick::Ticker;
use super::{procedures, stop, tick, words};
use crate::communicators;

/// Pages of a job; the same on all ranks.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Directory that the user named.
    pub directory: Option<&'a Path>,
    /// Number of the run.
    pub number: u64,
    /// Number that the command gave it, or 0.
    pub given: u64,
    /// Number of ranks of the job.
    pub ranks: usize,
    /// The application's world.
    pub world: Comm,
    /// True if all ranks may be stopped at a cut.
    pub stops: bool,
}

struct Page {
    file: PageFile,
    ticker: Ticker,
    /// True if the page stays when the job ends: its counts are for the command, which removes it.
    stays: bool,
}

static PAGE: OnceCell<Page> = OnceCell::new();

/// Starts this rank's page. Counting has begun, and this process is identified.
///
/// # Errors
/// A file that cannot be made; this rank has no page then.
pub fn begin(native: &Native, run: &Run<'_>) -> Result<(), PageError> {
    let Some(identity) = identity() else {
        return Ok(());
    };
    let rank = identity.rank;
    let file = PageFile::create(run.directory, run.number, rank, procedures::TABLE)?;
    let words = file.words;
    let abi = native.abi;
    for (at, value) in [
        (header::VERSION, layout::VERSION),
        (header::WORDS, layout::WORDS as u64),
        (header::RUN, run.number),
        (header::GIVEN, run.given),
        (header::RANKS, run.ranks as u64),
        (header::RANK, rank.0 as u64),
        (header::PROCESS, u64::from(std::process::id())),
        (header::STARTED, started().unwrap_or(0)),
        (header::HANDLE_MASK, native.handle_mask() as u64),
        (header::ANY_SOURCE, abi.any_source as u64),
        (header::ANY_TAG, abi.any_tag as u64),
        (header::PROC_NULL, abi.proc_null as u64),
        (header::REQUEST_NULL, native.request_null() as u64),
        (header::NAMES, procedures::TABLE.len() as u64),
    ] {
        words.set(at, value);
    }
    words.set_text(header::HOST, header::TEXT, &identity.host);
    words.set_text(header::PROGRAM, header::TEXT, &program());
    words.set(header::TICK, tick::now());
    // Readers treat a page without the magic number as one that is being made.
    words.0[0].store(layout::MAGIC, Ordering::Release);
    let ticker = tick::start(words);
    let stays = run.stops && run.given != 0;
    if PAGE
        .set(Page {
            file,
            ticker,
            stays,
        })
        .is_ok()
    {
        words::keep(words);
        features::begin(PAGES);
        // Communicators that every job has.
        for comm in [run.world, native.comm_self] {
            communicators::made(comm, MadeBy::Application);
            communicators::placed(comm);
        }
        if run.stops {
            stop::begin(words);
        }
    }
    Ok(())
}

/// Removes the page: the job has ended.
pub fn end() {
    if let Some(page) = page() {
        features::end(PAGES);
        page.ticker.stop();
        match page.stays {
            true => stop::end(page.file.words),
            false => page.file.remove(),
        }
    }
}

/// Returns the page of this process, while it has one.
fn page() -> Option<&'static Page> {
    PAGE.get()
        .filter(|page| features::any(PAGES) && page.file.process == std::process::id())
}

/// Notes that this process ends without `MPI_Finalize`. Callable in a signal handler.
fn say_end(how: u64) {
    if let Some(page) = page()
        && page.file.words.get(header::END) == 0
    {
        page.file.words.set(header::END, how);
    }
}

/// Notes that it ends by this signal.
pub fn ends_by_signal(signal: c_int) {
    say_end(signal as u64);
}

/// Notes that it ends by `MPI_Abort`.
pub fn aborts() {
    say_end(ABORTS);
}

/// Notes that it ends by `exit`.
pub fn exits() {
    say_end(EXITS);
}

/// Returns the start time of this process, in clock ticks.
fn started() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    treepie_jobstate::pages::process_of_stat(&text).map(|stat| stat.started)
}

/// Returns the name of the program's file.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
