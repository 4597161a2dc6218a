//! Lines and words of a file, with their positions.

use std::fmt::Display;
use std::io::{self, BufRead, Read};
use std::path::Path;

use super::number::TOO_LARGE;
use treepie_base::FileError;
use treepie_base::budget::draw;

/// Maximum number of ranks that a file may announce: above it, a mistyped number would only exhaust
/// the memory.
pub(super) const LARGEST_ORDER: usize = 1 << 24;

/// Maximum length of a line in bytes: a row of a matrix that fits into memory is shorter.
const LONGEST: u64 = 16 << 20;

/// Bytes of memory that a matrix takes for a sending rank.
pub(super) const RANK: usize = 24;

/// The lines of a file, numbered from 1.
pub(super) struct Lines<'a, R> {
    file: &'a str,
    reader: R,
    number: usize,
    /// Bytes of the plain line that was found but not yet taken.
    plain_length: usize,
}

/// One line, or the position after the last one.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) file: &'a str,
    pub(super) number: usize,
    pub(super) text: String,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(reader: R, file: &'a str) -> Self {
        Lines {
            file,
            reader,
            number: 0,
            plain_length: 0,
        }
    }

    /// Reads the next line, without its end; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<Line<'a>>, FileError> {
        let mut line = self.end();
        Ok(self.next_into(&mut line)?.then_some(line))
    }

    /// Like [`Lines::next`], into a line whose memory is reused; false after the last.
    fn next_into(&mut self, line: &mut Line<'a>) -> Result<bool, FileError> {
        line.text.clear();
        let mut rest = self.reader.by_ref().take(LONGEST);
        let read = rest
            .read_line(&mut line.text)
            .and_then(|length| match rest.limit() {
                0 => Err(io::Error::other("a line has no end")),
                _ => Ok(length),
            });
        let length = read.map_err(|error| {
            let problem = format!(
                "cannot be read after line {}: {error}; check that it is a text file and whole",
                self.number
            );
            FileError::at(Path::new(self.file), 0, problem)
        })?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        line.number = self.number;
        let text = line.text.trim_end_matches(['\n', '\r']).len();
        line.text.truncate(text);
        Ok(true)
    }

    /// Reads the next line that is neither blank nor a comment.
    pub(super) fn next_filled(&mut self, comment: char) -> Result<Option<Line<'a>>, FileError> {
        let mut line = self.end();
        Ok(self.next_filled_into(&mut line, comment)?.then_some(line))
    }

    /// Like [`Lines::next_filled`], into a line whose memory is reused; false after the last.
    pub(super) fn next_filled_into(
        &mut self,
        line: &mut Line<'a>,
        comment: char,
    ) -> Result<bool, FileError> {
        while self.next_into(line)? {
            let text = line.text.trim_start();
            if !text.is_empty() && !text.starts_with(comment) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The numbers of the next line if it has the form that programs write: exactly three counts
    /// that an `f64` holds exactly, separated by one blank. Any other line is left for
    /// [`Lines::next_filled_into`], which is slower and reports errors.
    pub(super) fn next_plain(&mut self) -> Option<[u64; 3]> {
        // Errors are reported when the line is read again.
        let (counts, length) = plain(self.reader.fill_buf().ok()?)?;
        self.plain_length = length;
        Some(counts)
    }

    /// Consumes the line that [`Lines::next_plain`] found.
    pub(super) fn take_plain(&mut self) {
        self.reader.consume(self.plain_length);
        self.plain_length = 0;
        self.number += 1;
    }

    /// The position after the last line, for messages.
    pub(super) fn end(&self) -> Line<'a> {
        Line {
            file: self.file,
            number: self.number + 1,
            text: String::new(),
        }
    }

    /// The last line read, for messages.
    pub(super) fn last(&self) -> Line<'a> {
        Line {
            number: self.number,
            ..self.end()
        }
    }

    /// Error of a file that ends before `expected`.
    pub(super) fn ended(&self, expected: impl Display) -> FileError {
        self.end().error(
            expected,
            "the end of the file",
            "the file is cut off or its header is wrong: write it again",
        )
    }
}

