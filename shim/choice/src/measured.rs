//! Measured times of algorithms, one per line: `collective,algorithm,bytes,segment,seconds`. The
//! segment of an algorithm that does not cut is empty, or equal to the message. Lines that begin
//! with `#` are comments.

use std::path::Path;

use treepie_base::{FileError, text};
use treepie_collective::Operation;

/// One measured time.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Operation.
    pub collective: Operation,
    /// Name of the algorithm, as in predictions.
    pub algorithm: String,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// Bytes of a segment.
    pub segment: Option<u64>,
    /// Time in seconds.
    pub seconds: f64,
}

/// Reads measured times.
///
/// # Errors
/// A file that cannot be read or has no times, and an invalid line, with its number.
pub fn read(path: &Path) -> Result<Vec<Measured>, FileError> {
    from_text(path, &text::read(path)?)
}

/// Measured times in the text of a file; `path` is for messages.
///
/// # Errors
/// An invalid line, with its number, and a text without times.
pub fn from_text(path: &Path, text: &str) -> Result<Vec<Measured>, FileError> {
    let wrong = |line: usize, problem: String| FileError::at(path, line, problem);
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let measured = parse_line(line).ok_or_else(|| {
            wrong(
                number + 1,
                format!(
                    "`{line}` is no measured time; write \
                     collective,algorithm,bytes,segment,seconds, such as \
                     bcast,chain,1048576,16384,0.12"
                ),
            )
        })?;
        all.push(measured);
    }
    match all.is_empty() {
        true => Err(wrong(
            1,
            "has no measured times; one a line was expected".into(),
        )),
        false => Ok(all),
    }
}

fn parse_line(line: &str) -> Option<Measured> {
    let words: Vec<&str> = line.split(',').map(str::trim).collect();
    let [collective, algorithm, bytes, segment, seconds] = words.as_slice() else {
        return None;
    };
    let seconds: f64 = seconds.parse().ok()?;
    let segment = match *segment {
        "" => None,
        segment => Some(segment.parse().ok()?),
    };
    (seconds.is_finite() && seconds > 0.0).then_some(Measured {
        collective: collective.parse().ok()?,
        algorithm: (*algorithm).to_owned(),
        bytes: bytes.parse().ok()?,
        segment,
        seconds,
    })
}
