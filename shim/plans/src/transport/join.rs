//! Ranks of a communicator that share memory: those of a host that could all open the segment that
//! one of them made, as all of them have agreed.
//!
//! A host is a kernel (its `boot_id`) and a name space of process numbers, in which `/proc` shows
//! the same processes to all: containers of one machine are separate hosts. Every rank of the
//! communicator takes part in two exchanges, even after an error, so that none waits for it.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use treepie_base::list;
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, Word};
use treepie_process::log;
use treepie_process::machine::allowed_cores;

use super::board::Board;
use super::channel::{Incoming, Outgoing};
use super::copy::read_from;
use super::memory::{Memory, OFFERS_FROM, Peer, long};
use super::segment::{Layout, MOST_RANKS, Segment, SegmentError};

/// Location of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// The kernel, and the name spaces of process numbers and of the host name; `None` if they are
    /// unavailable.
    host: Option<(String, String)>,
    /// Process number there.
    process: u32,
    /// Cores that it may use, in Linux's list format.
    cores: String,
}

/// Returns the location of this process.
pub fn located() -> Located {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    // Containers with different host names are different hosts for all other software.
    let spaces = ["pid", "uts"].map(|name| fs::read_link(format!("/proc/self/ns/{name}")).ok());
    let spaces = spaces.into_iter().collect::<Option<Vec<_>>>();
    let spaces = spaces.map(|all| all.iter().map(|one| one.to_string_lossy()).collect());
    Located {
        host: boot.map(|boot| boot.trim().to_owned()).zip(spaces),
        process: std::process::id(),
        cores: allowed_cores(),
    }
}

/// Ranks of a communicator that are on this process's host.
struct Neighbours<'a> {
    /// Rank of this process in the communicator.
    rank: usize,
    /// Location of each rank of the communicator.
    at: Vec<&'a Located>,
    /// Ranks of this host.
    ranks: Vec<usize>,
}

impl Neighbours<'_> {
    /// True if this process creates the memory: the first of its host.
    fn makes(&self) -> bool {
        (2..=MOST_RANKS).contains(&self.ranks.len()) && self.ranks[0] == self.rank
    }

    /// Returns this process's index among the ranks of the host.
    fn place(&self) -> usize {
        self.ranks
            .iter()
            .take_while(|&&rank| rank < self.rank)
            .count()
    }

    /// True if the host has fewer cores than ranks.
    fn share_cores(&self) -> bool {
        let cores = |&rank: &usize| list::parse(&self.at[rank].cores).unwrap_or_default();
        let all: std::collections::BTreeSet<usize> = self.ranks.iter().flat_map(cores).collect();
        !all.is_empty() && all.len() < self.ranks.len()
    }
}

/// Values of each rank in the first exchange: the descriptor of the segment that it made, or -1;
/// its token; and the address of the token in its memory, which others read to test whether they
/// can.
type Offered = [u64; 3];

/// Returns the memory that this process shares with others of its host in a communicator, in which
/// it is `rank`, and whose ranks are at the locations `at`. `None`, on all ranks of the host, if
/// they share none. Collective.
pub fn join(native: &Native, comm: Comm, rank: usize, at: Vec<&Located>) -> Option<Memory> {
    let shares = |one: usize| {
        at[one].host.is_some() && at[..one].iter().any(|other| other.host == at[one].host)
    };
    if !(0..at.len()).any(shares) {
        return None; // the same on all ranks
    }
    let is_near =
        |of: &usize| *of == rank || at[*of].host.is_some() && at[*of].host == at[rank].host;
    let ranks = (0..at.len()).filter(is_near).collect();
    let near = Neighbours { rank, at, ranks };
    // Others read it until the next exchange; atomic, so that the store is not optimised away.
    let word = AtomicU64::new(RandomState::new().hash_one(rank));
    let joined = make_or_open(native, comm, &near, &word);
    let is_alone = near.ranks.len() < 2;
    let can_copy = joined.as_ref().is_ok_and(|joined| joined.can_copy);
    let told = [u8::from(joined.is_ok()), can_copy.into()];
    let all = native.allgather(comm, &told).ok()?;
    // The descriptor is no longer needed.
    let segment = match joined {
        Ok(joined) => joined.segment,
        Err(problem) => {
            if !is_alone {
                tell_once(problem);
            }
            return None;
        }
    };
    std::hint::black_box(&word);
    let is_said_by_all = |of: usize| near.ranks.iter().all(|&rank| all[2 * rank + of] != 0);
    let (have_all, copy_all) = (is_said_by_all(0), is_said_by_all(1));
    (have_all && !is_alone).then(|| memory(&near, &segment, copy_all))
}

