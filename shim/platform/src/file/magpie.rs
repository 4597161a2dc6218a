//! Cluster files of MagPIe, as written by LaPIe's `subnets` (thesis figures 3.3 and 3.4, item 10):
//!
//! ```text
//! cluster 0
//! process 0 1 2 3
//! cluster 1
//! process 4 5
//! # Min edge 0-1 = 59.962273
//! ```

use std::fmt::Write;
use std::path::Path;

use crate::numbers::{MICROSECONDS, with_digits};
use treepie_base::{Cluster, FileError, List, text};

/// The clusters of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MagpieClusters {
    /// The ranks of every cluster, in the order of the file.
    pub clusters: List<Cluster, Vec<usize>>,
    /// Least latencies between two clusters, or inside one, in seconds.
    pub least_edges: Vec<(Cluster, Cluster, f64)>,
}

impl MagpieClusters {
    /// Reads a cluster file.
    ///
    /// # Errors
    /// The file cannot be read or is not a cluster file; the error has the line.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        MagpieClusters::from_text(path, &text::read(path)?)
    }

    /// Parses the clusters from the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// A line is not part of such a file, or a rank is in two clusters or in none.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut found = MagpieClusters::default();
        for (number, line) in text.lines().enumerate() {
            found
                .take(line.trim())
                .map_err(|problem| FileError::at(path, number + 1, problem))?;
        }
        found.check(path)?;
        Ok(found)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            self.least_edges.extend(edge(comment));
            return Ok(());
        }
        let mut words = line.split_whitespace();
        match words.next() {
            None => Ok(()),
            Some("cluster") => {
                self.clusters.push(Vec::new());
                Ok(())
            }
            Some("process") => {
                let cluster = self
                    .clusters
                    .last_mut()
                    .ok_or("there are processes before the first `cluster` line; write it")?;
                for word in words {
                    let rank = word
                        .parse()
                        .map_err(|_| format!("`{word}` is no rank; write whole numbers"))?;
                    cluster.push(rank);
                }
                Ok(())
            }
            Some(word) => Err(format!(
                "begins with `{word}`; a line `cluster NUMBER` or `process RANK RANK ...` was \
                 expected"
            )),
        }
    }

    fn check(&self, path: &Path) -> Result<(), FileError> {
        let total = self.clusters.iter().map(Vec::len).sum();
        let mut seen = vec![false; total];
        for &rank in self.clusters.iter().flatten() {
            let problem = match seen.get_mut(rank) {
                Some(slot) if !*slot => {
                    *slot = true;
                    continue;
                }
                Some(_) => format!("rank {rank} is listed twice; keep it in one cluster"),
                None => format!(
                    "rank {rank} is listed, and there are {total} ranks; list every rank from 0 on"
                ),
            };
            return Err(FileError::field(path, "process", problem));
        }
        match total {
            0 => Err(FileError::field(
                path,
                "process",
                "no ranks are listed; write such lines",
            )),
            _ => Ok(()),
        }
    }

    /// Formats the clusters as the text of such a file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (number, ranks) in self.clusters.iter().enumerate() {
            let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "cluster {number}\nprocess {}", ranks.join(" "));
        }
        for (one, other, seconds) in &self.least_edges {
            let microseconds = with_digits(seconds * MICROSECONDS, 12);
            let _ = writeln!(text, "# Min edge {one}-{other} = {microseconds}");
        }
        text
    }
}

/// ` Min edge 0-1 = 59.96`: an edge in microseconds. `None` for other comments.
fn edge(comment: &str) -> Option<(Cluster, Cluster, f64)> {
    let (pair, value) = comment.trim().strip_prefix("Min edge")?.split_once('=')?;
    let (one, other) = pair.trim().split_once('-')?;
    let value: f64 = value.trim().parse().ok()?;
    let cluster = |number: &str| number.parse().ok().map(Cluster);
    Some((cluster(one)?, cluster(other)?, value / MICROSECONDS))
}
