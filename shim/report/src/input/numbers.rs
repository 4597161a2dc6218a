//! Lists of numbers in files: loads, and cores of ranks.

use std::path::Path;

use treepie_base::{Kind, Leaf, List, Rank, list};
use treepie_profile::any::{AnyFile, read_any};

use treepie_launch::error::CommandError;

/// Reads the load of each rank: numbers separated by white space or commas.
///
/// # Errors
/// The file cannot be read, or a word is not a number.
pub fn loads(path: &Path) -> Result<List<Rank, f64>, CommandError> {
    let mut loads = List::new();
    for (number, line) in treepie_base::text::read(path)?.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            let load: Result<f64, _> = word.parse();
            loads.push(load.map_err(|_| {
                CommandError::failed(format!(
                    "{}:{}: `{word}` is not a number; write the load of each rank, such as 1.5",
                    path.display(),
                    number + 1
                ))
            })?);
        }
    }
    Ok(loads)
}

/// Reads the core of each rank: a placement, or numbers and ranges separated by commas or white
/// space.
///
/// # Errors
/// The file cannot be read, or holds neither.
pub fn cores_of_ranks(path: &Path) -> Result<List<Rank, Leaf>, CommandError> {
    let text = treepie_base::text::read(path)?;
    if text.contains("treepie:") {
        return match read_any(path)? {
            AnyFile::Placement(placement) => Ok(placement.body.assignment),
            other => Err(CommandError::failed(format!(
                "{}: this is a {}, a {} or a list of cores was expected",
                path.display(),
                other.kind(),
                Kind::Placement
            ))),
        };
    }
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let items: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    list::parse(&items.join(","))
        .map(Leaf::list)
        .map_err(|error| CommandError::failed(format!("{}: {error}", path.display())))
}
