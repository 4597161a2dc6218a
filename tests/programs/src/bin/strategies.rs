//! Times strategies for collectives, run over point-to-point messages as `treepie
//! predict` predicts them: by rank (`rank-flat` and so on), and broadcasts in two phases
//! (`magpie`, `ecef` and so on) on the platform of a file.
//!
//! ```text
//! strategies REPEATS PLATFORM COLLECTIVE,STRATEGY,BYTES,SEGMENT...
//! ```
//!
//! Rank 0 prints a line for each: the same words, and the median of its times in
//! seconds. All ranks start at the same time, and the last one to be done counts;
//! so all must have the same clock, as the hosts of an emulated grid have.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use mpi_sys::MPI_Request;
use treepie_core::collective::read::predict::{Collective, Question, Tree, two_phase};
use treepie_core::files::platform::PlatformFile;
use treepie_core::platform::Platform;
use treepie_core::platform::statistics::median;
use treepie_programs::Session;

/// Messages that are timed.
const DATA: i32 = 1;
/// When to start, and when a rank was done.
const CLOCK: i32 = 2;
/// All ranks know the time to start before it comes.
const LEAD: Duration = Duration::from_millis(60);

/// One thing to time.
struct Cell {
    words: String,
    tree: Tree,
    /// Blocks that each rank gets, for itself and those below it.
    blocks: Vec<u64>,
    bytes: usize,
    /// Bytes of the pieces in which each rank gets a broadcast.
    pieces: Vec<u64>,
    /// Of each rank, how many children get the message one after the other.
    one_by_one: Vec<usize>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let session = Session::start();
    let ranks = session.size() as usize;
    let parsed = (|| {
        let (repeats, rest) = arguments.split_first()?;
        let (platform, cells) = rest.split_first()?;
        let platform = PlatformFile::read(Path::new(platform)).ok()?.platform;
        let cells = cells.iter().map(|cell| parse(cell, &platform));
        let cells: Vec<Cell> = cells.collect::<Option<_>>()?;
        (platform.ranks() == ranks).then_some((repeats.parse::<usize>().ok()?, cells))
    })();
    let Some((repeats, cells)) = parsed else {
        eprintln!("usage: strategies REPEATS PLATFORM COLLECTIVE,STRATEGY,BYTES,SEGMENT...");
        return ExitCode::from(2);
    };
    for cell in &cells {
        // Once to warm the connections up.
        time(&session, cell);
        let times: Vec<f64> = (0..repeats).map(|_| time(&session, cell)).collect();
        if session.rank() == 0 {
            println!("{},{:e}", cell.words, median(&times).unwrap_or(0.0));
        }
    }
    ExitCode::SUCCESS
}

fn parse(words: &str, platform: &Platform) -> Option<Cell> {
    let parts: Vec<&str> = words.split(',').collect();
    let [collective, strategy, bytes, segment] = parts.as_slice() else {
        return None;
    };
    let ranks = platform.ranks();
    let size: u64 = bytes.parse().ok()?;
    let segment = segment.parse().unwrap_or(size).clamp(1, size.max(1));
    let (tree, pieces) = match *strategy {
        "rank-flat" => (Tree::flat(ranks, 0), vec![segment; ranks]),
        "rank-binomial" => (Tree::binomial(ranks, 0), vec![segment; ranks]),
        "rank-pipeline" => (Tree::chain(ranks, 0), vec![segment; ranks]),
        order => {
            let question = Question::new(Collective::Bcast, size);
            let found = two_phase(platform, &question, order)?;
            (found.tree, found.pieces)
        }
    };
    let blocks = match *collective {
        "bcast" => vec![1; ranks],
        "scatter" => tree.below(),
        _ => return None,
    };
    // A coordinator whose receivers send on serves one cluster after the other, unless
    // waiting for them takes longer than sending.
    let cluster_of = platform.cluster_of_rank();
    let is_served_alone = |rank: usize, child: usize| {
        let (here, there) = (cluster_of[rank], cluster_of[child]);
        here != there && {
            let link = platform.between(here, there);
            link.gap(size) > 2.0 * link.handshake(size)
        }
    };
    let has_relays = !strategy.starts_with("rank-") && *strategy != "magpie";
    let alone = |(rank, children): (usize, &Vec<usize>)| {
        let alone = children
            .iter()
            .filter(|&&child| is_served_alone(rank, child));
        if has_relays { alone.count() } else { 0 }
    };
    Some(Cell {
        words: words.to_owned(),
        blocks,
        bytes: size as usize,
        pieces,
        one_by_one: tree.children.iter().enumerate().map(alone).collect(),
        tree,
    })
}

/// From the common start to the end of the last rank, in seconds; 0 on others than
/// rank 0.
fn time(session: &Session, cell: &Cell) -> f64 {
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
    run(session, cell);
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

/// Receives from the parent and sends to the children, piece by piece.
fn run(session: &Session, cell: &Cell) {
    let rank = session.rank() as usize;
    let parent = cell.tree.children.iter().position(|of| of.contains(&rank));
    let mut buffer = vec![1_u8; cell.bytes * cell.blocks[rank] as usize];
    let piece = match cell.blocks[rank] {
        1 => (cell.pieces[rank] as usize).max(1),
        _ => buffer.len().max(1),
    };
    let expected: Vec<MPI_Request> = match parent {
        Some(parent) => buffer
            .chunks_mut(piece)
            .map(|part| session.irecv(part, parent as i32, DATA))
            .collect(),
        None => Vec::new(),
    };
    let mut expected = expected.into_iter();
    let mut sent = Vec::new();
    for part in buffer.chunks(piece) {
        if let Some(request) = expected.next() {
            session.wait(request);
        }
        for (place, &child) in cell.tree.children[rank].iter().enumerate() {
            // A scatter's child gets its part of the one piece, a broadcast's all.
            let (length, pieces) = match cell.blocks[rank] {
                1 => (part.len(), cell.pieces[child] as usize),
                _ => (cell.bytes * cell.blocks[child] as usize, usize::MAX),
            };
            for part in part[..length].chunks(pieces.max(1)) {
                let request = session.isend(part, child as i32, DATA);
                match place < cell.one_by_one[rank] {
                    true => session.wait(request),
                    false => sent.push(request),
                }
            }
        }
    }
    for request in sent {
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
