//! Damage to files: letters changed, lines lost or doubled, words replaced by ones that break
//! readers. Tests of several packages use it.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses some of it

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Replacements of numbers and words.
const NASTY: [&str; 21] = [
    "-1",
    "0",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "4294967296",
    "18446744073709551616",
    "16777217",
    "0-16777216",
    "n[0-99999999]",
    "",
    " ",
    "\n",
    "\t",
    ",,",
    "[[[[[[[[",
    "{a: {a: {a: 1}}}",
    "&a [*a, *a]",
    "é\u{0}",
    "%",
];

/// One kind of damage to a text.
#[derive(Debug, Clone)]
pub enum Damage {
    Letter(Index, char),
    Word(Index, &'static str),
    LineLost(Index),
    LineDoubled(Index),
    CutOff(Index),
}

impl Damage {
    fn strategy() -> impl Strategy<Value = Damage> {
        prop_oneof![
            (any::<Index>(), any::<char>()).prop_map(|(at, letter)| Damage::Letter(at, letter)),
            (any::<Index>(), select(NASTY.to_vec())).prop_map(|(at, word)| Damage::Word(at, word)),
            (any::<Index>(), select(NASTY.to_vec())).prop_map(|(at, word)| Damage::Word(at, word)),
            any::<Index>().prop_map(Damage::LineLost),
            any::<Index>().prop_map(Damage::LineDoubled),
            any::<Index>().prop_map(Damage::CutOff),
        ]
    }

    fn done_to(&self, text: &str) -> String {
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        match self {
            _ if text.is_empty() => return String::new(),
            Damage::Letter(at, letter) => {
                let mut letters: Vec<char> = text.chars().collect();
                let at = at.index(letters.len());
                letters[at] = *letter;
                return letters.into_iter().collect();
            }
            Damage::Word(at, word) => return with_word(text, at, word),
            Damage::LineLost(at) => {
                lines.remove(at.index(lines.len()));
            }
            Damage::LineDoubled(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at]);
            }
            Damage::CutOff(at) => {
                let letters = text.chars().count();
                return text.chars().take(at.index(letters)).collect();
            }
        }
        lines.concat()
    }
}

/// Returns the text with one of its words replaced; separators stay.
fn with_word(text: &str, at: &Index, word: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || ".-_".contains(letter);
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (place, letter) in text.char_indices().filter(|&(_, letter)| is_part(letter)) {
        let end = place + letter.len_utf8();
        match words.last_mut() {
            Some(last) if last.1 == place => last.1 = end,
            _ => words.push((place, end)),
        }
    }
    if words.is_empty() {
        return text.to_owned();
    }
    let (start, end) = words[at.index(words.len())];
    format!("{}{word}{}", &text[..start], &text[end..])
}

/// Returns a strategy for one to three damages of a text.
pub fn damages() -> impl Strategy<Value = Vec<Damage>> {
    prop::collection::vec(Damage::strategy(), 1..4)
}

/// Returns the text after all of them.
pub fn damaged(text: &str, damages: &[Damage]) -> String {
    let done = |text: String, damage: &Damage| damage.done_to(&text);
    damages.iter().fold(text.to_owned(), done)
}

/// Checks that a rejection is one line that names the file.
pub fn is_answer<T, E: std::fmt::Display>(answer: Result<T, E>, file: &str) -> Result<(), String> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => {
            let said = error.to_string();
            let good = said.starts_with(file) && !said.contains('\n') && said.len() < 2000;
            if good { Ok(()) } else { Err(said) }
        }
    }
}

/// Returns the peak memory of this process, in bytes.
pub fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Limit of memory in bytes, more than any of these texts needs, in each of the threads that tests
/// run on.
pub const MOST_MEMORY: usize = 1 << 30;
