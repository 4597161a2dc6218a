//! Ranks as subjects of a sentence.

use treepie_base::Rank;

/// `rank 3`, `ranks 0, 1 and 2`, `ranks 0-7 and 9`.
pub(super) fn ranks(ranks: &[Rank]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &Rank(number) in ranks {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let mut parts = Vec::new();
    for (first, last) in runs {
        match last - first {
            0 => parts.push(first.to_string()),
            1 => parts.extend([first.to_string(), last.to_string()]),
            _ => parts.push(format!("{first}-{last}")),
        }
    }
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    match &parts[..] {
        [] => "no rank".to_owned(),
        [one] => format!("{word} {one}"),
        [first @ .., last] => format!("{word} {} and {last}", first.join(", ")),
    }
}

/// `rank 3 is`, `ranks 0 and 1 are`.
pub(super) fn is(ranks: &[Rank]) -> String {
    verb(ranks, "is", "are")
}

/// The ranks, and the verb in singular or plural.
pub(super) fn verb(members: &[Rank], one: &str, several: &str) -> String {
    let verb = if members.len() == 1 { one } else { several };
    format!("{} {verb}", ranks(members))
}

/// Capitalizes a text.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::{Rank, ranks};

    #[test]
    fn ranks_in_a_row_are_written_as_a_range() {
        for (numbers, text) in [
            (&[3][..], "rank 3"),
            (&[0, 1], "ranks 0 and 1"),
            (&[0, 1, 2, 3], "ranks 0-3"),
            (&[0, 2, 4, 5, 6], "ranks 0, 2 and 4-6"),
        ] {
            let members: Vec<Rank> = numbers.iter().copied().map(Rank).collect();
            assert_eq!(ranks(&members), text);
        }
    }
}
