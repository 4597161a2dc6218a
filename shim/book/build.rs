//! Makes the list of the pages of the book from docs/SUMMARY.md.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// Part of the book that stays out of the command: measurements.
const LEFT_OUT: &str = "Figures";

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let root = root.canonicalize()?;
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

/// An expression that makes one `Page`.
fn page(part: &str, name: &str, file: &Path) -> String {
    format!(
        "Page {{ part: {part:?}, name: {name:?}, text: include_str!({:?}) }},\n",
        file.display().to_string()
    )
}
