//! Measures the platform on which a job runs: the program of `treepie probe`.
//!
//! ```text
//! probe LIBRARIES OUTPUT BUDGET TOLERANCE LARGEST AT_A_TIME TOGETHER EXCHANGE WAYS
//! ```
//!
//! LIBRARIES names the job's MPI (`treepie_mpi::program`). Rank 0 writes the platform to OUTPUT.
//! The measurements are in `treepie_platform::probe`; this program only transports their messages.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use treepie_base::Header;
use treepie_measure::transfers::PairTrials;
use treepie_mpi::program::Session;
use treepie_platform::file::PlatformFile;
use treepie_platform::probe::{Messenger, Options, Report, Trial, others_behind, probe};
use treepie_platform::processors;
use treepie_process::machine;

/// Tag of timed messages.
const DATA: i32 = 1;
/// Tag of values.
const VALUE: i32 = 2;
/// Polling interval of a rank that waits for a value, so that it leaves the processor to measuring
/// ranks.
const LOOK: Duration = Duration::from_micros(200);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((libraries, output, options)) = parse(&arguments) else {
        eprintln!(
            "usage: probe LIBRARIES OUTPUT BUDGET TOLERANCE LARGEST AT_A_TIME TOGETHER EXCHANGE WAYS"
        );
        return ExitCode::from(2);
    };
    let session = match Session::start(libraries) {
        Ok(session) => session,
        Err(error) => {
            eprintln!("treepie: {error}");
            return ExitCode::FAILURE;
        }
    };
    let system = Path::new(processors::SYSTEM);
    let host = session.mpi().processor_name();
    let identity = processors::identity(system, host, &machine::cores());
    let mut messenger = Mpi {
        session: &session,
        began: Instant::now(),
        out: Vec::new(),
        back: Vec::new(),
        pairs: HashMap::new(),
    };
    match probe(&mut messenger, &identity, &options) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(report)) => write(&session, &output, report),
        Err(error) => {
            eprintln!("treepie: the platform that was measured is none: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<(&str, PathBuf, Options)> {
    let [
        libraries,
        output,
        budget,
        tolerance,
        largest,
        at_a_time,
        together,
        exchange,
        ways,
    ] = arguments
    else {
        return None;
    };
    let options = Options {
        tolerance: tolerance.parse().ok()?,
        budget: budget.parse().ok()?,
        largest: largest.parse().ok()?,
        at_a_time: at_a_time.parse().ok()?,
        together: together.parse().ok()?,
        exchange: exchange.parse().ok()?,
        ways: ways.parse().ok()?,
    };
    Some((libraries, output.into(), options))
}

fn write(session: &Session, output: &Path, report: Report) -> ExitCode {
    let file = PlatformFile {
        header: Header::now(format!("treepie {}", env!("CARGO_PKG_VERSION"))),
        mpi: Some(session.mpi().library_version()),
        platform: report.platform,
    };
    match file.write(output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("treepie: {error}");
            ExitCode::FAILURE
        }
    }
}

/// MPI as a messenger.
struct Mpi<'a> {
    session: &'a Session,
    began: Instant,
    out: Vec<u8>,
    back: Vec<u8>,
    /// This rank with others, while methods of transfer are measured.
    pairs: HashMap<usize, PairTrials<'a>>,
}

/// The first `bytes` of a buffer that grows as needed.
fn part(buffer: &mut Vec<u8>, bytes: u64) -> &mut [u8] {
    let bytes = usize::try_from(bytes).expect("sizes that are measured fit the memory");
    if buffer.len() < bytes {
        buffer.resize(bytes, 1);
    }
    &mut buffer[..bytes]
}

fn rank(rank: usize) -> i32 {
    i32::try_from(rank).expect("MPI counts ranks in ints")
}

impl Messenger for Mpi<'_> {
    fn rank(&self) -> usize {
        self.session.rank() as usize
    }

    fn ranks(&self) -> usize {
        self.session.size() as usize
    }

    fn seconds(&mut self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn pause(&mut self, seconds: f64) {
        // The awaited message needs this process to poll for it.
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < until {
            self.session.waiting_bytes(rank(self.rank()), VALUE);
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
    }

    fn send(&mut self, to: usize, bytes: u64) {
        self.session
            .send(part(&mut self.out, bytes), rank(to), DATA);
    }

    fn receive(&mut self, from: usize, bytes: u64) {
        self.session
            .receive(part(&mut self.back, bytes), rank(from), DATA);
    }

    fn send_train(&mut self, to: usize, bytes: u64, count: usize) {
        let buffer = &*part(&mut self.out, bytes);
        self.session.together(|messages| {
            for _ in 0..count {
                messages.send(buffer, rank(to), DATA);
            }
        });
    }

    fn receive_train(&mut self, from: usize, bytes: u64, count: usize) {
        // A separate part for each: MPI forbids two receives into the same memory.
        let buffer = part(&mut self.back, bytes.max(1) * count as u64);
        let places = buffer.chunks_exact_mut(bytes.max(1) as usize);
        self.session.together(|messages| {
            for place in places {
                messages.receive(&mut place[..bytes as usize], rank(from), DATA);
            }
        });
    }

    fn exchange(&mut self, members: &[usize], bytes: u64) {
        let others: Vec<i32> = others_behind(members, self.rank()).map(rank).collect();
        let end = bytes as usize;
        let back = part(&mut self.back, bytes.max(1) * others.len() as u64);
        let places = back.chunks_exact_mut(bytes.max(1) as usize);
        // The first sender to this rank is the member before it.
        let sources = others.iter().rev();
        let expected = places.zip(sources);
        let out = &*part(&mut self.out, bytes);
        self.session.together(|messages| {
            for (place, &from) in expected {
                messages.receive(&mut place[..end], from, DATA);
            }
            for &to in &others {
                messages.send(out, to, DATA);
            }
        });
    }

    fn try_way(&mut self, partner: usize, is_origin: bool, trial: &Trial) -> Vec<f64> {
        let pair = self.pairs.entry(partner);
        let pair = pair.or_insert_with(|| PairTrials::new(self.session, rank(partner)));
        pair.run(is_origin, trial)
    }

    fn end_trials(&mut self, partner: usize) {
        if let Some(pair) = self.pairs.remove(&partner) {
            pair.free();
        }
    }

    fn send_data(&mut self, to: usize, bytes: &[u8]) {
        self.session.send(bytes, rank(to), VALUE);
    }

    fn receive_data(&mut self, from: usize) -> Vec<u8> {
        loop {
            if let Some(length) = self.session.waiting_bytes(rank(from), VALUE) {
                let mut bytes = vec![0; length];
                self.session.receive(&mut bytes, rank(from), VALUE);
                return bytes;
            }
            std::thread::sleep(LOOK);
        }
    }
}
