//! Writes the first inputs of each reader: `seeds DIRECTORY` creates a folder for each reader, with
//! its short texts and the repository's own files that it reads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use treepie_fuzz::READERS;

fn main() -> io::Result<()> {
    let directory = std::env::args_os()
        .nth(1)
        .unwrap_or_else(|| "corpus".into());
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["profiles", "shim", "tests"] {
        all_files(&project.join(folder), &mut files)?;
    }
    for reader in READERS {
        let folder = Path::new(&directory).join(reader.name);
        fs::create_dir_all(&folder)?;
        for (number, text) in reader.texts.iter().enumerate() {
            fs::write(folder.join(format!("text-{number}")), text)?;
        }
        for (number, bytes) in (reader.made)().iter().enumerate() {
            fs::write(folder.join(format!("made-{number}")), bytes)?;
        }
        let is_read = |path: &&PathBuf| {
            let name = path.to_string_lossy();
            reader.endings.iter().any(|ending| name.ends_with(ending))
        };
        for (number, path) in files.iter().filter(is_read).enumerate() {
            fs::copy(path, folder.join(format!("file-{number}")))?;
        }
        println!("{}", reader.name);
    }
    Ok(())
}

fn all_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all_files(&path, files)?;
        } else if fs::metadata(&path)?.len() < 100_000 {
            files.push(path);
        }
    }
    Ok(())
}
