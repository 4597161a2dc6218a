//! Times algorithms of collectives, run over point-to-point messages like the predictions of
//! `treepie predict`: broadcasts, scatters and total exchanges by their plans.
//!
//! ```text
//! strategies REPEATS PLATFORM COLLECTIVE,STRATEGY,BYTES,SEGMENT...
//! ```
//!
//! Rank 0 prints a line for each: the same words, and the median of its times in seconds. All ranks
//! start at the same time, and the last one to finish counts; so all must have the same clock, like
//! the hosts of an emulated grid.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use mpi_sys::MPI_Request;
use treepie_base::statistics::median;
use treepie_collective::{Action, Algorithm, Clusters, Network, Plan, Range, Space, Uniform};
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_programs::Session;

/// Tag of timed messages.
const DATA: i32 = 1;
/// Tag of start times and completion times.
const CLOCK: i32 = 2;
/// Time by which all ranks know a start before it comes.
const LEAD: Duration = Duration::from_millis(60);

/// A call to time.
struct Cell {
    words: String,
    /// Plan of this rank, in bytes.
    plan: Plan,
    /// Maximum number of bytes of its input and output.
    bytes: usize,
}

/// Input, output and scratch.
type Buffers = [Vec<u8>; 3];

impl Cell {
    /// Allocates buffers, which are reused and not timed.
    fn buffers(&self) -> Buffers {
        let scratch = self.plan.scratch() as usize;
        [self.bytes, self.bytes, scratch].map(|bytes| vec![1; bytes])
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let session = Session::start();
    let ranks = session.size() as usize;
    let parsed = (|| {
        let (repeats, rest) = arguments.split_first()?;
        let (platform, cells) = rest.split_first()?;
        let platform = PlatformFile::read(Path::new(platform)).ok()?.platform;
        let cells = cells
            .iter()
            .map(|cell| parse(cell, &platform, session.rank() as usize));
        let cells: Vec<Cell> = cells.collect::<Option<_>>()?;
        (platform.ranks() == ranks).then_some((repeats.parse::<usize>().ok()?, cells))
    })();
    let Some((repeats, cells)) = parsed else {
        eprintln!("usage: strategies REPEATS PLATFORM COLLECTIVE,STRATEGY,BYTES,SEGMENT...");
        return ExitCode::from(2);
    };
    for cell in &cells {
        let mut buffers = cell.buffers();
        // Once to warm up the connections and the memory.
        time(&session, cell, &mut buffers);
        let times = (0..repeats).map(|_| time(&session, cell, &mut buffers));
        let times: Vec<f64> = times.collect();
        if session.rank() == 0 {
            println!("{},{:e}", cell.words, median(&times).unwrap_or(0.0));
        }
    }
    ExitCode::SUCCESS
}

fn parse(words: &str, platform: &Platform, rank: usize) -> Option<Cell> {
    let parts: Vec<&str> = words.split(',').collect();
    let [collective, strategy, bytes, segment] = parts.as_slice() else {
        return None;
    };
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    let bytes: u64 = bytes.parse().ok()?;
    let call = Uniform {
        operation: collective.parse().ok()?,
        bytes,
        root: 0,
    };
    let strategy = Algorithm::find(call.operation, strategy)?;
    let network = Network::new(platform, &ranks)?;
    let clusters = Clusters::of_network(&network);
    let segment = segment.parse().unwrap_or(bytes).clamp(1, bytes.max(1));
    let mut plans = strategy.plans(&call, Some(&network), &clusters, segment);
    Some(Cell {
        words: words.to_owned(),
        plan: plans.swap_remove(rank),
        bytes: bytes as usize * ranks.len(),
    })
}

/// Time from the common start to the end of the last rank, in seconds; 0 on ranks other than 0.
fn time(session: &Session, cell: &Cell, buffers: &mut Buffers) -> f64 {
    session.barrier();
    let (rank, ranks) = (session.rank(), session.size());
    let mut word = [0; 8];
    if rank == 0 {
        word = (now() + LEAD.as_nanos() as u64).to_ne_bytes();
        for other in 1..ranks {
            session.send(&word, other, CLOCK);
        }
    } else {
        session.receive(&mut word, 0, CLOCK);
    }
    let start = u64::from_ne_bytes(word);
    std::thread::sleep(Duration::from_nanos(start.saturating_sub(now())));
    run(session, cell, buffers);
    let mut last = now();
    if rank != 0 {
        session.send(&last.to_ne_bytes(), 0, CLOCK);
        return 0.0;
    }
    for other in 1..ranks {
        session.receive(&mut word, other, CLOCK);
        last = last.max(u64::from_ne_bytes(word));
    }
    last.saturating_sub(start) as f64 * 1e-9
}

/// Performs the steps of a plan in order: all receives are posted first, and a step waits for the
/// messages that it needs.
fn run(session: &Session, cell: &Cell, buffers: &mut Buffers) {
    let place = |range: Range| {
        let start = range.start as usize;
        let space = match range.space {
            Space::Input => 0,
            Space::Output => 1,
            Space::Scratch => 2,
        };
        (space, start..start + range.length as usize)
    };
    let steps = cell.plan.steps();
    let mut started: Vec<Option<MPI_Request>> = Vec::with_capacity(steps.len());
    for step in steps {
        started.push(match step.action {
            Action::Receive { from, range, .. } => {
                let (space, bytes) = place(range);
                let into = &mut buffers[space][bytes];
                Some(session.irecv(into, from as i32, DATA))
            }
            _ => None,
        });
    }
    for (number, step) in steps.iter().enumerate() {
        if matches!(step.action, Action::Receive { .. }) {
            continue;
        }
        for &needed in cell.plan.needs(step) {
            if let Some(request) = started[needed as usize].take() {
                session.wait(request);
            }
        }
        match step.action {
            Action::Send { to, range, .. } => {
                let (space, bytes) = place(range);
                let request = session.isend(&buffers[space][bytes], to as i32, DATA);
                started[number] = Some(request);
            }
            Action::Copy { from, into } => {
                let (space, bytes) = place(from);
                let copied = buffers[space][bytes].to_vec();
                let (space, bytes) = place(into);
                buffers[space][bytes].copy_from_slice(&copied);
            }
            // The timed collectives do not have these.
            Action::Receive { .. } | Action::Reduce { .. } => {}
        }
    }
    for request in started.into_iter().flatten() {
        session.wait(request);
    }
}

/// Nanoseconds on the clock that all processes of a machine share.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
