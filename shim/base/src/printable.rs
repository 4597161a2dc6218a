//! Text from other sources, made safe for display: names of hosts, programs, phases and files may
//! contain any characters. One function for each target.

use std::fmt::Write;

/// True if a character has an effect instead of being shown: control characters, ends of lines, and
/// those that change the direction of text.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text with characters that have an effect and are not `kept` replaced by escapes.
fn escaped(text: &str, kept: &[char]) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) && !kept.contains(&letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown
}

/// Returns a name or a message on one line.
pub fn one_line(text: &str) -> String {
    escaped(text, &[])
}

/// Returns several lines of treepie's own, safe for a terminal.
pub fn lines(text: &str) -> String {
    escaped(text, &['\n', '\t'])
}

/// Returns text that HTML and SVG display unchanged.
pub fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in lines(text).chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            letter => safe.push(letter),
        }
    }
    safe
}

/// Returns JSON in which such characters, which it may contain within strings, are replaced by
/// their escapes.
pub fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match acts(letter) && letter != '\n' {
            // All of them are in the basic plane; writing to a string does not fail.
            true => drop(write!(safe, "\\u{:04x}", u32::from(letter))),
            false => safe.push(letter),
        }
    }
    safe
}

/// True if all characters of a text that have an effect are `kept`.
pub(crate) fn is_harmless(text: &str, kept: &[char]) -> bool {
    !text
        .chars()
        .any(|letter| acts(letter) && !kept.contains(&letter))
}

/// Writes a line of the command on standard error, preceded by its name.
#[macro_export]
macro_rules! note {
    ($($part:tt)*) => {
        eprintln!("treepie: {}", $crate::printable::lines(&format!($($part)*)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "a\u{1b}[31m\u{9b}0m\nb\u{202e}c\u{2028}<é>&\"\t";

    #[test]
    fn each_target_gets_text_that_does_nothing_there() {
        let shown = "a\\u{1b}[31m\\u{9b}0m\\nb\\u{202e}c\\u{2028}<é>&\"\\t";
        assert_eq!(one_line(EVIL), shown);
        assert_eq!(
            lines(EVIL),
            "a\\u{1b}[31m\\u{9b}0m\nb\\u{202e}c\\u{2028}<é>&\"\t"
        );
        assert_eq!(
            markup(EVIL),
            "a\\u{1b}[31m\\u{9b}0m\nb\\u{202e}c\\u{2028}&lt;é&gt;&amp;&quot;\t"
        );
        assert_eq!(
            json("\"a\u{7f}\u{9b}\u{202e}\"\n"),
            "\"a\\u007f\\u009b\\u202e\"\n"
        );
    }
}
