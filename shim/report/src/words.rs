//! Nouns after numbers, and names of files.

use std::fmt::Write;
use std::path::Path;

use treepie_base::printable::one_line;

use super::units;

/// The last part of a path: the name of a file in pictures and pages.
pub fn file_name(path: impl AsRef<Path>) -> String {
    let name = path.as_ref().file_name().unwrap_or_default();
    one_line(&name.to_string_lossy())
}

/// The plural of `name`, which may be a level of a topology.
pub fn plural(name: &str) -> String {
    let is_cache = name
        .strip_prefix('l')
        .is_some_and(|level| level.parse::<u32>().is_ok());
    match name {
        "pu" => "hardware threads".to_owned(),
        "numa" => "NUMA nodes".to_owned(),
        _ if is_cache => format!("{} caches", name.to_uppercase()),
        _ if name.ends_with(['s', 'x']) || name.ends_with("ch") => format!("{name}es"),
        _ => match name.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None => format!("{name}s"),
        },
    }
}

/// `1 rank`, `16 ranks`.
pub fn pluralize(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{} {}", units::count(number as f64), plural(what)),
    }
}

/// Writes a line; writing to a string does not fail.
pub(crate) fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_numbers() {
        for (number, what, text) in [
            (1, "rank", "1 rank"),
            (0, "rank", "0 ranks"),
            (4096, "process", "4 096 processes"),
            (2, "entry", "2 entries"),
            (2, "switch", "2 switches"),
            (2, "l3", "2 L3 caches"),
            (8, "pu", "8 hardware threads"),
        ] {
            assert_eq!(pluralize(number, what), text);
        }
    }
}
