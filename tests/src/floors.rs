//! Floors of a crate: its top-level modules in order, of which each may import those below it only.
//!
//! The order stands in one place, the crate documentation: the block of text in which each line
//! names a module of the crate root and says what it is, the highest first.
//!
//! ```text
//! files         reads and writes
//! placement     ranks on cores
//! affinity      who sends how much to whom
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

mod tokens;

use proc_macro2::LexError;
use tokens::{Token, tokens};

/// What is wrong with the floors of the crate whose sources are in `src`: imports that go up, each
/// as `file:line: ...`, and modules that the order and the crate root don't share.
///
/// # Errors
/// Sources that cannot be read, and a crate documentation without an order.
pub fn violations(src: &Path) -> Result<Vec<String>, String> {
    let files = sources(src)?;
    let text = |name: &str| files.iter().find(|(path, _)| path == name);
    let (_, root) = text("lib.rs").ok_or("there is no lib.rs")?;
    let floors = order(root)?.ok_or(
        "lib.rs: its documentation has no block of text in which each line begins with a module",
    )?;
    let mut found = differences(&floors, &files);
    for (path, text) in &files {
        found.extend(upward_imports(&floors, path, text)?);
    }
    Ok(found)
}

/// All `*.rs` files below `src`: their paths there and their texts.
///
/// # Errors
/// Sources that cannot be read.
pub fn sources(src: &Path) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    read_sources(src, src, &mut files)?;
    files.sort();
    Ok(files)
}

fn read_sources(
    src: &Path,
    folder: &Path,
    files: &mut Vec<(String, String)>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            read_sources(src, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            let name = path.strip_prefix(src).unwrap_or(&path);
            files.push((name.to_string_lossy().into_owned(), text));
        }
    }
    Ok(())
}

/// The modules of the order in a crate's documentation, the highest first: the first block of text
/// whose lines all begin with the name of a module of the crate root.
fn order(root: &str) -> Result<Option<Vec<String>>, String> {
    let documentation = root.lines().filter_map(|line| line.strip_prefix("//!"));
    let documentation: Vec<&str> = documentation.map(str::trim_end).collect();
    let modules = modules(root).map_err(|error| format!("lib.rs: {error}"))?;
    let order = documentation
        .split(|line| line.trim_start().starts_with("```"))
        .map(|block| {
            let named = |line: &&str| line.split_whitespace().next().map(str::to_owned);
            block.iter().filter_map(named).collect::<Vec<String>>()
        })
        .find(|names| !names.is_empty() && names.iter().all(|name| modules.contains(name)));
    Ok(order)
}

/// The modules that a crate root declares.
fn modules(root: &str) -> Result<BTreeSet<String>, LexError> {
    let tokens = tokens(root)?;
    let declared = tokens.windows(3).filter_map(|three| match three {
        [a, b, c] if a.is("mod") && c.is(";") => Some(b.text.clone()),
        _ => None,
    });
    Ok(declared.collect())
}

/// Modules of the crate root that the order does not name, and files of no module.
fn differences(floors: &[String], files: &[(String, String)]) -> Vec<String> {
    let below_root: BTreeSet<&str> = files.iter().map(|(path, _)| floor_of(path)).collect();
    below_root
        .into_iter()
        .filter(|&module| module != ROOT && !floors.iter().any(|floor| floor == module))
        .map(|module| format!("{module}: the order in lib.rs does not name this module"))
        .collect()
}

/// What [`floor_of`] calls the crate root, which may import all.
const ROOT: &str = "lib";

/// The module of the crate root that a file belongs to.
fn floor_of(path: &str) -> &str {
    let name = path.split('/').next().unwrap_or(path);
    name.strip_suffix(".rs").unwrap_or(name)
}

/// The modules from the crate root to a file's own.
fn module_of(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let parts = path.split('/').filter(|&part| part != "mod");
    parts.map(str::to_owned).collect()
}

/// The imports of a file that do not go down. Modules of tests are left out: they may read a value
/// from wherever there is one.
fn upward_imports(floors: &[String], path: &str, text: &str) -> Result<Vec<String>, String> {
    let level = |floor: &str| floors.iter().position(|known| known == floor);
    let Some(own) = level(floor_of(path)) else {
        return Ok(Vec::new()); // the root; others are told of by `differences`
    };
    let mut seen = BTreeSet::new();
    let tokens = tokens(text).map_err(|error| format!("{path}: {error}"))?;
    let imports = imports(&module_of(path), &tokens);
    let upward = imports.into_iter().filter_map(|(line, to)| {
        let at = level(&to)?;
        (at < own && seen.insert((line, to.clone()))).then(|| {
            format!(
                "{path}:{line}: {} imports {to}, which is above it",
                floors[own]
            )
        })
    });
    Ok(upward.collect())
}

/// The modules of the crate root that the paths in some code start from, with their lines. `module`
/// is the code's own module.
fn imports(module: &[String], tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // Of each inline module that is open here, the depth of braces around it.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        if let Some(length) = length_of_test_module(rest) {
            at += length;
            continue;
        }
        match rest {
            [a, name, c, ..] if a.is("mod") && c.is("{") => {
                open.push((depth, name.text.clone()));
                depth += 1;
                at += 3;
                continue;
            }
            [a, ..] if a.is("{") => depth += 1,
            [a, ..] if a.is("}") => {
                depth -= 1;
                open.pop_if(|(around, _)| *around == depth);
            }
            [a, b, ..] if b.is("::") && (a.is("crate") || a.is("super") || a.is("self")) => {
                let inline = open.iter().map(|(_, name)| name.clone());
                let here: Vec<String> = module.iter().cloned().chain(inline).collect();
                at += follow(here, rest, &mut found);
                continue;
            }
            _ => (),
        }
        at += 1;
    }
    found
}