impl Line<'_> {
    pub(super) fn error(
        &self,
        expected: impl Display,
        found: impl Display,
        remedy: impl Display,
    ) -> FileError {
        let problem = format!("expected {expected}, found {found}; {remedy}");
        FileError::at(Path::new(self.file), self.number, problem)
    }

    /// The words of this line, which must be three; `expected` describes them.
    pub(super) fn three_words(&self, expected: &str) -> Result<[&str; 3], FileError> {
        let mut words = self.text.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some(first), Some(second), Some(third), None) => Ok([first, second, third]),
            _ => Err(self.error(expected, shown(&self.text), "correct this line")),
        }
    }

    /// An affinity: finite and not negative, and exact if it is a whole number.
    pub(super) fn affinity(&self, word: &str) -> Result<f64, FileError> {
        match word.parse::<f64>() {
            Ok(value) if value >= TOO_LARGE && is_digits(word) => Err(self.too_large(word)),
            Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
            _ => Err(self.error(
                "a number, finite and not negative",
                shown(word),
                "affinities are counts of messages or bytes: correct this value",
            )),
        }
    }

    /// A whole number that is not negative; `what` names it in messages.
    pub(super) fn count(&self, word: &str, what: &str) -> Result<u64, FileError> {
        match word.parse::<u64>() {
            Ok(value) if is_digits(word) => Ok(value),
            _ => Err(self.error(
                format!("{what}, a whole number"),
                shown(word),
                "correct this value",
            )),
        }
    }

    /// The weight of an edge; a matrix must hold it exactly.
    pub(super) fn weight(&self, word: &str, what: &str) -> Result<u64, FileError> {
        let weight = self.count(word, what)?;
        if (weight as f64) < TOO_LARGE {
            Ok(weight)
        } else {
            Err(self.too_large(word))
        }
    }

    fn too_large(&self, word: &str) -> FileError {
        self.error(
            "a count below 2^53, above which not every whole number is exact",
            shown(word),
            "correct this value, or write it as a rounded number such as 1e17",
        )
    }

    /// A number of ranks.
    pub(super) fn order(&self, word: &str) -> Result<usize, FileError> {
        let order = self.count(word, "the number of ranks")?;
        match usize::try_from(order) {
            Ok(order) if (1..=LARGEST_ORDER).contains(&order) => {
                self.take("ranks", order, RANK)?;
                Ok(order)
            }
            _ => Err(self.error(
                format!("a number of ranks from 1 to {LARGEST_ORDER}"),
                shown(word),
                "correct this value",
            )),
        }
    }

    /// Reserves the memory of the number of items that this line announces.
    pub(super) fn take(
        &self,
        what: &'static str,
        number: usize,
        bytes: usize,
    ) -> Result<(), FileError> {
        draw(what, number, bytes)
            .map_err(|problem| FileError::at(Path::new(self.file), self.number, problem))
    }

    /// Parses a rank, numbered from `base` in the file, and returns it numbered from 0.
    pub(super) fn index(
        &self,
        word: &str,
        what: &str,
        base: usize,
        order: usize,
    ) -> Result<usize, FileError> {
        let named = self.count(word, what)?;
        usize::try_from(named)
            .ok()
            .and_then(|named| named.checked_sub(base))
            .filter(|&index| index < order)
            .ok_or_else(|| {
                self.error(
                    format!("{what} from {base} to {}", base + order - 1),
                    shown(word),
                    "correct this value, or the number of ranks in the header",
                )
            })
    }
}

/// Three counts of at most 15 digits at the start of `bytes`, and the length of their
/// line.
fn plain(bytes: &[u8]) -> Option<([u64; 3], usize)> {
    const MOST_DIGITS: usize = 15;
    let mut counts = [0_u64; 3];
    let mut at = 0;
    for (count, end) in counts.iter_mut().zip(*b"  \n") {
        let start = at;
        while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
            if at - start == MOST_DIGITS {
                return None;
            }
            *count = *count * 10 + u64::from(digit - b'0');
            at += 1;
        }
        if at == start || bytes.get(at) != Some(&end) {
            return None;
        }
        at += 1;
    }
    Some((counts, at))
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats a part of the file for messages: quoted, on one line, not too long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let text = text.trim();
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let mut start: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        start.push_str("...");
    }
    format!("`{}`", start.escape_debug())
}
