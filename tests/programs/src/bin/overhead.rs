//! Times single calls, for `scripts/bench overhead` to compare runs without
//! the library and with it in each of its modes.
//!
//! ```text
//! overhead KIND BATCHES ITERATIONS        on 2 ranks
//! ```
//!
//! Prints one line per batch, from rank 0: the mean time of an iteration in nanoseconds. The
//! iterations are:
//!
//! * `comm-rank`: one `MPI_Comm_rank`, the cheapest call with a communicator;
//! * `allreduce-self`: `MPI_Allreduce` of 8 bytes on `MPI_COMM_SELF`;
//! * `iallreduce-self`: `MPI_Iallreduce` of 8 bytes on `MPI_COMM_SELF`, and `MPI_Wait`;
//! * `iallreduce-partner`: `iallreduce-self` on both ranks;
//! * `neighbours-self`: `MPI_Neighbor_allgather` of 8 bytes to itself, twice;
//! * `put-self`: `MPI_Put` of 8 bytes into the own part of a window of both ranks;
//! * `isend-self`: `MPI_Irecv`, `MPI_Isend`, `MPI_Wait`, `MPI_Wait`, 8 bytes to self;
//! * `isend-lengths`: `isend-self` with 1 to 200 bytes in rotation: no call equals a recent one;
//! * `isend-partner`: `MPI_Isend`, `MPI_Wait`, 8 bytes to the other rank;
//! * `testall`: one `MPI_Testall` of four null requests;
//! * `comm-rank-threads`, `isend-self-threads`: the same calls on two threads simultaneously, each
//!   timed separately;
//! * `init`: one `MPI_Init`, once, regardless of the given numbers;
//! * `init-split`: `init` and one `MPI_Comm_split` of all ranks;
//! * `ping-pong`: `MPI_Send`, `MPI_Recv` of 8 bytes, in one direction; `ping-pong-0` and
//!   `ping-pong-1024` with 0 and 1,024 bytes.

use std::process::ExitCode;
use std::time::{Duration, Instant};
use treepie_programs::{Session, layers};

const TAG: i32 = 1;
const DONE: i32 = 2;
/// Number of messages to the partner before its acknowledgement: fewer than any MPI's eager buffers
/// hold.
const WINDOW: usize = 64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, batches, iterations] = arguments.as_slice() else {
        return usage();
    };
    let run: fn(&Session, i32, usize) = match kind.as_str() {
        "comm-rank" => comm_rank,
        "allreduce-self" => |session, _, iterations| layers::allreduce(session, iterations),
        "iallreduce-self" => |session, _, n| layers::started_allreduce(session, layers::alone(), n),
        "iallreduce-partner" => {
            |session, _, n| layers::started_allreduce(session, session.world(), n)
        }
        "neighbours-self" => |session, _, iterations| layers::neighbours(session, iterations),
        "put-self" => |_, _, _| (), // on a window, see below
        "testall" => testall,
        "comm-rank-threads" => |session, rank, n| on_two_threads(|| comm_rank(session, rank, n)),
        "isend-self-threads" => |session, rank, n| on_two_threads(|| isend_self(session, rank, n)),
        "init" | "init-split" => |_, _, _| (), // before the first call
        "isend-self" => isend_self,
        "isend-lengths" => isend_lengths,
        "isend-partner" => isend_partner,
        "ping-pong" => ping_pong::<8>,
        "ping-pong-0" => ping_pong::<0>,
        "ping-pong-1024" => ping_pong::<1024>,
        _ => return usage(),
    };
    let (Ok(batches), Ok(iterations)) = (batches.parse::<usize>(), iterations.parse::<usize>())
    else {
        return usage();
    };
    let threads = kind.ends_with("-threads");
    let alone = threads
        || kind.starts_with("comm-rank")
        || kind.ends_with("-self")
        || ["testall", "isend-lengths"].contains(&kind.as_str());

    let began = Instant::now();
    let session = match threads {
        true => match Session::start_for_threads() {
            Ok(session) => session,
            Err(error) => {
                eprintln!("overhead: {error}");
                return ExitCode::FAILURE;
            }
        },
        false => Session::start(),
    };
    if kind.starts_with("init") {
        if kind == "init-split" {
            session.split();
        }
        if session.rank() == 0 {
            println!("{}", began.elapsed().as_nanos());
        }
        return ExitCode::SUCCESS;
    }
    if session.size() != 2 {
        eprintln!("overhead: wants 2 ranks, has {}", session.size());
        return ExitCode::FAILURE;
    }
    let rank = session.rank();
    // Created by both ranks, before one of them sleeps.
    let window = (kind == "put-self").then(|| layers::Window::new(&session));
    let once = || match &window {
        Some(window) => window.put(iterations),
        None => run(&session, rank, iterations),
    };
    if alone && rank == 1 {
        sleep_until_done(&session);
        return ExitCode::SUCCESS;
    }
    once(); // warms up
    for _ in 0..batches {
        let began = Instant::now();
        once();
        let elapsed = began.elapsed();
        if rank == 0 {
            println!("{:.2}", elapsed.as_nanos() as f64 / iterations as f64);
        }
    }
    if alone {
        session.send(&[0], 1, DONE);
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: overhead comm-rank|testall|allreduce-self|iallreduce-self|iallreduce-partner|neighbours-self|put-self|isend-self|isend-lengths|comm-rank-threads|isend-self-threads|isend-partner|ping-pong|ping-pong-0|ping-pong-1024|init|init-split BATCHES ITERATIONS"
    );
    ExitCode::from(2)
}

