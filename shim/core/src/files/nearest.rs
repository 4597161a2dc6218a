//! "Did you mean": the known name that is nearest to what was written.

/// The number of letters to insert, delete, change, or swap with their
/// neighbour, to turn one word into the other (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let change = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

/// The known name nearest to `word`, if it is near enough to be what was meant:
/// at most a third of its letters differ. Case, `-` and `_` do not count.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody types a name of hundreds of letters by mistake.
    if word.len() > 64 {
        return None;
    }
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let word = plain(word);
    known
        .into_iter()
        .map(|name| (distance(&word, &plain(name)), name))
        .filter(|(far, name)| *far <= (name.chars().count() / 3).max(1))
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// `, did you mean ...?` to append to a message, or nothing.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
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

    #[test]
    fn distance_counts_single_edits() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("bind", "both", 3),
        ] {
            assert_eq!(distance(from, to), expected);
            assert_eq!(distance(to, from), expected);
        }
    }
}
