//! Layout of the sources: what the compiler does not hold.

use std::collections::BTreeSet;
use std::path::Path;

use treepie_tests::artifacts;
use treepie_tests::sources::sources;

/// The largest number of lines of a crate, tests included.
const LINES: usize = 20_000;

/// Rust sources of the product and of its tests, by their paths in the repository.
fn all() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["shim", "tests", "fuzz/fuzz_targets"] {
        let below = artifacts::repository().join(folder);
        let below = sources(&below).unwrap_or_else(|error| panic!("{error}"));
        let named = below
            .into_iter()
            .map(|(name, text)| (format!("{folder}/{name}"), text));
        files.extend(named.filter(|(name, _)| !name.contains("/target/")));
    }
    assert!(files.len() > 500, "the sources are there");
    files
}

/// True if Cargo compiles a file without that another one declares it.
fn is_root(name: &str) -> bool {
    let path = Path::new(name);
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_package = |folder: &Path| {
        artifacts::repository()
            .join(folder)
            .join("Cargo.toml")
            .exists()
    };
    let in_package = folder.parent().is_some_and(is_package);
    match folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .as_ref()
    {
        "src" if in_package => file == "lib.rs" || file == "main.rs",
        "tests" | "benches" if in_package => true,
        "bin" | "fuzz_targets" | "examples" => true,
        _ => file == "build.rs" || file == "main.rs" || is_package(folder),
    }
}

/// Modules that the files declare, as paths without `.rs` and `/mod.rs`.
fn declared(files: &[(String, String)]) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (name, text) in files {
        let path = Path::new(name);
        let folder = path.parent().unwrap_or(Path::new(""));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_here = is_root(name) || stem == "mod";
        let inner = if is_here {
            folder.to_owned()
        } else {
            folder.join(&*stem)
        };
        let mut at = None;
        for line in text.lines().map(str::trim) {
            if let Some(given) = line.strip_prefix("#[path = \"") {
                at = given.strip_suffix("\"]").map(str::to_owned);
                continue;
            }
            let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
            if let Some(module) = words.iter().position(|&word| word == "mod")
                && module < 2
                && line.ends_with(';')
                && words.len() == module + 2
            {
                let file = match at.take() {
                    Some(given) => folder.join(given.trim_end_matches(".rs")),
                    None => inner.join(words[module + 1]),
                };
                modules.insert(plain(&file));
            }
        }
    }
    modules
}

/// A path without `..`, `.rs` and `/mod`.
fn plain(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        let part = part.as_os_str().to_string_lossy();
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part.trim_end_matches(".rs").to_owned());
        }
    }
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts.join("/")
}

#[test]
fn every_source_is_compiled_as_a_crate_or_as_a_module_of_one() {
    let files = all();
    let modules = declared(&files);
    let is_lost = |name: &&String| !is_root(name) && !modules.contains(&plain(Path::new(name)));
    let lost: Vec<&String> = files.iter().map(|(name, _)| name).filter(is_lost).collect();
    assert!(lost.is_empty(), "no `mod` declares {lost:#?}");
}

#[test]
fn no_crate_is_larger_than_a_reader_can_hold() {
    let mut crates = std::collections::BTreeMap::<String, usize>::new();
    for (name, text) in all() {
        let of: Vec<&str> = name.split('/').take(2).collect();
        if of[0] == "shim" {
            *crates.entry(of.join("/")).or_default() += text.lines().count();
        }
    }
    crates.retain(|_, lines| *lines > LINES);
    assert!(crates.is_empty(), "divide them: {crates:?}");
}

/// True if a line of a source begins an item that has a body of its own.
fn defines(line: &str) -> bool {
    let passed = ["pub", "unsafe", "async", "extern", "\"C\"", "\"C-unwind\""];
    let mut words = line.split_whitespace().skip_while(|word| {
        let before = word.split('(').next().unwrap_or_default();
        passed.contains(&before) || word.ends_with(')')
    });
    let word = words.next().unwrap_or_default();
    let end = word.find(['<', '!', '{']).unwrap_or(word.len());
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    match &word[..end] {
        "const" | "enum" | "fn" | "impl" | "static" | "struct" | "trait" | "type" | "union" => true,
        "mod" => line.ends_with('{'),
        // A macro that makes items, or that is made.
        name => word[end..].starts_with('!') && name.chars().all(is_of_a_name) && end > 0,
    }
}

#[test]
fn the_mod_files_declare_and_define_nothing() {
    for line in [
        "pub(crate) const fn length() -> usize {",
        "pub(in crate::a) unsafe extern \"C\" fn call() {",
        "    async fn wait() {",
        "impl<T> From<T> for Name {",
        "macro_rules! name {",
        "include!(concat!(env!(\"OUT_DIR\"), \"/text.rs\"));",
        "mod tests {",
    ] {
        assert!(defines(line), "{line}");
    }
    for line in [
        "pub mod name;",
        "pub(crate) use a::b;",
        "    name,",
        "#![allow(dead_code)]",
        "//! Text.",
        "",
    ] {
        assert!(!defines(line), "{line}");
    }
    let mut found = Vec::new();
    for (name, text) in all() {
        // In a folder of tests it has their helpers.
        if name.ends_with("/mod.rs") && !name.starts_with("tests/") && !name.contains("/tests/") {
            let lines = text.lines().filter(|line| defines(line));
            found.extend(lines.map(|line| format!("{name}: {line}")));
        }
    }
    assert!(
        found.is_empty(),
        "move these into files of their own: {found:#?}"
    );
}