/// The other rank leaves the processor while rank 0 is timed.
fn sleep_until_done(session: &Session) {
    while !session.has_message(0, DONE) {
        std::thread::sleep(Duration::from_millis(1));
    }
    session.receive(&mut [0], 0, DONE);
}

fn comm_rank(session: &Session, _rank: i32, iterations: usize) {
    for _ in 0..iterations {
        std::hint::black_box(session.rank());
    }
}

fn testall(session: &Session, _rank: i32, iterations: usize) {
    let mut requests = [Session::no_request(); 4];
    for _ in 0..iterations {
        std::hint::black_box(session.test_all(&mut requests));
    }
}

/// Runs all the work on two threads simultaneously.
fn on_two_threads(work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        scope.spawn(&work);
        work();
    });
}

fn isend_self(session: &Session, rank: i32, iterations: usize) {
    let (out, mut back) = ([1; 8], [0; 8]);
    for _ in 0..iterations {
        let receiving = session.irecv(&mut back, rank, TAG);
        let sending = session.isend(&out, rank, TAG);
        session.wait(sending);
        session.wait(receiving);
    }
}

fn isend_lengths(session: &Session, rank: i32, iterations: usize) {
    let (out, mut back) = ([1; 200], [0; 200]);
    for iteration in 0..iterations {
        let length = 1 + iteration % out.len();
        let receiving = session.irecv(&mut back, rank, TAG);
        let sending = session.isend(&out[..length], rank, TAG);
        session.wait(sending);
        session.wait(receiving);
    }
}

fn isend_partner(session: &Session, rank: i32, iterations: usize) {
    let (out, mut back) = ([1; 8], [0; 8]);
    for iteration in 0..iterations {
        if rank == 0 {
            session.wait(session.isend(&out, 1, TAG));
        } else {
            session.receive(&mut back, 0, TAG);
        }
        if iteration % WINDOW == WINDOW - 1 {
            if rank == 0 {
                session.receive(&mut back, 1, DONE);
            } else {
                session.send(&out, 0, DONE);
            }
        }
    }
}

/// Half a round trip per iteration: even ones go there, odd ones come back.
fn ping_pong<const BYTES: usize>(session: &Session, rank: i32, iterations: usize) {
    let (out, mut back) = ([1; BYTES], [0; BYTES]);
    for iteration in 0..iterations {
        if iteration % 2 == rank as usize {
            session.send(&out, 1 - rank, TAG);
        } else {
            session.receive(&mut back, 1 - rank, TAG);
        }
    }
}
