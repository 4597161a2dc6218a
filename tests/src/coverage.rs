//! Procedures of MPI that the tests call: by their names in the sources of the jobs, and by mpi4py,
//! whose suite is run.

use crate::artifacts::{mpi4py_interface, repository};
use crate::interface::Procedure;
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// The procedures that no job names and mpi4py does not bind.
///
/// # Errors
/// Sources cannot be read.
pub fn not_called(procedures: &[Procedure]) -> io::Result<Vec<&str>> {
    let mut called = words(&fs::read_to_string(mpi4py_interface())?.to_lowercase());
    add_words_of_jobs(&repository().join("tests/jobs"), &mut called)?;
    let is_called = |name: &str| called.contains(&called_as(name));
    let names = procedures.iter().map(|procedure| procedure.name.as_str());
    Ok(names.filter(|name| !is_called(name)).collect())
}

/// Adds the words of all sources below a folder.
fn add_words_of_jobs(folder: &Path, to: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            add_words_of_jobs(&path, to)?;
        } else if ["c", "f", "f90", "F90", "inc", "h"].contains(&&*ending) {
            // Fortran is case-insensitive; C's names differ by more than case.
            let code = without_comments(&fs::read_to_string(&path)?);
            to.extend(words(&code.to_lowercase()));
        }
    }
    Ok(())
}

/// A source without C's comments: a procedure mentioned in one is not called.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        code.push_str(part.split_once("*/").map_or("", |(_, after)| after));
    }
    code
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The word by which a job calls an entry point, in lower case: an entry point that Fortran's
/// layers call instead of a procedure is called by programs that call that procedure.
fn called_as(name: &str) -> String {
    let plain = name.to_lowercase();
    let plain = plain.trim_start_matches("pmpi_").trim_start_matches("mpi_");
    let plain = plain
        .trim_start_matches("ompi_")
        .trim_start_matches("mpii_");
    if name.starts_with("MPI_") || name.starts_with("MPIX_") {
        return name.to_lowercase();
    }
    if name == "MPII_Keyval_set_proxy" {
        // MPICH's Fortran layers call it for every keyval that they create.
        return "mpi_comm_create_keyval".to_owned();
    }
    let plain = plain
        .trim_end_matches("_fort")
        .trim_end_matches("_f")
        .trim_end_matches('_');
    // Only Fortran jobs use these; their sources contain `mpi_x`, like those in C.
    format!("mpi_{plain}")
}