/// Result of one process before it knows those of the others.
struct Joined {
    segment: Arc<Segment>,
    /// Descriptor by which the others open it.
    _file: Option<OwnedFd>,
    /// True if it could read the memory of its neighbour.
    can_copy: bool,
}

/// Logs once why a process has no memory to share.
fn tell_once(problem: Problem) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let Problem::Segment(error) = problem else {
        return; // reported by the process that has it
    };
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        log::warn(&format!(
            "transport: the ranks of a host share no memory, messages go through the MPI: {error}"
        ));
    }
}

/// Problem in joining.
enum Problem {
    /// Problem of this process.
    Segment(SegmentError),
    /// No process made memory for it, or the MPI failed.
    Elsewhere,
}

fn make_or_open(
    native: &Native,
    comm: Comm,
    near: &Neighbours,
    word: &AtomicU64,
) -> Result<Joined, Problem> {
    let layout = Layout::new(near.ranks.len());
    let token = word.load(Ordering::Relaxed);
    let made = near.makes().then(|| Segment::create(layout, token));
    let descriptor = match &made {
        Some(Ok((_, file))) => file.as_raw_fd(),
        _ => -1,
    };
    let told = [descriptor as u64, token, word.as_ptr() as u64];
    let told: Vec<u8> = told
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect();
    let all = native
        .allgather(comm, &told)
        .map_err(|_| Problem::Elsewhere)?;
    let of = |rank: usize| -> Offered {
        let mut numbers = [0; 3];
        let own = &all[rank * told.len()..];
        for (number, bytes) in numbers.iter_mut().zip(own.chunks_exact(size_of::<u64>())) {
            *number = bytes.try_into().map_or(0, u64::from_ne_bytes);
        }
        numbers
    };
    let [descriptor, token, _] = of(near.ranks[0]);
    let maker = (near.at[near.ranks[0]].process, descriptor as i32);
    let segment = match made {
        Some(made) => made.map(|(segment, file)| (segment, Some(file))),
        None if maker.1 < 0 => return Err(Problem::Elsewhere),
        None => Segment::open(layout, maker, token).map(|segment| (segment, None)),
    };
    let (segment, _file) = segment.map_err(Problem::Segment)?;
    let next = near.ranks[(near.place() + 1) % near.ranks.len()];
    let [_, expected, address] = of(next);
    let mut read = 0u64;
    // SAFETY: a word of this process.
    let copied = unsafe {
        read_from(
            near.at[next].process,
            address as Word,
            &raw mut read as Word,
            size_of::<u64>(),
        )
    };
    let can_copy = copied.is_ok() && read == expected;
    Ok(Joined {
        segment,
        _file,
        can_copy,
    })
}

fn memory(near: &Neighbours, segment: &Arc<Segment>, can_copy: bool) -> Memory {
    let own = near.place();
    let offers_from = match can_copy {
        true => OFFERS_FROM,
        false => usize::MAX,
    };
    let mut peers: Vec<Option<Peer>> = Vec::new();
    peers.resize_with(near.at.len(), || None);
    for (other, &rank) in near.ranks.iter().enumerate() {
        if rank != near.rank {
            peers[rank] = Some(Peer {
                out: Outgoing::new(segment.way(own, other), offers_from),
                back: Incoming::new(
                    segment.way(other, own),
                    segment.slots(other).collect(),
                    near.at[rank].process,
                ),
                is_busy: false,
            });
        }
    }
    if own == 0 {
        log::info(&format!(
            "transport: {} of {} ranks share the memory of their host{}",
            near.ranks.len(),
            near.at.len(),
            match can_copy {
                true => "; long messages are copied once",
                false => "",
            }
        ));
    }
    Memory {
        peers,
        busy: Vec::new(),
        board: Board::new(segment.slots(own)),
        call: 0,
        shares_cores: near.share_cores(),
        long: long(segment.way(own, own).block_bytes(), near.share_cores()),
    }
}
