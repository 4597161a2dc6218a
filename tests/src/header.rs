//! The C interface of an MPI: the functions that its headers declare, and the symbols that its
//! libraries export.

use crate::{Mpi, run_watched};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Both of an MPI's headers: extensions are in a separate one.
const SOURCE: &str = "#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
int main(int argc, char **argv) { return MPI_Init(&argc, &argv); }
";

/// The functions of MPI that an MPI's headers declare, each with the types of
/// its parameters: `const void *`, `int`, `MPI_Comm`, `const int []`.
///
/// # Panics
/// Panics if the MPI is not installed.
#[track_caller]
pub fn declared(mpi: Mpi) -> BTreeMap<String, Vec<String>> {
    let text = with_source(|source| {
        let mut command = Command::new(mpi.compiler());
        command.args(["-E", "-P"]).arg(source);
        run_watched(command, LIMIT, "the preprocessor")
            .succeeded()
            .stdout
    });
    without_attributes(&text)
        .split(';')
        .filter_map(prototype)
        .collect()
}

/// The symbols that an MPI's library exports.
///
/// # Panics
/// Panics if the MPI is not installed.
#[track_caller]
pub fn exported_by(mpi: Mpi) -> BTreeSet<String> {
    exported(&library_of(mpi))
}

/// The symbols that an object exports.
///
/// # Panics
/// Panics if it is not an object.
#[track_caller]
pub fn exported(object: &Path) -> BTreeSet<String> {
    let mut command = Command::new("nm");
    command.args(["--dynamic", "--defined-only", "--format=just-symbols"]);
    command.arg(object);
    run_watched(command, LIMIT, "nm")
        .succeeded()
        .stdout
        .lines()
        .map(|line| line.split('@').next().unwrap_or(line).trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The MPI library loaded by a program of an MPI.
#[track_caller]
fn library_of(mpi: Mpi) -> PathBuf {
    let text = with_source(|source| {
        let program = source.with_extension("program");
        let mut command = Command::new(mpi.compiler());
        command.arg(source).arg("-o").arg(&program);
        run_watched(command, LIMIT, "the compiler").succeeded();
        let mut command = Command::new(mpi.ldd());
        command.arg(&program);
        run_watched(command, LIMIT, "ldd").succeeded().stdout
    });
    text.lines()
        .filter_map(|line| line.trim().split_once(" => "))
        .find(|(name, _)| {
            ["libmpi.so", "libmpich.so", "libmpi_abi.so"]
                .iter()
                .any(|start| name.starts_with(start))
        })
        .map(|(_, path)| mpi.seen_at(Path::new(path.split(" (").next().unwrap_or(path))))
        .unwrap_or_else(|| panic!("a program of {mpi} loads no MPI library:\n{text}"))
}

fn with_source(work: impl FnOnce(&Path) -> String) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let source = directory.path().join("header.c");
    std::fs::write(&source, SOURCE).expect("it is writable");
    work(&source)
}

/// C without `__attribute__((...))`, which may be anywhere.
fn without_attributes(text: &str) -> String {
    let mut parts = text.split("__attribute__");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut depth = 0;
        let end = part.char_indices().find_map(|(at, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (depth == 0 && letter == ')').then_some(at + 1)
        });
        result.push_str(&part[end.unwrap_or(0)..]);
    }
    result
}

/// The name and the types of the parameters of a function of MPI, if a
/// statement declares one.
fn prototype(statement: &str) -> Option<(String, Vec<String>)> {
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let (head, parameters) = words.split_once('(')?;
    let parameters = parameters.trim().strip_suffix(')')?;
    let name = head.trim().rsplit([' ', '*']).next()?;
    let known = ["MPI_", "MPIX_", "MPII_"]
        .iter()
        .any(|start| name.starts_with(start));
    if !known || words.contains("typedef") || words.contains('{') {
        return None;
    }
    let types = parameters
        .split(',')
        .map(type_of)
        .filter(|parameter| parameter != "void")
        .collect();
    Some((name.to_owned(), types))
}

/// The type in a parameter's declaration: the declaration without the name.
fn type_of(declaration: &str) -> String {
    let declaration = declaration.trim();
    let (declaration, array) = match declaration.find('[') {
        Some(at) => (&declaration[..at], &declaration[at..]),
        None => (declaration, ""),
    };
    let declaration = declaration.trim();
    let start = declaration
        .rfind(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .map_or(0, |at| at + 1);
    // A type alone has no name to remove.
    let named = start > 0 && declaration[..start].trim() != "const";
    let kept = if named {
        &declaration[..start]
    } else {
        declaration
    };
    // `void*` and `void *` are the same.
    let kept = kept.replace('*', " *");
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{kept}{array}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_gives_the_name_and_the_types() {
        let text = "int MPI_Gatherv(const void *sendbuf, int n,\n const int counts[], MPI_Comm comm, MPI_Request*) __attribute__((format(1, 2))); typedef int MPI_No(int); double MPI_Wtime(void);";
        let all: BTreeMap<_, _> = without_attributes(text)
            .split(';')
            .filter_map(prototype)
            .collect();
        let types: Vec<_> = all["MPI_Gatherv"].iter().map(String::as_str).collect();
        assert_eq!(
            types,
            [
                "const void *",
                "int",
                "const int[]",
                "MPI_Comm",
                "MPI_Request *"
            ]
        );
        assert_eq!(all["MPI_Wtime"].len(), 0);
        assert_eq!(all.len(), 2);
    }
}
