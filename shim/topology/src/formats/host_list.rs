//! Names of many hosts in Slurm's notation: `tux[0-3,7],rack[08-11]n[1-2]`.

use treepie_base::budget::draw;

/// Bytes of memory of a host in addition to its name, in lists, tables and trees.
pub(super) const HOST: usize = 320;
/// Maximum number of digits of a number in a name; also the limit of a host's whole name.
const MOST_DIGITS: usize = 255;

/// Minimum width of the numbers in a bracket.
#[derive(Clone, Copy)]
enum Width {
    /// Width of the first number of their range.
    OfRange,
    /// At least the width of the first number of the bracket, too.
    OfBracket,
}

/// Expands a list to its names in order; a range keeps the leading zeros of its first number.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    expand_by(Width::OfRange, text)
}

/// Expands a list in Flux's notation: the width of the first number of a bracket applies to all its
/// numbers.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand_flux(text: &str) -> Result<Vec<String>, String> {
    expand_by(Width::OfBracket, text)
}

fn expand_by(width: Width, text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for item in items(text)? {
        names.extend(names_of(width, item)?);
    }
    Ok(names)
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
        let longest = |names: &[String]| names.iter().map(String::len).max().unwrap_or(0);
        let length = longest(&stems) + before.len() + longest(&numbers);
        take(item, longer, HOST + length)?;
        let longer = stems.iter().flat_map(|stem| {
            let with = move |number: &String| format!("{stem}{before}{number}");
            numbers.iter().map(with)
        });
        stems = longer.collect();
        rest = behind;
    }
    take(item, stems.len(), rest.len())?;
    Ok(stems.into_iter().map(|stem| stem + rest).collect())
}

/// Reserves the memory of the hosts of an item, `bytes` bytes each.
fn take(item: &str, hosts: usize, bytes: usize) -> Result<(), String> {
    draw("hosts", hosts, bytes).map_err(|problem| format!("{}: {problem}", shown(item)))
}

/// The numbers of `0-3,7` as they appear in names.
fn numbers(width: Width, ranges: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    let mut least = 0;
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
        if high < low {
            return Err(format!("{} runs backwards; check its ends", shown(range)));
        }
        if numbers.is_empty() && matches!(width, Width::OfBracket) {
            least = first.len();
        }
        let width = least.max(first.len());
        let hosts = (high - low).saturating_add(1);
        take(range, hosts, size_of::<String>() + width.max(last.len()))?;
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// A part of a list as shown in messages.
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
    use treepie_base::budget::within;

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
            ("n[3-1]", "`3-1` runs backwards; check its ends"),
            (
                "n[a-b]",
                "`a-b` is no range of numbers; write one such as `0-3`",
            ),
            ("n[]", "`` is no range of numbers; write one such as `0-3`"),
            (
                "n[0-99999999]",
                "`0-99999999`: 100000000 hosts would take more than the 64 MiB of memory that a \
                 text of this size may; check this number, and that the text is whole",
            ),
            (
                "n[0-9999][0-9999]",
                "`n[0-9999][0-9999]`: 100000000 hosts would take more than the 64 MiB of memory \
                 that a text of this size may; check this number, and that the text is whole",
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
        for text in [wide, many, long] {
            let said = expand(&text).unwrap_err();
            assert!(
                said.contains("hosts would take more than the 64 MiB"),
                "{said}"
            );
            assert!(said.len() < 250, "{said}");
        }
    }

    #[test]
    fn the_hosts_of_all_lists_of_a_file_share_its_memory() {
        within(200, || {
            assert_eq!(expand("n[0-99999]").unwrap().len(), 100_000);
            assert_eq!(expand("m[00000-09999],x").unwrap().len(), 10_001);
            assert!(expand("o[0-99999]").is_err());
        });
        let named: Vec<String> = (0..1_000_000).map(|number| format!("n{number}")).collect();
        let text = named.join(",");
        within(text.len(), || assert_eq!(expand(&text).unwrap(), named));
    }

    #[test]
    fn flux_takes_the_width_of_a_brackets_first_number_for_all() {
        let names = ["n08", "n09", "n10", "n011", "n03"];
        assert_eq!(expand_flux("n[08-10,011,3]").unwrap(), names);
    }
}
