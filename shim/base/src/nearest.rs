//! "Did you mean": the known name nearest to a mistyped one.

/// Returns the known name nearest to `word`, if it is near enough to be the intended one: at most a
/// third of its letters differ. Case, `-` and `_` do not count.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of hundreds of letters is no typing error.
    if word.len() > 64 {
        return None;
    }
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let word = plain(word);
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&word, &plain(name)), name))
        .filter(|(far, name)| *far <= (name.chars().count() / 3).max(1))
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// Returns `, did you mean ...?` to append to a message, or an empty text.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known)
        .map(|name| format!(", did you mean `{name}`?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_a_missing_and_an_upper_case_letter_are_seen_through() {
        let known = ["mode", "output", "placement", "permutation"];
        assert_eq!(nearest("moed", known), Some("mode"));
        assert_eq!(nearest("plcement", known), Some("placement"));
        assert_eq!(nearest("OUTPUT", known), Some("output"));
    }

    #[test]
    fn another_word_suggests_nothing() {
        assert_eq!(nearest("colour", ["mode", "output"]), None);
        assert_eq!(nearest("", ["mode"]), None);
        assert_eq!(nearest(&"m".repeat(100_000), ["mode"]), None);
    }
}
