//! Names of many hosts as Slurm writes them: `tux[0-3,7],rack[08-11]n[1-2]`.

/// More names than this are a mistake in a range.
const MOST: usize = 1 << 20;

/// The names of a list in its order; a range keeps the zeros in front of its
/// first number.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for item in items(text)? {
        append(&mut names, item)?;
    }
    Ok(names)
}

/// The same as Flux writes it: the width of the first number of a bracket holds for all in it.
///
/// # Errors
/// Error and remedy, for a message.
pub fn expand_flux(text: &str) -> Result<Vec<String>, String> {
    let mut widened = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((ranges, behind)) = after.split_once(']') else {
            return expand(text);
        };
        let first = ranges.split([',', '-']).next().unwrap_or_default();
        let width = first.len();
        let ranges = ranges.split(',').map(|range| {
            let (low, high) = range.split_once('-').unwrap_or((range, ""));
            let dash = if high.is_empty() { "" } else { "-" };
            format!("{low:0>width$}{dash}{high}")
        });
        let ranges = ranges.collect::<Vec<_>>().join(",");
        widened += &format!("{before}[{ranges}]");
        rest = behind;
    }
    expand(&(widened + rest))
}

/// The parts between commas that are outside brackets.
fn items(text: &str) -> Result<Vec<&str>, String> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (place, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth == 0 => return Err(format!("`{text}` closes a bracket that is not open")),
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
            "`{text}` lacks a closing bracket; write `name[0-3]`"
        )),
    }
}

/// The names of one item: its ranges from left to right, the last one fastest.
fn append(names: &mut Vec<String>, item: &str) -> Result<(), String> {
    let mut stems = vec![String::new()];
    let mut rest = item;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((ranges, behind)) = after.split_once(']') else {
            return Err(format!(
                "`{item}` lacks a closing bracket; write `name[0-3]`"
            ));
        };
        let numbers = numbers(ranges)?;
        if stems.len().saturating_mul(numbers.len()) > MOST {
            return Err(format!(
                "`{item}` stands for more than {MOST} names; check its ranges"
            ));
        }
        let longer = stems.iter().flat_map(|stem| {
            let with = move |number: &String| format!("{stem}{before}{number}");
            numbers.iter().map(with)
        });
        stems = longer.collect();
        rest = behind;
    }
    if names.len() + stems.len() > MOST {
        return Err(format!(
            "the list has more than {MOST} names; check its ranges"
        ));
    }
    names.extend(stems.into_iter().map(|stem| stem + rest));
    Ok(())
}

/// The numbers of `0-3,7` as they are written in names.
fn numbers(ranges: &str) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let wrong = || format!("`{range}` is no range of numbers; write one such as `0-3`");
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let read = |digits: &str| {
            let digits_only = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            digits_only.then(|| digits.parse::<usize>().ok()).flatten()
        };
        let (low, high) = (
            read(first).ok_or_else(wrong)?,
            read(last).ok_or_else(wrong)?,
        );
        if high < low || high - low >= MOST - numbers.len() {
            return Err(format!(
                "`{range}` runs backwards or is too long; check its ends"
            ));
        }
        let width = first.len();
        numbers.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
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
}
