//! Rust sources below a folder.

use std::fs;
use std::path::Path;

/// All `*.rs` files below `src`: their relative paths and their texts.
///
/// # Errors
/// Sources cannot be read.
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
