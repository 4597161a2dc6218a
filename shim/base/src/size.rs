//! Numbers of bytes as people and other tools write them.

/// The bytes of `64`, `16K`, `16k`, `1MiB`, `2gb`: K, M and G are powers of 1024. `None` for what
/// is no size, or is too large for one.
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

#[cfg(test)]
mod tests {
    use super::size;

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
