//! Splits a command in one string into words: with the quotes of a shell, but without its other
//! features.

use std::ffi::OsString;

/// The words of a command.
///
/// # Errors
/// A quote is not closed, or there are no words.
pub fn words(text: &str) -> Result<Vec<OsString>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("`{text}` lacks a closing {open}")),
        None if words.is_empty() => Err("is empty; write a command".to_owned()),
        None => Ok(words.into_iter().map(OsString::from).collect()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        for (text, expected) in [
            ("mpirun  -n 4 ./app", &["mpirun", "-n", "4", "./app"][..]),
            ("a 'b c' \"d 'e\" ''", &["a", "b c", "d 'e", ""]),
            (r#"a\ b "\"c" 'd\'"#, &["a b", "\"c", r"d\"]),
            ("{last}*$HOME", &["{last}*$HOME"]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        for wrong in ["", "  ", "a 'b", "\""] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }
}
