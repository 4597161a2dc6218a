//! Names of many hosts as Slurm writes them: `tux[0-3,7],rack[08-11]n[1-2]`.

/// More names than this are a mistake in a range.
const MOST: usize = 1 << 20;
/// Names of more bytes than this in all are, too.
const MOST_BYTES: usize = 1 << 26;
/// Digits of a number in a name, as of the whole name of a host.
const MOST_DIGITS: usize = 255;

/// How wide the numbers of a bracket are at least.
#[derive(Clone, Copy)]
enum Width {
    /// As the first number of their range is.
    OfRange,
    /// As the first number of the bracket is, too.
    OfBracket,
}

/// The names of a list in its order; a range keeps the zeros in front of its
/// first number.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    expand_by(Width::OfRange, text)
}

/// The same as Flux writes it: the width of the first number of a bracket holds for all in it.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand_flux(text: &str) -> Result<Vec<String>, String> {
    expand_by(Width::OfBracket, text)
}

fn expand_by(width: Width, text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut bytes = 0;
    for item in items(text)? {
        let more = names_of(width, item)?;
        bytes += more.iter().map(String::len).sum::<usize>();
        if names.len() + more.len() > MOST {
            return Err(format!(
                "the list has more than {MOST} names; check its ranges"
            ));
        }
        check_bytes(bytes).map_err(|problem| format!("the list {problem}"))?;
        names.extend(more);
    }
    Ok(names)
}

/// Checks how many bytes names have in all.
///
/// # Errors
/// More than any list of hosts has; what stands for them is missing in front of the message.
pub(super) fn check_bytes(bytes: usize) -> Result<(), String> {
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err(format!(
            "stands for names of more than {MOST_BYTES} bytes in all; check its ranges, and the \
             zeros in front of their numbers"
        )),
    }
}

/// The parts between commas that are outside brackets.
fn items(text: &str) -> Result<Vec<&str>, String> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (place, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth == 0 => {
                return Err(format!("{} closes a bracket that is not open", shown(text)));
            }
            ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    match depth {
        0 => Ok(found.into_iter().filter(|item| !item.is_empty()).collect()),
        _ => Err(format!(
            "{} lacks a closing bracket; write `name[0-3]`",
            shown(text)
        )),
    }
}

/// The names of one item: its ranges from left to right, the last one fastest.
fn names_of(width: Width, item: &str) -> Result<Vec<String>, String> {
    let mut stems = vec![String::new()];
    let mut rest = item;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((ranges, behind)) = after.split_once(']') else {
            return Err(format!(
                "{} lacks a closing bracket; write `name[0-3]`",
                shown(item)
            ));
        };
        let numbers = numbers(width, ranges)?;
        let longer = stems.len().saturating_mul(numbers.len());
        if longer > MOST {
            return Err(format!(
                "{} stands for more than {MOST} names; check its ranges",
                shown(item)
            ));
        }
        let longest = |names: &[String]| names.iter().map(String::len).max().unwrap_or(0);
        let length = longest(&stems) + before.len() + longest(&numbers);
        check_bytes(longer.saturating_mul(length))
            .map_err(|problem| format!("{} {problem}", shown(item)))?;
        let longer = stems.iter().flat_map(|stem| {
            let with = move |number: &String| format!("{stem}{before}{number}");
            numbers.iter().map(with)
        });
        stems = longer.collect();
        rest = behind;
    }
    check_bytes(stems.len().saturating_mul(rest.len()))
        .map_err(|problem| format!("{} {problem}", shown(item)))?;
    Ok(stems.into_iter().map(|stem| stem + rest).collect())
}

/// The numbers of `0-3,7` as they are written in names.
fn numbers(width: Width, ranges: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    let (mut least, mut bytes) = (0, 0);
    for range in ranges.split(',') {
        let wrong = || {
            format!(
                "{} is no range of numbers; write one such as `0-3`",
                shown(range)
            )
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let read = |digits: &str| {
            let is_number = (1..=MOST_DIGITS).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<usize>().ok()).flatten()
        };
        let (low, high) = (
            read(first).ok_or_else(wrong)?,
            read(last).ok_or_else(wrong)?,
        );
        if high < low || high - low >= MOST - numbers.len() {
            return Err(format!(
                "{} runs backwards or is too long; check its ends",
                shown(range)
            ));
        }
        if numbers.is_empty() && matches!(width, Width::OfBracket) {
            least = first.len();
        }
        let width = least.max(first.len());
        bytes += (high - low + 1) * width.max(last.len());
        check_bytes(bytes).map_err(|problem| format!("{} {problem}", shown(range)))?;
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// A piece of a list, as messages show it.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = text.chars().take(LONGEST).collect();
    match start.len() == text.len() {
        true => format!("`{text}`"),
        false => format!("`{start}...`"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ranges_are_expanded_and_keep_their_zeros() {
        assert_eq!(expand("a").unwrap(), ["a"]);
        assert_eq!(expand("").unwrap(), [""; 0]);
        assert_eq!(
            expand("n[08-11,3],x").unwrap(),
            ["n08", "n09", "n10", "n11", "n3", "x"]
        );
        assert_eq!(
            expand("r[0-1]n[2-3]-ib").unwrap(),
            ["r0n2-ib", "r0n3-ib", "r1n2-ib", "r1n3-ib"]
        );
    }

    #[test]
    fn what_is_no_list_is_refused_in_one_line() {
        for (text, expected) in [
            (
                "n[0-3",
                "`n[0-3` lacks a closing bracket; write `name[0-3]`",
            ),
            ("n0]", "`n0]` closes a bracket that is not open"),
            (
                "n[3-1]",
                "`3-1` runs backwards or is too long; check its ends",
            ),
            (
                "n[a-b]",
                "`a-b` is no range of numbers; write one such as `0-3`",
            ),
            ("n[]", "`` is no range of numbers; write one such as `0-3`"),
            (
                "n[0-99999999]",
                "`0-99999999` runs backwards or is too long; check its ends",
            ),
            (
                "n[0-9999][0-9999]",
                "`n[0-9999][0-9999]` stands for more than 1048576 names; check its ranges",
            ),
        ] {
            assert_eq!(expand(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn zeros_before_a_number_are_as_many_as_a_name_has_room_for() {
        let zeros = |many: usize| format!("n[{}1-2]", "0".repeat(many));
        assert_eq!(expand(&zeros(254)).unwrap().len(), 2);
        for many in [255, 3_000, 70_000] {
            for expand in [expand, expand_flux] {
                let said = expand(&zeros(many)).unwrap_err();
                assert!(said.contains("is no range of numbers"), "{said}");
                assert!(said.len() < 200, "{said}");
            }
        }
    }

    #[test]
    fn names_of_more_bytes_than_hosts_have_are_refused_before_they_are_made() {
        let wide = format!("[{}-999999]", "0".repeat(250));
        let many = format!("[{}1-2]", "0".repeat(200)).repeat(20);
        let long = format!("n[0-999999]{}", "x".repeat(100));
        let several = vec![format!("{}[0-9999]", "x".repeat(5000)); 100].join(",");
        for text in [wide, many, long, several] {
            let said = expand(&text).unwrap_err();
            assert!(said.contains("more than 67108864 bytes"), "{said}");
            assert!(said.len() < 250, "{said}");
        }
    }

    #[test]
    fn flux_takes_the_width_of_a_brackets_first_number_for_all() {
        let names = ["n08", "n09", "n10", "n011", "n03"];
        assert_eq!(expand_flux("n[08-10,011,3]").unwrap(), names);
    }
}
