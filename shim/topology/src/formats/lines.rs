//! Lines by which the format of a text is recognized.

/// The first line that is neither empty nor a comment.
pub(super) fn first(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// True if a line begins with `start`, in any case.
pub(super) fn begins(line: &str, start: &str) -> bool {
    let begin = line.get(..start.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// True if some line begins with `start`, in any case, after leading blanks.
pub(super) fn any_begins(text: &str, start: &str) -> bool {
    text.lines().any(|line| begins(line.trim_start(), start))
}

/// The kind stated in a file of Treepie.
pub(super) fn kind(text: &str) -> Option<&str> {
    let stated = text.lines().find_map(|line| line.strip_prefix("treepie:"));
    stated.map(str::trim)
}