/// The tokens of an inline module of tests that starts here.
fn length_of_test_module(tokens: &[Token]) -> Option<usize> {
    let start = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let is_one = tokens.len() > start.len() && start.iter().zip(tokens).all(|(s, t)| t.is(s));
    let open = start.len() + 1;
    if !is_one || !tokens.get(open)?.is("{") {
        return None;
    }
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += usize::from(token.is("{"));
        depth -= usize::from(token.is("}"));
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Follows the path at the start of `tokens`, written in the module `here`, to the module of the
/// crate root that it leads to, or all of them where it leads to a list. Returns its length.
fn follow(here: Vec<String>, tokens: &[Token], found: &mut Vec<(usize, String)>) -> usize {
    let mut at = 0;
    let mut base = here;
    while let [word, colons, ..] = &tokens[at..]
        && colons.is("::")
    {
        match word.text.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => (),
            _ => break,
        }
        at += 2;
    }
    if let Some(first) = base.first() {
        found.push((tokens[0].line, first.clone()));
        return at;
    }
    match tokens.get(at) {
        Some(token) if token.is("{") => at + follow_list(&tokens[at..], found),
        Some(token) => {
            found.push((token.line, token.text.clone()));
            at + 1
        }
        None => at,
    }
}

/// The first names of a list in braces of paths from the crate root. Returns its length.
fn follow_list(tokens: &[Token], found: &mut Vec<(usize, String)>) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let starts = before.is_some_and(|before| before.is("{") || before.is(","));
        if depth == 1 && starts && !token.is("}") {
            found.push((token.line, token.text.clone()));
        }
        depth += usize::from(token.is("{"));
        depth -= usize::from(token.is("}"));
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ROOT_TEXT: &str = "\
        //! A crate.\n//!\n//! ```\n//! let x = 1;\n//! ```\n//!\n\
        //! ```text\n//! top      the highest\n//! middle   one between\n\
        //! low      the lowest\n//! ```\n\
        mod low;\npub mod middle;\nmod top;\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let floors = order(ROOT_TEXT).unwrap().unwrap();
        assert_eq!(floors, ["top", "middle", "low"]);
        upward_imports(&floors, path, text).unwrap()
    }

    #[test]
    fn imports_that_go_down_or_stay_on_their_floor_are_allowed() {
        for text in [
            "use crate::low::{a, b};",
            "use crate::{low, middle::x};",
            "use super::other; use self::inner::x;",
            "fn f() { crate::low::g() }",
        ] {
            assert_eq!(found("middle/file.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn imports_that_go_up_are_named_with_file_and_line() {
        for (path, text, line) in [
            ("low.rs", "use crate::middle::a;", 1),
            ("low/mod.rs", "\nuse super::middle::a;", 2),
            ("low/deep/file.rs", "use super::super::super::middle;", 1),
            (
                "low.rs",
                "use crate::{\n    low::a,\n    middle::{b, c},\n};",
                3,
            ),
            ("low.rs", "fn f() {\n    let x = crate::middle::f();\n}", 2),
            (
                "low.rs",
                "mod a {\n    mod b { use super::super::super::middle; }\n}",
                2,
            ),
            (
                "low.rs",
                "macro_rules! m { () => { $crate::middle::f() } }",
                1,
            ),
            (
                "low.rs",
                "fn f<'a>(x: &'a str) { g('\"', \"\\\"\"); crate::middle::h() }",
                1,
            ),
        ] {
            let expected = format!("{path}:{line}: low imports middle, which is above it");
            assert_eq!(found(path, text), [expected], "{text}");
        }
    }

    #[test]
    fn a_circle_has_an_import_that_goes_up() {
        let down = found("middle/a.rs", "use crate::low::b;");
        let up = found("low/b.rs", "use crate::middle::a;");
        assert_eq!((down.len(), up.len()), (0, 1));
    }

    #[test]
    fn what_is_no_import_is_left_alone() {
        for text in [
            "// crate::middle::a",
            "/* use crate::middle; /* nested */ use crate::top; */",
            "/// [`crate::middle::a`]\nfn f() {}",
            "const TEXT: &str = \"crate::middle\";",
            "const TEXT: &str = r#\"crate::middle \" super::top\"#;",
            "#[cfg(test)]\nmod tests { use crate::middle::a; fn f() { {} } }",
        ] {
            assert_eq!(found("low.rs", text), [""; 0], "{text}");
        }
        let behind = "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::top;";
        assert_eq!(found("low.rs", behind).len(), 1);
    }

    #[test]
    fn modules_that_the_order_does_not_name_are_told() {
        let floors = order(ROOT_TEXT).unwrap().unwrap();
        let files = ["lib.rs", "low.rs", "new/mod.rs"].map(|path| (path.to_owned(), String::new()));
        let expected = "new: the order in lib.rs does not name this module";
        assert_eq!(differences(&floors, &files), [expected]);
        assert_eq!(order("//! No order.\nmod low;"), Ok(None));
    }
}
