//! Messages of launchers about lost ranks and hosts.

use serde::Serialize;

/// A rank that a launcher reports as ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Death {
    /// Its number in the launcher's world, if reported.
    pub rank: Option<usize>,
    /// Its host.
    pub host: Option<String>,
    /// The signal that ended it.
    pub signal: Option<u8>,
}

/// Losses reported by a launcher.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heard {
    /// Ended ranks. Launchers that clean up may name one of those that they ended themselves.
    pub deaths: Vec<Death>,
    /// Hosts whose daemon was lost.
    pub lost_hosts: Vec<String>,
}

impl Heard {
    /// Parses a line of the launcher's output or errors, without its end.
    pub fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(death) = open_mpi(line)
            .or_else(|| slurm(line))
            .or_else(|| pals(line))
        {
            self.deaths.push(death);
        } else if let Some(host) = lost_host(line) {
            self.lost_hosts.push(host.to_owned());
        } else if let Some(box_line) = line.strip_prefix("= ") {
            self.hydra(box_line.trim());
        } else if let Some(text) =
            line.strip_prefix("YOUR APPLICATION TERMINATED WITH THE EXIT STRING:")
        {
            let signal = text
                .split_once("(signal ")
                .and_then(|(_, rest)| number(rest));
            self.signal_of_last(signal);
        }
    }

    /// The box printed by Hydra: `PID 7 RUNNING AT n1`, preceded by the rank in Intel's.
    fn hydra(&mut self, line: &str) {
        if let Some((who, host)) = line.split_once(" RUNNING AT ") {
            let rank = who.strip_prefix("RANK ").and_then(number);
            let host = word(host);
            self.deaths.push(Death {
                rank,
                host,
                signal: None,
            });
        } else if let Some(signal) = line.strip_prefix("KILLED BY SIGNAL:") {
            self.signal_of_last(number(signal.trim()));
        }
    }

    fn signal_of_last(&mut self, signal: Option<u8>) {
        if let Some(death) = self.deaths.last_mut() {
            death.signal = signal;
        }
    }
}

/// `... process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).`
fn open_mpi(line: &str) -> Option<Death> {
    let (_, rest) = line.split_once(" noticed that process rank ")?;
    let (_, on) = rest.split_once(" on node ")?;
    let (host, signal) = on.split_once(" exited on signal ")?;
    Some(Death {
        rank: number(rest),
        host: word(host),
        signal: number(signal),
    })
}

/// `srun: error: n1: task 1: Killed`, and names of other signals.
fn slurm(line: &str) -> Option<Death> {
    let mut parts = line.strip_prefix("srun: error: ")?.split(": ");
    let host = word(parts.next()?);
    let rank = number(parts.next()?.strip_prefix("task ")?)?;
    let signal = match parts.next()?.trim() {
        "Killed" => 9,
        "Terminated" => 15,
        "Aborted" => 6,
        text if text.starts_with("Segmentation fault") => 11,
        text if text.starts_with("Bus error") => 7,
        text if text.starts_with("Floating point exception") => 8,
        _ => return None,
    };
    Some(Death {
        rank: Some(rank),
        host,
        signal: Some(signal),
    })
}

/// PALS: `n1.hsn.cluster: rank 3 died from signal 9`.
fn pals(line: &str) -> Option<Death> {
    let (host, rest) = line.split_once(": rank ")?;
    let (rank, signal) = rest.split_once(" died from signal ")?;
    let host = (!host.contains(' ')).then(|| word(host))??;
    Some(Death {
        rank: number(rank),
        host: Some(host),
        signal: number(signal),
    })
}

/// Open MPI: `Remote daemon: [[1,0],2] on node n1`. Slurm: `srun: error: Node failure on n1`.
fn lost_host(line: &str) -> Option<&str> {
    let host = match line.strip_prefix("Remote daemon: ") {
        Some(rest) => rest.split_once(" on node ")?.1,
        None => line.strip_prefix("srun: error: Node failure on ")?,
    };
    host.split_whitespace().next()
}

/// The digits with which a text begins.
fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

fn word(text: &str) -> Option<String> {
    text.split_whitespace().next().map(str::to_owned)
}
