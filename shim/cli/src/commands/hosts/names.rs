//! Names of hosts sorted by number.

/// A part of a name: a number, with its digits, or the text between numbers.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    /// Digits without leading zeros, the shorter first; then all digits.
    Number(usize, String, String),
}

/// Key that sorts `node2` before `node10`.
fn key(name: &str) -> Vec<Part> {
    let is_digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    let mut rest = name;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let number = is_digit(rest);
        let end = rest
            .find(|letter: char| letter.is_ascii_digit() != number)
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(match number {
            true => {
                let digits = part.trim_start_matches('0');
                Part::Number(digits.len(), digits.to_owned(), part.to_owned())
            }
            false => Part::Text(part.to_owned()),
        });
        rest = after;
    }
    parts
}

/// Sorts names by their numbers.
pub(crate) fn by_number(names: &[String]) -> Vec<String> {
    let mut sorted = names.to_vec();
    sorted.sort_by_key(|name| key(name));
    sorted
}

/// True if names are sorted as text, in another order than that of their numbers.
pub(crate) fn are_sorted_as_text(names: &[String]) -> bool {
    names.is_sorted() && by_number(names) != names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let sorted = by_number(&names("r2n10,r10n1,r2n9,r2n09,a,r2"));
        assert_eq!(sorted, names("a,r2,r2n09,r2n9,r2n10,r10n1"));
    }

    #[test]
    fn only_names_that_a_sort_of_text_has_misplaced_are_told() {
        assert!(are_sorted_as_text(&names("node1,node10,node2")));
        assert!(!are_sorted_as_text(&names("node1,node2,node10")));
        assert!(!are_sorted_as_text(&names("node10,node1,node2")));
        assert!(!are_sorted_as_text(&names("node01,node02,node10")));
    }
}
