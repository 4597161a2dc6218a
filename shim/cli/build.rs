//! Name of the commit for `treepie --version`.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    name_build(&root.canonicalize()?);
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
