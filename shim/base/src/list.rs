//! Lists of ranks, processes and cores as a person writes them: `0-15` or `0,4,8,12-15`. The order
//! is significant: `2,0,1` is a list of three.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserializer, Serializer};
use thiserror::Error;

use crate::budget::{OverBudget, draw};

/// Errors of the text of a list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ListError {
    /// An item is neither a number nor a range.
    #[error("`{item}` is not a whole number or a range; write a list such as `0,4,8-11`")]
    NotANumber {
        /// Item as written.
        item: String,
    },
    /// A range that runs backwards.
    #[error("the range `{item}` runs backwards; write the smaller number first")]
    Backwards {
        /// Item as written.
        item: String,
    },
    /// A range that is too long: four letters may name billions.
    #[error("the range `{item}`: {problem}")]
    TooLong {
        /// Item as written.
        item: String,
        /// Missing memory.
        problem: OverBudget,
    },
}

/// Memory in bytes of a number and of data derived from it: a permutation is inverted, and checked.
const OF_A_NUMBER: usize = 4 * size_of::<usize>();

/// Parses the numbers of a list such as `0-3,8`. The empty text is the empty list.
///
/// # Errors
/// An item that is neither a number nor a range, a range that runs backwards, or one that is too
/// long.
pub fn parse(text: &str) -> Result<Vec<usize>, ListError> {
    let mut numbers = Vec::new();
    if text.trim().is_empty() {
        return Ok(numbers);
    }
    for item in text.split(',').map(str::trim) {
        let not_a_number = || ListError::NotANumber {
            item: shortened(item),
        };
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let first = number(first).ok_or_else(not_a_number)?;
        let last = number(last).ok_or_else(not_a_number)?;
        if last < first {
            return Err(ListError::Backwards {
                item: shortened(item),
            });
        }
        if last > first {
            let more = (last - first).saturating_add(1);
            draw("numbers", more, OF_A_NUMBER).map_err(|problem| ListError::TooLong {
                item: shortened(item),
                problem,
            })?;
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

/// Parses digits only: `+3`, which Rust would accept, is not valid in a list.
fn number(digits: &str) -> Option<usize> {
    let digits = digits.trim();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Returns at most thirty letters of the text, for a message of one line.
fn shortened(item: &str) -> String {
    let printable = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut letters = item.chars().map(printable);
    let mut text: String = letters.by_ref().take(30).collect();
    if letters.next().is_some() {
        text += "...";
    }
    text
}

/// Returns the shortest text of a list: three or more consecutive numbers become a range.
pub fn to_text<I: Copy + Into<usize>>(numbers: &[I]) -> String {
    let numbers: Vec<usize> = numbers.iter().map(|&number| number.into()).collect();
    let mut items = Vec::new();
    let mut start = 0;
    while start < numbers.len() {
        let mut end = start;
        while end + 1 < numbers.len() && numbers[end].checked_add(1) == Some(numbers[end + 1]) {
            end += 1;
        }
        if end - start >= 2 {
            items.push(format!("{}-{}", numbers[start], numbers[end]));
        } else {
            items.extend(numbers[start..=end].iter().map(usize::to_string));
        }
        start = end + 1;
    }
    items.join(",")
}

/// Writes the compact text, for `#[serde(with = "list")]`.
pub fn serialize<S: Serializer, I: Copy + Into<usize>>(
    numbers: &impl AsRef<[I]>,
    out: S,
) -> Result<S::Ok, S::Error> {
    out.serialize_str(&to_text(numbers.as_ref()))
}

/// Reads the compact text, a single number or a YAML list of numbers, for `#[serde(with =
/// "list")]`.
pub fn deserialize<'de, D, I, L>(input: D) -> Result<L, D::Error>
where
    D: Deserializer<'de>,
    I: From<usize>,
    L: FromIterator<I>,
{
    let numbers = input.deserialize_any(ListVisitor)?;
    Ok(numbers.into_iter().map(I::from).collect())
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = Vec<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of whole numbers such as `0,4,8-11`")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
        usize::try_from(number)
            .map(|number| vec![number])
            .map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = items.next_element()? {
            numbers.push(number);
        }
        Ok(numbers)
    }
}

/// Lists in their compact text, for `#[serde(with = "list::lists")]`.
pub mod lists {
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(bound = "I: From<usize>")]
    struct List<I>(#[serde(deserialize_with = "super::deserialize")] Vec<I>);

    /// Writes a list of lists.
    pub fn serialize<S: Serializer, I: Copy + Into<usize>>(
        lists: &[Vec<I>],
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_seq(lists.iter().map(|list| super::to_text(list)))
    }

    /// Reads a list of lists.
    pub fn deserialize<'de, D: Deserializer<'de>, I: From<usize>>(
        input: D,
    ) -> Result<Vec<Vec<I>>, D::Error> {
        let lists = Vec::<List<I>>::deserialize(input)?;
        Ok(lists.into_iter().map(|list| list.0).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::budget;
    use proptest::prelude::*;

    #[test]
    fn ranges_single_numbers_and_order_are_kept() {
        assert_eq!(parse("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse(" 2, 0,1 ").unwrap(), [2, 0, 1]);
        assert_eq!(parse("").unwrap(), Vec::<usize>::new());
        assert_eq!(to_text(&[0_usize, 1, 2, 3, 8, 9, 5]), "0-3,8,9,5");
        assert_eq!(to_text(&[2_usize, 1, 0]), "2,1,0");
        assert_eq!(to_text::<usize>(&[]), "");
    }

    #[test]
    fn wrong_items_are_named() {
        for (text, expected) in [
            (
                "0,x",
                "`x` is not a whole number or a range; write a list such as `0,4,8-11`",
            ),
            (
                "1,,2",
                "`` is not a whole number or a range; write a list such as `0,4,8-11`",
            ),
            (
                "-3",
                "`-3` is not a whole number or a range; write a list such as `0,4,8-11`",
            ),
            (
                "7-2",
                "the range `7-2` runs backwards; write the smaller number first",
            ),
            (
                "0-18446744073709551615",
                "the range `0-18446744073709551615`: 18446744073709551615 numbers would take more \
                 than the 64 MiB of memory that a text of this size may; check this number, and \
                 that the text is whole",
            ),
            (
                "0,1-8388609",
                "the range `1-8388609`: 8388609 numbers would take more than the 64 MiB of memory \
                 that a text of this size may; check this number, and that the text is whole",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn ranges_of_one_file_are_counted_together() {
        budget::within(100, || {
            assert_eq!(parse("0-1048575").unwrap().len(), 1 << 20);
            assert!(parse("0-1048575").is_ok() && parse("0-1").is_err());
            assert_eq!(parse("7").unwrap(), [7]);
        });
    }

    proptest! {
        #[test]
        fn every_list_reads_back_as_it_was(numbers in prop::collection::vec(0usize..40, 0..60)) {
            prop_assert_eq!(parse(&to_text(&numbers)), Ok(numbers));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = parse(&text);
        }
    }
}
