//! Rules of language and layout for documents.

use std::collections::BTreeSet;

use treepie_tests::artifacts;
use treepie_tests::book::{dead_links, documents, figures, pages, prose_lines, read};
use treepie_tests::document::sentences;
use treepie_tests::sources::sources;

/// Maximum number of lines of a page.
const LINES: usize = 250;

/// Maximum number of words of a sentence.
const WORDS: usize = 30;

/// Words that a technical writer would not use in this sense, with the replacement.
const DIALECT: &[(&str, &str)] = &[
    (" so many", "a number, or the noun"),
    (" goes on", "continues"),
    (" go on ", "continue"),
    (" tells", "prints, sends, reports"),
    (" is told", "receives"),
    (" are told", "receive"),
    (" is said", "is printed"),
    (" are said", "are printed"),
    (" by itself", "separately, by default"),
    (" of ours", "Treepie's"),
    (" but for", "except"),
    (" under way", "in flight, active"),
    (" by and by", "later"),
    (" as quick ", "as fast"),
    (" quicker", "faster"),
    (" quickest", "fastest"),
    (" all else", "everything else"),
    (" what else", "other"),
    (" has to be said", "must"),
];

/// Beginnings of sentences whose subject is a clause.
const BEGINNINGS: &[&str] = &[
    "What is ",
    "What was ",
    "What it ",
    "Who ",
    "Whom ",
    "Where that ",
    "Where it ",
    "So many ",
    "As is ",
];

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let mut names = documents();
    names.push("CHANGELOG.md".to_owned());
    names.push("docs/SUMMARY.md".to_owned());
    let dead: Vec<String> = names.iter().flat_map(|name| dead_links(name)).collect();
    assert_eq!(dead, [""; 0], "{dead:#?}");
}

#[test]
fn every_page_of_the_book_is_in_its_summary_once() {
    let listed = pages();
    let distinct: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(distinct.len(), listed.len());
    for part in ["guide", "site", "reference", "inside", "figures"] {
        let folder = artifacts::repository().join("docs").join(part);
        for entry in std::fs::read_dir(folder).expect("a part of the book") {
            let file = entry.expect("it can be listed").file_name();
            let page = format!("docs/{part}/{}", file.to_string_lossy());
            assert!(!page.ends_with(".md") || distinct.contains(&page), "{page}");
        }
    }
}

#[test]
fn every_page_begins_with_its_heading_and_is_short() {
    for name in documents() {
        let text = read(&name);
        assert!(text.starts_with("# "), "{name}");
        let lines = text.lines().count();
        assert!(lines <= LINES, "{name}: {lines} lines; divide it");
    }
    let lines = |name: &str| read(name).lines().count();
    assert!(lines("README.md") <= 100);
    assert!(lines("LD_PRELOAD.md") <= 150);
}

#[test]
fn sentences_are_short() {
    let mut long = Vec::new();
    for name in documents() {
        let most = if name == "README.md" { 25 } else { WORDS };
        for sentence in sentences(&read(&name)) {
            let words = sentence.split_whitespace().count();
            if words > most {
                long.push(format!("{name}: {words} words: {sentence}"));
            }
        }
    }
    assert_eq!(long, [""; 0], "{long:#?}");
}

#[test]
fn documents_are_in_plain_english() {
    let measured: BTreeSet<String> = figures().into_iter().collect();
    let mut found = Vec::new();
    for name in documents() {
        let text = read(&name);
        for (number, line) in prose_lines(&text) {
            for (word, instead) in DIALECT {
                if format!(" {line} ").to_lowercase().contains(word) {
                    found.push(format!(
                        "{name}:{number}: `{}`: {instead}: {line}",
                        word.trim()
                    ));
                }
            }
        }
        if measured.contains(&name) {
            continue;
        }
        for sentence in sentences(&text) {
            let begins = |beginning: &&&str| sentence.starts_with(**beginning);
            // Questions may begin with them.
            if let Some(beginning) = BEGINNINGS.iter().find(begins)
                && !sentence.ends_with('?')
            {
                found.push(format!("{name}: `{}`: {sentence}", beginning.trim()));
            }
        }
    }
    assert_eq!(found, [""; 0], "{found:#?}");
}

