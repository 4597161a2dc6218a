//! Numbers of bytes as people and other tools write them.

/// Parses the bytes of `64`, `16K`, `16k`, `1MiB`, `2gb`: K, M and G are powers of 1024. `None` for
/// text that is not a size, or is too large.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let shift = match unit.trim().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Returns a number of bytes in the format of [`size`], in the largest unit of which it is a
/// multiple: `48K`.
pub fn text(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let whole = |&(shift, _): &(u32, &str)| bytes > 0 && bytes.is_multiple_of(1 << shift);
    match units.into_iter().find(whole) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{size, text};

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (bytes, written) in [(0, "0"), (1000, "1000"), (48 << 10, "48K"), (3 << 30, "3G")] {
            assert_eq!(text(bytes), written);
            assert_eq!(size(written), Some(bytes));
        }
    }

    #[test]
    fn sizes_have_powers_of_1024() {
        for (text, bytes) in [
            ("64", Some(64)),
            ("65536", Some(64 << 10)),
            ("64 B", Some(64)),
            ("16K", Some(16 << 10)),
            ("16k", Some(16 << 10)),
            ("1MiB", Some(1 << 20)),
            (" 1MB ", Some(1 << 20)),
            ("2g", Some(2 << 30)),
            ("", None),
            ("K", None),
            ("-3", None),
            ("auto", None),
            ("much", None),
            ("99999999999G", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
