//! Size of a profile, by ranks and partners of each: bytes that a rank sends to the root, size of
//! the files, time and memory at the root.
//!
//! ```text
//! cargo bench -p treepie-benches --bench profile_size -- [RANKS:PARTNERS ...]
//! ```
//!
//! Ranks are synthetic; their parts pass through the code with which the library collects: the
//! encoder, the merger, the writer. Each line is a separate process, whose peak memory the kernel
//! reports.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use treepie_base::{Process, Rank};
use treepie_profile::Profile;
use treepie_profile::partial_profiles::{Encoder, Merger, MessageKind, RunDescription};
use treepie_traffic::Traffic;

const RANKS: [usize; 5] = [16, 64, 256, 1024, 4096];
const PARTNERS: [usize; 2] = [6, 26];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    words.retain(|word| word != "--bench"); // added by `cargo bench`
    let outcome = match &words[..] {
        [word, case] if word == "--case" => measure(case),
        _ => measure_all(words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench profile_size: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures each case in a separate process.
fn measure_all(mut cases: Vec<String>) -> Result<(), String> {
    if cases.is_empty() {
        for ranks in RANKS {
            let partners = PARTNERS.iter().copied().filter(|&few| few < ranks);
            cases.extend(partners.map(|few| format!("{ranks}:{few}")));
            cases.push(format!("{ranks}:{ranks}"));
        }
    }
    println!(
        "{:>6} {:>9} {:>12} {:>12} {:>9} {:>9} {:>9} {:>10}",
        "ranks", "partners", "bytes/rank", "file bytes", "merge s", "write s", "read s", "peak MiB"
    );
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    for case in cases {
        let status = Command::new(&program).args(["--case", &case]).status();
        match status {
            Ok(status) if status.success() => {}
            _ => return Err(format!("{case}: failed")),
        }
    }
    Ok(())
}

/// Measures one case, `RANKS:PARTNERS`.
fn measure(case: &str) -> Result<(), String> {
    let wrong = || format!("{case}: write RANKS:PARTNERS, such as 4096:26");
    let (ranks, partners) = case.split_once(':').ok_or_else(wrong)?;
    let ranks: usize = ranks.parse().map_err(|_| wrong())?;
    let partners: usize = partners.parse().map_err(|_| wrong())?;
    let run = RunDescription {
        ranks,
        producer: "treepie".into(),
        date: "2026-11-21T04:03:48Z".into(),
        command: vec!["./synthetic".into()],
        ..RunDescription::default()
    };
    let mut gathered = Vec::new();
    for rank in 0..ranks {
        gathered.extend(part(rank, ranks, partners));
    }
    let start = Instant::now();
    let merged = Merger::merge_all(&run, &gathered).map_err(|error| error.to_string())?;
    let merging = start.elapsed();
    let per_rank = gathered.len() / ranks;
    drop(gathered);
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = directory.path().join("synthetic.profile.yaml");
    let start = Instant::now();
    merged
        .profile
        .write(&path)
        .map_err(|error| error.to_string())?;
    let writing = start.elapsed();
    let peak = peak_memory()?;
    let start = Instant::now();
    let again = Profile::read(&path).map_err(|error| error.to_string())?;
    let reading = start.elapsed();
    if again != merged.profile {
        return Err(format!("{case}: is not read back as it was written"));
    }
    println!(
        "{ranks:>6} {:>9} {per_rank:>12} {:>12} {:>9.3} {:>9.3} {:>9.3} {:>10.1}",
        partners.min(ranks),
        bytes_in(directory.path())?,
        merging.as_secs_f64(),
        writing.as_secs_f64(),
        reading.as_secs_f64(),
        peak as f64 / 1024.0
    );
    Ok(())
}

/// Bytes that `rank` sends to the root: the given number of partners around it, with counts of the
/// size of an hour's run.
fn part(rank: usize, ranks: usize, partners: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let host = format!("node{}", rank / 64);
    encoder.rank(Process(rank), Rank(rank), &host, "0-63", 3_600_000_000_000);
    let half = partners / 2;
    for shift in 0..partners.min(ranks) {
        let partner = (rank + ranks + shift - half.min(ranks)) % ranks;
        let mixed = (rank * 31 + partner * 17) as u64;
        let messages = 10_000 + mixed % 1000;
        let traffic = Traffic::new(messages, messages * (4096 + mixed % 4096));
        encoder.counted(MessageKind::PointToPoint, Rank(partner), traffic);
    }
    encoder.end();
    bytes
}

/// Peak memory of this process in KiB.
fn peak_memory() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|text| text.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| "the kernel does not tell the peak memory".to_owned())
}

fn bytes_in(directory: &Path) -> Result<u64, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    let sizes = entries.map(|entry| entry.and_then(|entry| entry.metadata()));
    sizes
        .map(|size| {
            size.map(|size| size.len())
                .map_err(|error| error.to_string())
        })
        .sum()
}
