//! The documents of the repository, their links and their headings.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::artifacts::repository;

/// Documents outside the book.
const BESIDE: [&str; 7] = [
    "README.md",
    "LD_PRELOAD.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "packaging/README.md",
    "profiles/README.md",
    "shim/README.md",
];

/// The text of a file of the repository.
///
/// # Panics
/// Panics if it cannot be read.
pub fn read(name: &str) -> String {
    let path = repository().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages of the book, in the order of its summary.
pub fn pages() -> Vec<String> {
    let summary = read("docs/SUMMARY.md");
    let links = links(&summary).into_iter();
    links.map(|(_, target)| format!("docs/{target}")).collect()
}

/// Pages of the book with measurements.
pub fn figures() -> Vec<String> {
    let all = pages().into_iter();
    all.filter(|page| page.starts_with("docs/figures/") && !page.ends_with("README.md"))
        .collect()
}

/// All documents: those outside the book, and its pages.
pub fn documents() -> Vec<String> {
    let beside = BESIDE.iter().map(|name| (*name).to_owned());
    beside.chain(pages()).collect()
}

/// The targets of a text's links, each with its line, outside fenced blocks.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    // A link may be broken between its words; its target is on one line.
    for (number, line) in prose_lines(text) {
        for after in line.split("](").skip(1) {
            if let Some((target, _)) = after.split_once(')') {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

/// The lines outside fenced blocks, numbered from 1.
pub fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        if !in_block && !fence {
            lines.push((number, line));
        }
    }
    lines
}

/// The anchors of a text's headings, as created by GitHub and mdBook.
pub fn anchors(text: &str) -> Vec<String> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose_lines(text).into_iter();
    let titles = headings.filter_map(|(_, line)| line.strip_prefix('#'));
    let mut anchors = Vec::new();
    for title in titles {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then_some(letter),
        });
        let anchor: String = kept.collect();
        let before = taken.entry(anchor.clone()).or_default();
        anchors.push(match *before {
            0 => anchor,
            times => format!("{anchor}-{times}"),
        });
        *before += 1;
    }
    anchors
}

/// Dead links of a document: to no file of the repository, or to no heading of it.
pub fn dead_links(name: &str) -> Vec<String> {
    let text = read(name);
    let mut dead = Vec::new();
    for (line, target) in links(&text) {
        if target.starts_with("http") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = match path.is_empty() {
            true => name.to_owned(),
            false => beside(name, path),
        };
        let whole = repository().join(&file);
        let leads = match whole.extension().is_some_and(|ending| ending == "md") {
            true if !whole.is_file() => false,
            true => anchor.is_empty() || anchors(&read(&file)).iter().any(|one| one == anchor),
            false => whole.exists() && anchor.is_empty(),
        };
        if !leads {
            dead.push(format!("{name}:{line}: {target}"));
        }
    }
    dead
}

/// The file at `path` relative to the document `name`, from the top of the repository.
fn beside(name: &str, path: &str) -> String {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let mut found = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_lower_case_words_and_numbered_if_they_repeat() {
        let text = "# The MPI's `own`\n## A, b-c\n```sh\n# no\n```\n## A, b-c\n";
        assert_eq!(anchors(text), ["the-mpis-own", "a-b-c", "a-b-c-1"]);
        assert_eq!(
            links("[a\nb](c.md#d), ![e](f.svg)"),
            [(2, "c.md#d".into()), (2, "f.svg".into())]
        );
        assert_eq!(beside("docs/guide/a.md", "../../README.md"), "README.md");
    }
}
