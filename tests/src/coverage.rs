//! The coverage table, shim/preload/COVERAGE.md: each procedure of MPI that the
//! library defines, what it does there, and what tests it. Made from the tables,
//! the library's sources and the sources of the jobs.

use crate::artifacts::{mpi4py_interface, repository};
use crate::interface::{Procedure, procedures};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Functions that take a communicator and are not hooked, and why.
pub const LEFT_TO_THE_MPI: [(&str, &str); 2] = [
    (
        "MPI_Comm_c2f",
        "only translates a handle: what goes in must come out",
    ),
    (
        "MPI_Comm_toint",
        "only translates a handle: what goes in must come out",
    ),
];

/// What no name in the tables may start with: programs ask for it to find out
/// whether an MPI is loaded and which, or it only translates handles.
pub const NEVER: [&str; 11] = [
    "MPI_Get_version",
    "MPI_Get_library_version",
    "MPI_Abi_",
    "MPI_T_",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Wtime",
    "MPI_Comm_c2f",
    "MPI_Comm_f2c",
    "MPI_Comm_toint",
    "MPI_Comm_fromint",
];

/// What the library defines that is no procedure of MPI, and why.
pub const BESIDE_MPI: [(&str, &str); 3] = [
    (
        "_exit",
        "Open MPI ends a process so after an error that is fatal: what was counted is written first",
    ),
    (
        "dlsym",
        "programs that ask the MPI library itself for a procedure get the entry point that would call it; all else is the linker's",
    ),
    (
        "dlopen",
        "before anything is loaded, procedures that not every MPI has become such that programs find those of their MPI only",
    ),
];

/// As many tests are named for each procedure: those of `world/` first.
const NAMED_TESTS: usize = 3;

const INTRODUCTION: &str = "\
# Coverage

Every procedure that `libtreepie.so` defines: what it does there, and what calls it in the tests. Made by
`cargo run -p treepie-tests --bin generate -- coverage` from `src/entry/*.table`, the sources and `tests/jobs`; a test fails
when it is out of date.

*Substituted*: the procedure sees the replayed world where the application wrote `MPI_COMM_WORLD`. *Passed on*: it goes to the
MPI as it is; it is hooked so that what it makes or ends is known, and what the MPI calls inside it is not counted.
*Tested by* names at most three jobs in `tests/jobs` (C and Fortran) that call it; *mpi4py* means that mpi4py binds it, whose
test suite is run.
That the parameters are those of each MPI's header is tested for all of them.
";

/// The file.
fn path() -> PathBuf {
    repository().join("shim/preload/COVERAGE.md")
}

/// Writes the table.
///
/// # Errors
/// Sources that cannot be read, a file that cannot be written.
pub fn write() -> io::Result<()> {
    fs::write(path(), generate()?)
}

/// The committed table.
///
/// # Errors
/// It cannot be read.
pub fn committed() -> io::Result<String> {
    fs::read_to_string(path())
}

/// The table as the sources have it.
///
/// # Errors
/// Sources that cannot be read, or a function without documentation that a role
/// names.
pub fn generate() -> io::Result<String> {
    let procedures = procedures();
    let jobs = jobs(&repository().join("tests/jobs"))?;
    let bound = words(&fs::read_to_string(mpi4py_interface())?);
    let mut text = INTRODUCTION.to_owned();
    let mut rows = String::new();
    let mut untested = 0;
    for procedure in &procedures {
        let by = tested_by(procedure, &jobs, &bound);
        untested += usize::from(by.is_empty());
        rows.push_str(&format!(
            "| `{}` | {} | {} |\n",
            procedure.name,
            what_is_done(procedure)?,
            by.join(", ")
        ));
    }
    text.push_str(&format!(
        "\n{} procedures, {untested} of them called by no test.\n\n| procedure | what is done | tested by |\n|---|---|---|\n{rows}",
        procedures.len()
    ));
    text.push_str(
        "\nLeft to the MPI, although they take a communicator:\n\n| procedure | why |\n|---|---|\n",
    );
    for (name, why) in LEFT_TO_THE_MPI {
        text.push_str(&format!("| `{name}` | {why} |\n"));
    }
    text.push_str("\nDefined beside MPI:\n\n| function | why |\n|---|---|\n");
    for (name, why) in BESIDE_MPI {
        text.push_str(&format!("| `{name}` | {why} |\n"));
    }
    text.push_str("\nNever defined: ");
    text.push_str(
        &NEVER
            .map(|name| format!("`{name}{}`", if name.ends_with('_') { "*" } else { "" }))
            .join(", "),
    );
    text.push_str(".\n");
    Ok(text)
}

