//! Tables of LogP-MPI (Kielmann; thesis figure 4.7, item 22): one link's
//! parameters in seconds.
//!
//! ```text
//! # logp_test.Send.Recv
//! # Latency = 32.66
//! # time bytes os os_min os_cnfint or or_min or_cnfint g
//! 1113829432 0 5.3e-06 4.3e-06 0.4e-06 2.4e-06 1.4e-06 0.9e-06 1.4e-06
//! ```

use std::path::Path;

use crate::numbers::MICROSECONDS;
use crate::{Link, Sample};
use treepie_base::{FileError, text};

/// Reads a table.
///
/// # Errors
/// The file cannot be read or is not such a table; the error has the line.
pub fn read(path: &Path) -> Result<Link, FileError> {
    from_text(path, &text::read(path)?)
}

/// Parses the link from the text of a file; `path` is for messages.
///
/// # Errors
/// A line is not part of such a table, there is no latency, or numbers are not costs.
pub fn from_text(path: &Path, text: &str) -> Result<Link, FileError> {
    let mut latency = None;
    let mut samples = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            latency = latency_in(comment).or(latency);
        } else if !line.is_empty() {
            let sample =
                sample_of(line).map_err(|problem| FileError::at(path, number + 1, problem))?;
            samples.push(sample);
        }
    }
    let latency = latency.ok_or_else(|| {
        FileError::field(
            path,
            "Latency",
            "is missing; a line `# Latency = 32.66` was expected",
        )
    })?;
    Link::new(latency, samples).map_err(|error| FileError::field(path, "table", error))
}

/// ` Latency = 32.66`, in microseconds.
fn latency_in(comment: &str) -> Option<f64> {
    let (name, value) = comment.split_once('=')?;
    let value = value.split_whitespace().next()?;
    let microseconds: f64 = value.parse().ok()?;
    name.trim()
        .eq_ignore_ascii_case("latency")
        .then_some(microseconds / MICROSECONDS)
}

/// Parses one line. Kielmann's `g` includes the handshake, so that it is not stored separately.
fn sample_of(line: &str) -> Result<Sample, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_time, bytes, costs @ ..] = words.as_slice() else {
        return Err(wrong_columns(words.len()));
    };
    if costs.len() != 7 {
        return Err(wrong_columns(words.len()));
    }
    let bytes = bytes
        .parse()
        .map_err(|_| format!("`{bytes}` is no number of bytes; write a whole number"))?;
    let number = |place: usize| {
        let word = costs[place];
        word.parse::<f64>()
            .map_err(|_| format!("`{word}` is no number; write seconds"))
    };
    Ok(Sample {
        bytes,
        gap: number(6)?,
        handshake: 0.0,
        send: number(0)?,
        receive: number(3)?,
        confidence: number(2)?,
    })
}

fn wrong_columns(found: usize) -> String {
    format!(
        "has {found} words; the nine of `time bytes os os_min os_cnfint or or_min or_cnfint g` \
         were expected"
    )
}