/// Lines of prose of more than 100 columns: not in blocks, tables and pictures. `prose_of` returns
/// the prose of a line.
fn too_wide<'a>(
    name: &str,
    text: &'a str,
    prose_of: impl Fn(&'a str) -> Option<&'a str>,
) -> Vec<String> {
    let mut in_block = false;
    let mut is_too_wide = |line: &'a str| {
        let Some(prose) = prose_of(line) else {
            return false;
        };
        in_block ^= prose.starts_with("```");
        !in_block && !prose.starts_with(['|', '!']) && line.chars().count() > 100
    };
    let lines = (1..).zip(text.lines());
    let wide: Vec<(usize, &str)> = lines.filter(|(_, line)| is_too_wide(line)).collect();
    let place = |(number, line)| format!("{name}:{number}: {line}");
    wide.into_iter().map(place).collect()
}

#[test]
fn prose_wraps_at_a_hundred_columns() {
    let mut names = documents();
    names.push("CHANGELOG.md".to_owned());
    let wide = names
        .iter()
        .flat_map(|name| too_wide(name, &read(name), Some));
    assert_eq!(wide.collect::<Vec<_>>(), [""; 0]);
}

/// Sources of the product and of its tests, by name.
fn all_sources() -> Vec<(String, String)> {
    let below = |folder| sources(&artifacts::repository().join(folder));
    let all = ["shim", "tests"].into_iter().map(below);
    all.flat_map(|sources| sources.unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// Text of a comment line.
fn comment(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
}

/// First words that make a clause, or nothing at all, the subject of a doc comment.
const NO_NOUN: &[&str] = &[
    "Who", "What", "Whom", "Where", "How", "Which", "That", "So many", "The same",
];

#[test]
fn doc_comments_begin_with_a_noun_phrase_or_a_verb() {
    let mut found = Vec::new();
    for (name, text) in all_sources() {
        let is_doc = |line: &str| {
            let line = line.trim_start();
            line.starts_with("///") || line.starts_with("//!")
        };
        let (mut before, mut number) = ("", 0);
        for line in text.lines() {
            number += 1;
            let begins = is_doc(line) && !is_doc(before);
            let begun = comment(line).filter(|_| begins).unwrap_or_default();
            let words = |first: &&&str| {
                let rest = begun.strip_prefix(**first);
                rest.is_some_and(|rest| rest.starts_with(' '))
            };
            if NO_NOUN.iter().any(|first| words(&first)) {
                found.push(format!("{name}:{number}: {begun}"));
            }
            before = line;
        }
    }
    assert_eq!(found, [""; 0], "{found:#?}");
}

#[test]
fn comments_are_in_plain_english() {
    let mut found = Vec::new();
    for (name, text) in all_sources() {
        for (line, number) in text.lines().zip(1..) {
            let comment = format!(" {} ", comment(line).unwrap_or_default()).to_lowercase();
            for (word, instead) in DIALECT {
                if comment.contains(word) {
                    found.push(format!("{name}:{number}: `{}`: {instead}", word.trim()));
                }
            }
        }
    }
    assert_eq!(found, [""; 0], "{found:#?}");
}

#[test]
fn comments_wrap_at_a_hundred_columns() {
    let mut wide = Vec::new();
    for (name, text) in all_sources() {
        wide.extend(too_wide(&name, &text, comment));
    }
    let scripts = artifacts::repository().join("scripts");
    for entry in std::fs::read_dir(scripts).expect("it is part of the repository") {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("a script");
        wide.extend(too_wide(&path.to_string_lossy(), &text, |line| {
            line.trim_start().strip_prefix('#').map(str::trim_start)
        }));
    }
    assert_eq!(wide, [""; 0], "{wide:#?}");
}