fn what_is_done(procedure: &Procedure) -> io::Result<String> {
    if let Some(function) = procedure.role.strip_prefix("by ") {
        return Ok(format!("by `{function}`: {}", documentation(function)?));
    }
    let takes_one = procedure
        .parameters
        .iter()
        .any(|parameter| parameter.kind == "comm");
    let world = match takes_one {
        true => "substituted",
        false => "passed on",
    };
    let (role, detail) = procedure
        .role
        .split_once(' ')
        .unwrap_or((&procedure.role, ""));
    let detail = detail.to_lowercase();
    let more = match role {
        "" => return Ok(world.to_owned()),
        "send" => "counted as point-to-point".to_owned(),
        "send-init" => "counted as point-to-point, each time that it is started".to_owned(),
        "start" | "start-all" => "counts what is started".to_owned(),
        "collective" => format!("counted as {detail}"),
        "collective-init" => format!("counted as {detail}, each time that it is started"),
        "neighbourhood" => "counted in the neighbourhood layer".to_owned(),
        "neighbourhood-init" => {
            "counted in the neighbourhood layer, each time that it is started".to_owned()
        }
        "put" | "get" => "counted as one-sided".to_owned(),
        "put-get" => "counted as one-sided, in both directions".to_owned(),
        "end" => format!("forgets the {detail}"),
        "receive" => "timed; known to pages".to_owned(),
        "receive-init" => "a receive that is prepared is known to pages as one".to_owned(),
        "complete" => "what became of cancelled sends is seen".to_owned(),
        "cancel" => "a send that is cancelled is not counted".to_owned(),
        "allocate-shared" => "the window is known as shared memory".to_owned(),
        // A role that is new: its name must do.
        other => format!("{other} {detail}").trim().to_owned(),
    };
    Ok(format!("{world}; {more}"))
}

/// The first sentence of a function's documentation; `module::function`, as
/// roles.table names it.
fn documentation(function: &str) -> io::Result<String> {
    let (module, name) = function.rsplit_once("::").unwrap_or(("lib", function));
    let base = repository()
        .join("shim/preload/src")
        .join(module.replace("::", "/"));
    let file = [base.with_extension("rs"), base.join("mod.rs")]
        .into_iter()
        .find(|file| file.exists())
        .ok_or_else(|| io::Error::other(format!("roles.table: no module {module}")))?;
    let text = fs::read_to_string(&file)?;
    let start = format!("fn {name}(");
    let generic = format!("fn {name}<");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.contains(&start) || line.contains(&generic))
        .ok_or_else(|| io::Error::other(format!("{}: no function {name}", file.display())))?;
    let above = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("///") || line.starts_with("#["));
    let mut comment: Vec<&str> = above
        .filter_map(|line| line.strip_prefix("///"))
        .map(str::trim)
        .collect();
    comment.reverse();
    let paragraph: Vec<&str> = comment
        .into_iter()
        .take_while(|line| !line.is_empty())
        .collect();
    if paragraph.is_empty() {
        return Err(io::Error::other(format!(
            "{}: {name} has no documentation",
            file.display()
        )));
    }
    Ok(paragraph.join(" ").replace('|', "\\|"))
}

/// A job: its name, and all words of its source.
struct JobSource {
    name: String,
    words: BTreeSet<String>,
}

fn jobs(directory: &Path) -> io::Result<Vec<JobSource>> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            let within = jobs(&path)?;
            // Headers alone are parts of the job that their folder is named after.
            let is_one_job = within.iter().all(|part| part.name.ends_with(".h"));
            found.extend(within.into_iter().map(|job| JobSource {
                name: match is_one_job {
                    true => format!("{name}.c"),
                    false => format!("{name}/{}", job.name),
                },
                ..job
            }));
        } else if ["c", "f", "f90", "F90", "inc", "h"].contains(&&*ending) {
            let text = fs::read_to_string(&path)?;
            // Fortran knows no case; C's names differ by more than case.
            found.push(JobSource {
                name,
                words: words(&without_comments(&text).to_lowercase()),
            });
        }
    }
    Ok(found)
}

/// What C's comments mention is not called.
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

fn tested_by(procedure: &Procedure, jobs: &[JobSource], bound: &BTreeSet<String>) -> Vec<String> {
    let names = called_as(&procedure.name);
    let mut by: Vec<String> = jobs
        .iter()
        .filter(|job| names.iter().any(|name| job.words.contains(name)))
        .map(|job| job.name.clone())
        .collect();
    by.sort_by_key(|name| !name.contains('/'));
    by.dedup();
    by.truncate(NAMED_TESTS);
    if bound.contains(&procedure.name) {
        by.push("mpi4py".to_owned());
    }
    by
}

/// How a job writes what calls this entry point: what Fortran's layers call in
/// the place of a procedure is called by programs that call that procedure.
fn called_as(name: &str) -> Vec<String> {
    let plain = name.to_lowercase();
    let plain = plain.trim_start_matches("pmpi_").trim_start_matches("mpi_");
    let plain = plain
        .trim_start_matches("ompi_")
        .trim_start_matches("mpii_");
    if name.starts_with("MPI_") || name.starts_with("MPIX_") {
        return vec![name.to_lowercase()];
    }
    if name == "MPII_Keyval_set_proxy" {
        // MPICH's Fortran layers call it for every keyval that they make.
        return vec!["mpi_comm_create_keyval".to_owned()];
    }
    let plain = plain
        .trim_end_matches("_fort")
        .trim_end_matches("_f")
        .trim_end_matches('_');
    // Only Fortran jobs come this way; their sources write `mpi_x`, as C's do.
    vec![format!("mpi_{plain}")]
}
