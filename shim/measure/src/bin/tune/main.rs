//! Measures a native MPI's own algorithms: the program of `treepie tune`.
//!
//! ```text
//! tune LIBRARIES OUTPUT SECONDS COMMUTATIVE OPERATION:RANKS:BYTES...
//! ```
//!
//! LIBRARIES names the job's MPI (`treepie_mpi::program`). Rank 0 writes the tuning to OUTPUT.
//! RANKS is 0 for all of the job. The decisions are in `treepie_native::tuning`; this program makes
//! the calls and sets the algorithms: under Open MPI by a duplicate of the communicator for each,
//! made while the algorithm's variable is set (without HAN, which would do its collectives over
//! several hosts), under MPICH by the variables around each call.

mod measured_algorithm;
mod request;
mod tuner;

use std::process::ExitCode;

use treepie_mpi::program::{Communicator, Session};

use request::Request;
use tuner::Tuner;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [libraries, arguments @ ..] = &arguments[..] else {
        return usage();
    };
    let session = match Session::start(libraries) {
        Ok(session) => session,
        Err(error) => {
            eprintln!("treepie: {error}");
            return ExitCode::FAILURE;
        }
    };
    let world = Communicator::world(&session);
    let Some(request) = Request::parse(arguments, world.size()) else {
        return usage();
    };
    let made = Tuner::new(session.mpi(), world, request).and_then(Tuner::run);
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if session.rank() == 0 {
                eprintln!("treepie: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: tune LIBRARIES OUTPUT SECONDS COMMUTATIVE OPERATION:RANKS:BYTES...");
    ExitCode::from(2)
}
