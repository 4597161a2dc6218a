//! Generates the list of the pages of the book from docs/SUMMARY.md, for `treepie help`, and the
//! name of the commit for `treepie --version`.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Part of the book that is not included in the command: measurements.
const LEFT_OUT: &str = "Figures";

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let root = root.canonicalize()?;
    name_build(&root);
    let summary = root.join("docs/SUMMARY.md");
    println!("cargo::rerun-if-changed={}", summary.display());
    let mut pages = vec![page("Preloading", "preload", &root.join("LD_PRELOAD.md"))];
    let mut part = String::new();
    for line in fs::read_to_string(&summary)?.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            heading.clone_into(&mut part);
        }
        let linked = line.trim_start().strip_prefix("- [");
        let linked = linked.and_then(|rest| rest.split_once("](")?.1.strip_suffix(')'));
        if let Some(path) = linked
            && part != LEFT_OUT
        {
            let file = Path::new(path);
            let stem = file.file_stem().and_then(|stem| stem.to_str());
            let name = stem.ok_or_else(|| format!("{path}: not a page"))?;
            pages.push(page(&part, name, &root.join("docs").join(file)));
        }
    }
    let list = format!("&[\n{}]\n", pages.concat());
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pages.rs"), list)?;
    Ok(())
}

/// Sets `COMMIT_OF_BUILD`: ` (d434168a)`, or an empty text outside a clone. A name with the prefix
/// of Treepie's settings would reach the jobs of tests.
fn name_build(root: &Path) {
    let git = |words: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(words).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_owned())
    };
    // Every commit, and every change of the branch, adds a line to this file.
    if let Some(log) = git(&[
        "rev-parse",
        "--path-format=absolute",
        "--git-path",
        "logs/HEAD",
    ]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["describe", "--always", "--tags"]);
    let build = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=COMMIT_OF_BUILD={build}");
}

/// An expression that constructs one `Page`.
fn page(part: &str, name: &str, file: &Path) -> String {
    format!(
        "Page {{ part: {part:?}, name: {name:?}, text: include_str!({:?}) }},\n",
        file.display().to_string()
    )
}
